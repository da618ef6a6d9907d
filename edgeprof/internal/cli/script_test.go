package cli_test

import (
	"bytes"
	"compress/gzip"
	"crypto/tls"
	"errors"
	"fmt"
	"image"
	"image/png"
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
	"github.com/foretime/foretime/shared/cli/scripttest"
	"github.com/foretime/foretime/shared/crash"
)

func TestMain(m *testing.M) {
	scripttest.Main(m, "edgeprof", edgeprof.New, map[string]func(){
		"bare-echo": func() { bare(true) },
		"bare-json": func() { bare(false) },
	})
}

func TestScripts(t *testing.T) {
	packed, err := os.Open("model.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	content, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(content)
	if err != nil {
		t.Fatal(err)
	}
	model := filepath.Join(t.TempDir(), "model.json")
	if err := os.WriteFile(model, text, 0o644); err != nil {
		t.Fatal(err)
	}
	scripttest.Run(t, testscript.Params{
		Setup: func(env *testscript.Env) error {
			env.Setenv("MODEL", model) // the built-in one, as a file
			return writeImage(filepath.Join(env.WorkDir, "test_images", "a.png"))
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"request": request, "pipe": pipe},
	})
}

// writeImage writes a small image, for the commands that read a directory of them.
func writeImage(path string) error {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 8, 8))); err != nil {
		return err
	}
	return errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, b.Bytes(), 0o644))
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
