package hook_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/foretime/foretime/deft/session"
)

// passed are entry points that give the device work or memory and are not
// wrapped on purpose, each with the reason.
func passed() map[string]string {
	return map[string]string{
		"cuStreamAddCallback": "host work: the stream's next launch is gated",
		"cuMemAllocHost":      "host memory", "cuMemFreeHost": "host memory", "cuMemHostAlloc": "host memory",
		"cuMemAdvise": "a hint", "cuMemDiscardBatchAsync": "moves nothing",
		"cuMemcpyAtoA": "arrays by old calls, shorter than a kernel",
		"cuMemcpyAtoD": "arrays by old calls, shorter than a kernel", "cuMemcpyAtoH": "arrays by old calls, shorter than a kernel",
		"cuMemcpyAtoHAsync": "arrays by old calls, shorter than a kernel", "cuMemcpyDtoA": "arrays by old calls, shorter than a kernel",
		"cuMemcpyHtoA": "arrays by old calls, shorter than a kernel", "cuMemcpyHtoAAsync": "arrays by old calls, shorter than a kernel",
	}
}

var (
	entryName = regexp.MustCompile(`\x00(cu[A-Z][A-Za-z0-9_]+)\x00`)
	worksOn   = regexp.MustCompile(`^cu(Launch|GraphLaunch|GraphInstantiate|Mem(cpy|set|Alloc|Free|Create|Prefetch|Discard|Advise)|Stream(Begin|End)|StreamAddCallback|(Array|Array3D|MipmappedArray)Create)`)
	suffixes  = regexp.MustCompile(`(_v[0-9]+)?(_pt[sd]z?s?)?$`)
	wrapped   = regexp.MustCompile(`(?m)^    [A-Z]+\((cu[A-Za-z0-9_]+)`)
)

// runtimes are the CUDA run-time libraries that make real has fetched.
func runtimes(t *testing.T) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join("..", "..", "out", "real", "pip", "nvidia-cuda-runtime*", "nvidia", "*", "lib", "libcudart.so.1[0-9]"))
	if err != nil {
		t.Fatal(err)
	}
	if len(all) == 0 {
		t.Skip("needs the CUDA run-time libraries: install with make real")
	}
	return all
}

// Whatever the run-time libraries can ask for that gives the device work or
// memory is wrapped, or passed on purpose.
func TestRealRuntimesAskForNothingUnknown(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("src", "driver.h"))
	if err != nil {
		t.Fatal(err)
	}
	have := map[string]bool{}
	for _, m := range wrapped.FindAllStringSubmatch(string(text), -1) {
		have[m[1]] = true
		have[suffixes.ReplaceAllString(m[1], "")] = true
	}
	for _, lib := range runtimes(t) {
		body, err := os.ReadFile(lib)
		if err != nil {
			t.Fatal(err)
		}
		asked := 0
		body = []byte(strings.ReplaceAll(string(body), "\x00", "\x00\x00"))
		for _, m := range entryName.FindAllSubmatch(body, -1) {
			name := string(m[1])
			if !worksOn.MatchString(name) {
				continue
			}
			asked++
			if _, known := passed()[suffixes.ReplaceAllString(name, "")]; !known && !have[name] {
				t.Errorf("%s asks for %s, which is neither wrapped nor passed on purpose", filepath.Base(lib), name)
			}
		}
		if asked < 50 {
			t.Errorf("%s names %d entry points: this test reads it wrongly", lib, asked)
		}
		t.Logf("%s: %d names that give work or memory", lib, asked)
	}
}

// A run-time library over the simulated driver says the same under the hook as
// without it, and the hook sees how it asks.
func TestRealRuntimesStartUnderTheHook(t *testing.T) {
	for _, lib := range runtimes(t) {
		w := newWorld(t, session.Options{})
		program := compileTest(t, "runtime", "runtime.c", "-ldl")
		plain := w.command(program, lib)
		plain.Env = append(plain.Env, "LD_PRELOAD=")
		want := w.run(plain)
		if got := w.run(w.command(program, lib)); got != want || !strings.HasPrefix(got, "version 0 ") {
			t.Errorf("%s: %q under the hook, %q without", lib, got, want)
		}
		gone := w.reap()
		if len(gone) != 1 || gone[0].Paths&session.PathGetProcV2 == 0 || !slices.Contains(gone[0].Paths.Names(), "dlopen") {
			t.Errorf("%s: the hook saw %+v", lib, gone)
		}
	}
}
