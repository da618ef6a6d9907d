package cli_test

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	edgeprof "github.com/foretime/foretime/edgeprof/internal/cli"
	"github.com/foretime/foretime/edgeprof/internal/onnx"
	"github.com/foretime/foretime/edgeprof/internal/synth"
	"github.com/foretime/foretime/shared/crash"
	"github.com/foretime/foretime/shared/file"
	"github.com/foretime/foretime/shared/testkit/scripttest"
)

func TestMain(m *testing.M) {
	scripttest.Main(m, "edgeprof", edgeprof.New, map[string]func(){
		"bare-echo": func() { bare(true) },
		"bare-json": func() { bare(false) },
	})
}

func TestScripts(t *testing.T) {
	scripttest.Run(t, testscript.Params{
		Setup: func(env *testscript.Env) error { return writeOdd(env.WorkDir) },
		Cmds:  map[string]func(*testscript.TestScript, bool, []string){"request": request, "pipe": pipe},
	})
}

// writeOdd writes a model with an operator whose cost is unknown, one that is larger than any
// memory, one with an input that nothing makes, and one without inputs.
func writeOdd(dir string) error {
	model := func(name string, inputs []onnx.Dim, constants []onnx.Tensor, nodes ...onnx.Node) error {
		m := &onnx.Model{IRVersion: 8, Opsets: map[string]int64{"": 17}, Graph: onnx.Graph{
			Name: name, Outputs: []onnx.Value{{Name: "y", Type: onnx.Float32}}, Nodes: nodes, Initializers: constants,
		}}
		if inputs != nil {
			m.Graph.Inputs = []onnx.Value{{Name: "x", Type: onnx.Float32, Known: true, Shape: inputs}}
		}
		return file.Write(filepath.Join(dir, name+".onnx"), func(w io.Writer) error { return onnx.Write(w, m, synth.RandomWeights(1)) })
	}
	relu := onnx.Node{Op: "Relu", Inputs: []string{"x"}, Outputs: []string{"y"}}
	return errors.Join(
		model("unknown", []onnx.Dim{{Size: 1}, {Size: 64}, {Size: 2}}, nil, onnx.Node{Op: "Relu", Inputs: []string{"x"}, Outputs: []string{"z"}}, onnx.Node{Op: "DFT", Inputs: []string{"z"}, Outputs: []string{"y"}}),
		model("vast", []onnx.Dim{{Size: 1 << 18}, {Size: 1 << 20}}, nil, relu),
		model("loose", []onnx.Dim{{Size: 4}}, nil, onnx.Node{Op: "Mul", Inputs: []string{"x", "lost"}, Outputs: []string{"y"}}),
		model("fixed", nil, []onnx.Tensor{{Name: "x", Type: onnx.Float32, Dims: []int64{2}, Stored: 8}}, relu),
	)
}

// request FILE METHOD PATH [BODY [HEADER...]] asks the server whose URL is in
// FILE, once that is there, and prints the status and the body.
func request(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: request FILE METHOD PATH [BODY [HEADER...]]")
	}
	url := ""
	for deadline := time.Now().Add(10 * time.Minute); url == "" && time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		text, _ := os.ReadFile(ts.MkAbs(args[0]))
		url = strings.TrimSpace(string(text))
	}
	var body io.Reader
	if len(args) > 3 && args[3] != "" {
		b, err := os.ReadFile(ts.MkAbs(args[3]))
		ts.Check(err)
		body = bytes.NewReader(b)
	}
	r, err := http.NewRequest(args[1], url+args[2], body)
	ts.Check(err)
	for _, header := range args[min(4, len(args)):] {
		name, value, _ := strings.Cut(header, ": ")
		r.Header.Set(name, value)
	}
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
	response, err := client.Do(r)
	ts.Check(err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	ts.Check(err)
	fmt.Fprintf(ts.Stdout(), "%s\n%s", response.Status, text)
}

// pipe FILE writes the file into a FIFO named pipe, as soon as it is read.
func pipe(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: pipe FILE")
	}
	path := ts.MkAbs("pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil && !os.IsExist(err) {
		ts.Fatalf("%v", err)
	}
	text, err := os.ReadFile(ts.MkAbs(args[0]))
	ts.Check(err)
	crash.Go(func() { _ = os.WriteFile(path, text, 0o600) }) // a reader that is gone
}
