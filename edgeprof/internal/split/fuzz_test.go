package split

import (
	"bytes"
	"testing"

	"github.com/foretime/foretime/edgeprof/internal/onnx"
)

// Whatever file is read, its parts can be written and read, begin with the
// bridge before, and have no operator twice.
func FuzzParts(f *testing.F) {
	add := func(m *onnx.Model) {
		var b bytes.Buffer
		if err := onnx.Write(&b, m, weights); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes(), 2)
	}
	add(graph("x -> a", "a -> b", "a b -> c", "w -> k", "c k -> d"))
	add(graph("x -> a", "a -> aux", "a -> b", "w -> k", "b -> c"))
	add(graph("b -> c", "a w -> b", "x -> a", "c -> d", "x d -> e"))
	f.Fuzz(func(t *testing.T, content []byte, distance int) {
		file := bytes.NewReader(content)
		m, err := onnx.Read(file, file.Size())
		if err != nil {
			return
		}
		a, err := onnx.Analyze(m, onnx.Settings{})
		if err != nil {
			return
		}
		parts, err := Parts(a, Settings{MinDistance: distance})
		if err != nil {
			return
		}
		seen := map[int]bool{}
		for i, p := range parts {
			var b bytes.Buffer
			if err := p.Write(&b, file); err != nil {
				t.Fatalf("part %d: %v", i+1, err)
			}
			again, err := onnx.Read(bytes.NewReader(b.Bytes()), int64(b.Len()))
			if err != nil {
				t.Fatalf("part %d: %v", i+1, err)
			}
			if _, err := onnx.Analyze(again, onnx.Settings{}); err != nil {
				t.Fatalf("part %d: %v", i+1, err)
			}
			if !begins(p, i) || i < len(parts)-1 && again.Graph.Outputs[0].Name != parts[i+1].Carried[0] {
				t.Fatalf("part %d takes %q", i+1, p.Carried)
			}
			for _, o := range p.Operators {
				if seen[o] {
					t.Fatalf("operator %d comes twice", o)
				}
				seen[o] = true
			}
		}
	})
}
