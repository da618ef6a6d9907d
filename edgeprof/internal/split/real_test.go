package split

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/foretime/foretime/edgeprof/internal/onnx"
	"github.com/foretime/foretime/edgeprof/internal/synth"
)

// ONNX's own checker and shape inference find nothing wrong with any part.
func TestRealChecker(t *testing.T) {
	if exec.Command("/usr/bin/python3", "-c", "import onnx").Run() != nil {
		t.Skip("needs ONNX for Python: install with apt-get install python3-onnx")
	}
	folder := t.TempDir()
	count := 0
	for _, family := range synth.Families() {
		m, r := file(t, small(t, family))
		parts, err := Parts(analyze(t, m), Settings{MinDistance: 6})
		if err != nil {
			continue // a short model
		}
		for i, p := range parts {
			f, err := os.Create(filepath.Join(folder, fmt.Sprintf("%s_part%d.onnx", family, i+1)))
			if err != nil {
				t.Fatal(err)
			}
			if err := p.Write(f, r); err != nil {
				t.Fatal(err)
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			count++
		}
	}
	check(t, folder, count, true)
}

// check has ONNX's checker look at all models of a folder.
func check(t *testing.T, folder string, count int, shapes bool) {
	t.Helper()
	out, err := exec.Command("/usr/bin/python3", "-c", `
import glob, sys, onnx
names = glob.glob(sys.argv[1] + "/*.onnx")
for name in names:
    try:
        m = onnx.load(name)
        onnx.checker.check_model(m, full_check=sys.argv[2] == "true")
        if sys.argv[2] == "true":
            onnx.shape_inference.infer_shapes(m, strict_mode=True)
    except Exception as e:
        print(name, e)
print(len(names))`, folder, fmt.Sprint(shapes)).CombinedOutput()
	if want := fmt.Sprintln(count); err != nil || string(out) != want || count < 20 {
		t.Fatalf("%v: %s, want %s", err, out, want)
	}
}

// Of the conformance models those with a bridge are split everywhere; every part
// is a model to the checker.
func TestRealConformance(t *testing.T) {
	const models = "/usr/share/libonnx-testdata"
	if _, err := os.Stat(models); err != nil {
		t.Skip("needs the ONNX conformance models: install with apt-get install libonnx-testdata")
	}
	if exec.Command("/usr/bin/python3", "-c", "import onnx").Run() != nil {
		t.Skip("needs ONNX for Python: install with apt-get install python3-onnx")
	}
	folder := t.TempDir()
	cut, count := 0, 0
	err := filepath.WalkDir(models, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".onnx" {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		r := bytes.NewReader(content)
		m, err := onnx.Read(r, r.Size())
		if err != nil {
			return err
		}
		parts, err := Parts(analyze(t, m), Settings{})
		if err != nil {
			return nil // no bridge, or text
		}
		cut++
		for i, p := range parts {
			var b bytes.Buffer
			if err := p.Write(&b, r); err != nil {
				return err
			}
			count++
			if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("%d_%d.onnx", cut, i+1)), b.Bytes(), 0o644); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d models in %d parts", cut, count)
	if cut < 90 {
		t.Errorf("only %d models were split", cut)
	}
	check(t, folder, count, false)
}
