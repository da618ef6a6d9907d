//go:build !race

package cli_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// message writes one length-delimited field.
func message(number protowire.Number, content ...[]byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), bytes.Join(content, nil))
}

// onnxModel writes a model whose graph has the input x, one number, beside the given fields.
func onnxModel(graph ...[]byte) []byte {
	one := message(2, message(1, []byte{1 << 3, 1}))
	x := message(11, message(1, []byte("x")), message(2, message(1, []byte{1 << 3, 1}, one)))
	return append([]byte{1 << 3, 8}, append(message(8, []byte{2 << 3, 17}), message(7, append(graph, x)...)...)...)
}

// onnxCall writes a node with inputs x and output y.
func onnxCall(op, domain string, inputs int) []byte {
	return joinBytes(bytes.Repeat(message(1, []byte("x")), inputs), message(2, []byte("y")), message(4, []byte(op)), message(7, []byte(domain)))
}

func joinBytes(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// hostileModels returns models that are cheap to send and dear to keep.
func hostileModels() map[string][]byte {
	const size = 24 << 20
	repeat := func(field []byte) []byte { return bytes.Repeat(field, size/len(field)) }
	attribute := func(field protowire.Number) []byte {
		return onnxModel(message(1, onnxCall("Relu", "", 1), message(5, message(1, []byte("a")), repeat(message(field)))))
	}
	calls := onnxModel(message(1, onnxCall("f9", "my", 1)))
	for k := range 10 {
		body := bytes.Repeat(message(7, onnxCall(fmt.Sprint("f", k-1), "my", 1)), 10)
		calls = append(calls, message(25, message(1, fmt.Append(nil, "f", k)), message(4, []byte("x")), message(5, []byte("y")), body, message(10, []byte("my")))...)
	}
	return map[string][]byte{
		"functions that call functions": calls,
		"one node of many inputs":       onnxModel(message(1, onnxCall("Concat", "", size/3))),
		"many inputs within the limit":  onnxModel(message(1, onnxCall("Concat", "", 300_000))),
		"empty nodes":                   onnxModel(repeat(message(1))),
		"empty graphs":                  attribute(11),
		"empty strings":                 attribute(9),
	}
}

// peak returns the process's greatest resident memory, in MiB.
func (r *running) peak() int {
	r.t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", r.cmd.Process.Pid))
	if err != nil {
		r.t.Skip(err)
	}
	_, after, _ := strings.Cut(string(text), "VmHWM:")
	kilobytes, err := strconv.Atoi(strings.Fields(after)[0])
	if err != nil {
		r.t.Fatal(err)
	}
	return kilobytes / 1024
}

// Four hostile uploads at once stay below 256 MiB, whatever they repeat. The race detector takes
// memory of its own.
func TestHostileUploads(t *testing.T) {
	for name, model := range hostileModels() {
		t.Run(name, func(t *testing.T) {
			r := start(t, "serve", "--source", "local", "--no-record")
			before := r.peak()
			var all sync.WaitGroup
			for range 4 {
				all.Go(func() {
					response, err := http.Post(r.url+"/api/v1/placements", "application/octet-stream", bytes.NewReader(model))
					if err != nil {
						t.Error(err)
						return
					}
					_, _ = io.Copy(io.Discard, response.Body)
					response.Body.Close()
					if response.StatusCode != http.StatusOK && response.StatusCode != http.StatusRequestEntityTooLarge {
						t.Errorf("status %d", response.StatusCode)
					}
				})
			}
			all.Wait()
			after := r.peak()
			t.Logf("four times %d bytes: peak %d MiB, %d before", len(model), after, before)
			if after >= 256 {
				t.Errorf("peak %d MiB, want below 256", after)
			}
		})
	}
}
