package hook_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/foretime/foretime/deft/internal/session"
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
	entryName    = regexp.MustCompile(`\x00(cu[A-Z][A-Za-z0-9_]+)\x00`)
	worksOn      = regexp.MustCompile(`^cu(Launch|GraphLaunch|GraphInstantiate|Mem(cpy|set|Alloc|Free|Create|Prefetch|Discard|Advise)|Stream(Begin|End)|StreamAddCallback|(Array|Array3D|MipmappedArray)Create)`)
	suffixes     = regexp.MustCompile(`(_v[0-9]+)?(_pt[sd]z?s?)?$`)
	wrappedNames = regexp.MustCompile(`(?m)^    (ROW|PTSZ|PTDS)\(.*?\b(cu\w+)`)
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
	for _, m := range wrappedNames.FindAllStringSubmatch(string(text), -1) {
		variant := map[string]string{"PTSZ": "_ptsz", "PTDS": "_ptds"}[m[1]]
		have[m[2]], have[m[2]+variant] = true, true
		have[suffixes.ReplaceAllString(m[2], "")] = true
	}
	for _, lib := range runtimes(t) {
		body, err := os.ReadFile(lib)
		if err != nil {
			t.Fatal(err)
		}
		asked, works, wraps := 0, 0, 0
		body = []byte(strings.ReplaceAll(string(body), "\x00", "\x00\x00"))
		for _, m := range entryName.FindAllSubmatch(body, -1) {
			name := string(m[1])
			asked++
			if have[name] {
				wraps++
			}
			if !worksOn.MatchString(name) {
				continue
			}
			works++
			if _, known := passed()[suffixes.ReplaceAllString(name, "")]; !known && !have[name] {
				t.Errorf("%s asks for %s, which is neither wrapped nor passed on purpose", filepath.Base(lib), name)
			}
		}
		if works < 50 {
			t.Errorf("%s names %d entry points that give work or memory: this test reads it wrongly", lib, works)
		}
		t.Logf("%s: %d names asked for, %d that give work or memory; %d wrapped, %d passed", filepath.Base(lib), asked, works, wraps, asked-wraps)
	}
}

// What a run-time library of CUDA 12 or 13 has looked up, called as the cuda.h
// beside it declares it, does the same without the hook, with it, and with it
// in a session; where the library holds the hook's address, the hook counts.
func TestRealRuntimesCallTheSame(t *testing.T) {
	for _, lib := range runtimes(t) {
		lib, err := filepath.Abs(lib)
		if err != nil {
			t.Fatal(err)
		}
		include := "-I" + filepath.Join(filepath.Dir(lib), "..", "include")
		w := newWorld(t, session.Options{})
		program := compileTest(t, "runtime", "runtime.c", "-ldl", include)
		outside := w.command(program, lib)
		outside.Env = append(outside.Env, "LD_PRELOAD=")
		want := w.run(outside)
		if !strings.HasSuffix(want, "\nok\n") || strings.Count(want, ", held 1\n") < 25 {
			t.Fatalf("%s: without the hook:\n%s", lib, want)
		}
		alone := w.command(program, lib)
		alone.Env = append(alone.Env, "DEFT_SESSION=")
		if got := w.run(alone); got != want {
			t.Errorf("%s: without a session:\n%s\nwant:\n%s", lib, got, want)
		}
		if got := w.run(w.command(program, lib)); got != want {
			t.Errorf("%s: in a session:\n%s\nwant:\n%s", lib, got, want)
		}
		gone := w.reap()
		if len(gone) != 1 || gone[0].Launches != 3+1+5 || gone[0].Paths&session.PathGetProcV2 == 0 || !slices.Contains(gone[0].Paths.Names(), "dlopen") {
			t.Errorf("%s: the hook saw %+v", lib, gone)
		}
	}
}

// What this project declares of the driver is what NVIDIA's headers say.
func TestRealHeadersAgree(t *testing.T) {
	needCompiler(t)
	for _, lib := range runtimes(t) {
		include := filepath.Join(filepath.Dir(lib), "..", "include")
		out, err := exec.CommandContext(t.Context(), "cc", "-fsyntax-only", "-I"+include, filepath.Join("..", "simcuda", "testdata", "layout_check.c")).CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v\n%s", include, err, out)
		}
	}
}
