package cc

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
)

func needCompiler(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skip("needs cc: install with apt-get install gcc libc6-dev")
	}
}

func program(body string) Product {
	return Product{
		Name:    "answer",
		Sources: []fs.FS{fstest.MapFS{"main.c": {Data: []byte(body)}}, fstest.MapFS{"n.h": {Data: []byte("#define N 0\n")}}},
		Args:    []string{"main.c"},
	}
}

const good = "#include \"n.h\"\nint main(void) { return N; }\n"

func TestBuildOnceForMany(t *testing.T) {
	needCompiler(t)
	cache := filepath.Join(t.TempDir(), "new", "cache")
	paths := make([]string, 8)
	var wg sync.WaitGroup
	for i := range paths {
		wg.Go(func() {
			path, err := Build(context.Background(), cache, program(good))
			if err != nil {
				t.Error(err)
			}
			paths[i] = path
		})
	}
	wg.Wait()
	for _, p := range paths {
		if p != paths[0] || !filepath.IsAbs(p) || filepath.Base(p) != "answer" {
			t.Fatalf("paths differ or are not absolute: %q", paths)
		}
	}
	if err := exec.Command(paths[0]).Run(); err != nil {
		t.Error(err)
	}
	left, err := os.ReadDir(cache)
	if err != nil || len(left) != 1 {
		t.Errorf("cache holds %v (%v), want the product's folder alone", left, err)
	}
}

func TestKeyCoversWhatMatters(t *testing.T) {
	needCompiler(t)
	cache := t.TempDir()
	first, err := Build(context.Background(), cache, program(good))
	if err != nil {
		t.Fatal(err)
	}
	again, err := Build(context.Background(), cache, program(good))
	if err != nil || again != first {
		t.Errorf("second build: %q, %v; want %q", again, err, first)
	}
	changes := map[string]Product{"source": program(good + "\n"), "header": program(good), "arguments": program(good)}
	changes["header"].Sources[1].(fstest.MapFS)["n.h"] = &fstest.MapFile{Data: []byte("#define N 00\n")}
	more := changes["arguments"]
	more.Args = []string{"-O1", "main.c"}
	changes["arguments"] = more
	for name, p := range changes {
		path, err := Build(context.Background(), cache, p)
		if err != nil || path == first {
			t.Errorf("changed %s: %q, %v: the old product was taken", name, path, err)
		}
	}
}

// What a release made needs no compiler.
func TestMade(t *testing.T) {
	files := fstest.MapFS{"made/" + runtime.GOARCH + "/answer": {Data: []byte("#!/bin/sh\nexit 7\n")}}
	p := program(good)
	p.Prebuilt = Prebuilt(files, p.Name)
	cache := t.TempDir()
	t.Setenv("PATH", "")
	path, err := Build(t.Context(), cache, p)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path)
	cmd.Env = []string{"PATH=/bin:/usr/bin"}
	_ = cmd.Run() // its status is looked at
	if status := cmd.ProcessState.ExitCode(); status != 7 {
		t.Errorf("what was made ended with %d", status)
	}
	if p.Prebuilt = Prebuilt(files, "other"); p.Prebuilt != nil {
		t.Errorf("%q was made", p.Prebuilt)
	}
	if _, err := Build(t.Context(), cache, p); !errors.Is(err, ErrNoCompiler) {
		t.Errorf("no compiler: %v", err)
	}
}

func TestRefusals(t *testing.T) {
	needCompiler(t)
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	cache := t.TempDir()
	tests := []struct {
		name  string
		ctx   context.Context
		cache string
		p     Product
		want  func(error) bool
	}{
		{"bad source", context.Background(), cache, program("int main(void) { return nothing; }\n"),
			func(err error) bool {
				e, ok := errors.AsType[*CompileError](err)
				return ok && strings.Contains(e.Output, "nothing") && e.Product == "answer"
			}},
		{"cancelled", cancelled, cache, program(good),
			func(err error) bool { return errors.Is(err, context.Canceled) }},
		{"name with a folder", context.Background(), cache, Product{Name: "../x"},
			func(err error) bool { return strings.Contains(err.Error(), "../x") }},
		{"no name", context.Background(), cache, Product{},
			func(err error) bool { return err != nil }},
		{"no cache", context.Background(), "", program(good),
			func(err error) bool { return strings.Contains(err.Error(), "cache") }},
		{"cache is a file", context.Background(), writeFile(t), program(good),
			func(err error) bool { _, ok := errors.AsType[*fs.PathError](err); return ok }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path, err := Build(tt.ctx, tt.cache, tt.p)
			if err == nil || path != "" || !tt.want(err) {
				t.Errorf("got %q, %v", path, err)
			}
		})
	}
	if left, err := os.ReadDir(cache); err != nil || len(left) != 0 {
		t.Errorf("refused builds left %v (%v)", left, err)
	}
}

func writeFile(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
