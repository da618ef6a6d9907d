package launch

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// A variable-length array that is firstprivate is copied by a function.
func TestDoubt(t *testing.T) {
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("needs gcc: install with apt-get install gcc")
	}
	program := filepath.Join(t.TempDir(), "a")
	for body, doubt := range map[string]bool{"int a[argc];": true, "int a = argc;": false} {
		cmd := exec.Command("gcc", "-fopenmp", "-x", "c", "-o", program, "-")
		cmd.Stdin = strings.NewReader("void use(void *a) { (void)a; }\nint main(int argc, char **argv) { (void)argv; " + body + "\n#pragma omp task firstprivate(a) if(argc > 1)\nuse(&a);\nreturn 0; }\n")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if got := Doubt(program); (got != "") != doubt {
			t.Errorf("%s %q", body, got)
		}
	}
}

// A sanitizer's library comes before the runtime that is preloaded.
func TestPreloads(t *testing.T) {
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("needs gcc: install with apt-get install gcc")
	}
	program := filepath.Join(t.TempDir(), "a")
	for flag, want := range map[string]string{"-fsanitize=address": "libasan.so.", "-O1": "/x/libomp.so.5"} {
		cmd := exec.Command("gcc", flag, "-x", "c", "-o", program, "-")
		cmd.Stdin = strings.NewReader("int main(void) { return 0; }\n")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Logf("%v: %s", err, out) // not every gcc has sanitizers
			continue
		}
		if got := Preloads(program, "/x/libomp.so.5"); !strings.HasPrefix(got, want) || !strings.HasSuffix(got, "/x/libomp.so.5") {
			t.Errorf("%s: %s", flag, got)
		}
	}
	if got := Preloads("/nonexistent", "r"); got != "r" {
		t.Error(got)
	}
}

func TestTool(t *testing.T) {
	dir := t.TempDir()
	lib := filepath.Join(dir, "lib", "foretime")
	if err := os.MkdirAll(lib, 0o755); err != nil {
		t.Fatal(err)
	}
	command := filepath.Join(dir, "bin", "chamtool")
	if _, err := Tool("", command, dir); !errors.Is(err, ErrNoTool) || !strings.Contains(err.Error(), filepath.Join(dir, "bin", library)) {
		t.Errorf("without a library: %v", err)
	}
	want := filepath.Join(lib, library)
	if err := os.WriteFile(want, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := Tool("", command, "/nowhere"); got != want || err != nil {
		t.Errorf("%s: %v, want %s", got, err, want)
	}
	if _, err := Tool(filepath.Join(dir, "other.so"), command, dir); !errors.Is(err, ErrNoTool) {
		t.Errorf("a given one that is not there: %v", err)
	}
}

func TestLLVMRuntime(t *testing.T) {
	file := &fstest.MapFile{}
	for _, tt := range []struct {
		files fstest.MapFS
		dirs  []string
		want  string
	}{
		{fstest.MapFS{"usr/lib/llvm-14/lib/libomp.so.5": file, "usr/lib/llvm-9/lib/libomp.so.5": file}, nil, "/usr/lib/llvm-14/lib/libomp.so.5"},
		{fstest.MapFS{"usr/lib/llvm-14/lib/libomp.so.5": file, "env/lib/libomp.so": file}, []string{"", "/env/lib"}, "/env/lib/libomp.so"},
		{fstest.MapFS{"usr/lib64/libomp.so": file}, nil, "/usr/lib64/libomp.so"},
		{fstest.MapFS{"usr/lib/libgomp.so.1": file}, nil, ""},
	} {
		got, err := LLVMRuntime(tt.files, tt.dirs)
		if got != tt.want || (err != nil) != (tt.want == "") {
			t.Errorf("%s: %v, want %s", got, err, tt.want)
		}
	}
}

func TestEnviron(t *testing.T) {
	got := Environ([]string{"LD_PRELOAD=a.so", "B=1"}, "/t.so", "logs", "/libomp.so.5")
	for _, want := range []string{"OMP_TOOL_LIBRARIES=/t.so", "OMP_TOOL=enabled", "CHAMELEON_TOOL_LIBRARIES=/t.so", "CHAMTOOL_LOG_DIR=logs", "LD_PRELOAD=/libomp.so.5:a.so"} {
		if !slices.Contains(got, want) {
			t.Errorf("%q lacks %s", got, want)
		}
	}
}

// The runtime is that of the first program that is linked with one, also behind a launcher.
func TestFindProgram(t *testing.T) {
	libraries := func(path string) []string {
		return map[string][]string{
			"/bin/gnu": {"libm.so.6", "libgomp.so.1"}, "/bin/wheel": {"libgomp-a34b3233.so.1.0.0"}, "/bin/llvm": {"libomp.so.5"},
			"/bin/hybrid": {"libmpi.so.40", "libiomp5.so"}, "/bin/mpirun": {"libopen-rte.so.40"},
		}[path]
	}
	find := func(name string) (string, error) {
		if strings.Contains(name, "=") {
			return "", exec.ErrNotFound
		}
		return "/bin/" + name, nil
	}
	for _, tt := range []struct {
		args string
		want Program
	}{
		{"gnu", Program{"/bin/gnu", GNU, false}}, {"env A=1 wheel", Program{"/bin/wheel", GNU, false}}, {"llvm gnu", Program{"/bin/llvm", LLVM, false}},
		{"hybrid", Program{"/bin/hybrid", LLVM, true}}, {"mpirun -n 2 python x.py", Program{MPI: true}}, {"time mpirun gnu", Program{"/bin/gnu", GNU, false}},
		{"true", Program{}},
	} {
		if got := FindProgram(strings.Fields(tt.args), find, libraries); got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.args, got, tt.want)
		}
	}
}

// Only the loader of the GNU C library lists libraries: another one would run the program.
func TestHasGNULoader(t *testing.T) {
	path, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("needs sh")
	}
	if _, err := os.Stat("/lib64/ld-linux-x86-64.so.2"); err == nil && !HasGNULoader(path) {
		t.Errorf("%s is started by another loader", path)
	}
	if HasGNULoader("launch.go") {
		t.Error("a text has a loader")
	}
}

// A program whose target tasks would stay with gcc's runtime, which a taskwait of the other
// runtime does not wait for, cannot change its runtime.
func TestReplaceable(t *testing.T) {
	runtime, err := LLVMRuntime(os.DirFS("/"), nil)
	if _, missing := exec.LookPath("gcc"); missing != nil || err != nil {
		t.Skip("needs gcc and libomp: install with apt-get install gcc libomp-dev")
	}
	dir := t.TempDir()
	for _, tt := range []struct {
		name, body string
		want       error
		function   string
	}{
		{"plain", "\n#pragma omp parallel\n#pragma omp single\n#pragma omp task\na++;", nil, ""},
		{"detach", "\nomp_event_handle_t e;\n#pragma omp task detach(e)\na++;\nomp_fulfill_event(e);", ErrIncompatible, "detach"},
		{"offload", "\n#pragma omp target nowait map(tofrom:a)\na++;\n#pragma omp taskwait\n", ErrIncompatible, "GOMP_target_ext"},
	} {
		source, program := filepath.Join(dir, tt.name+".c"), filepath.Join(dir, tt.name)
		if err := os.WriteFile(source, []byte("#include <omp.h>\nint main(void) { int a = omp_get_max_threads();"+tt.body+" return a; }\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command("gcc", "-fopenmp", "-o", program, source).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if err := Replaceable(program, runtime); !errors.Is(err, tt.want) || err != nil && !strings.Contains(err.Error(), tt.function) {
			t.Errorf("%s: %v, want %v with %q", tt.name, err, tt.want, tt.function)
		}
	}
	if err := Replaceable(filepath.Join(dir, "none"), runtime); err == nil {
		t.Error("no error for a program that is not there")
	}
}
