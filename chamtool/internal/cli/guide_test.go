package cli

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/foretime/foretime/chamtool/internal/launch"
	"github.com/foretime/foretime/chamtool/internal/testkit/mpitest"
	"github.com/foretime/foretime/shared/testkit/scripttest"
)

// TestFirstSuccess runs what the README shows first.
func TestFirstSuccess(t *testing.T) {
	_, err := exec.LookPath("gcc")
	if _, missing := launch.LLVMRuntime(os.DirFS("/"), runtimeDirectories()); err != nil || missing != nil {
		t.Skip("needs gcc and libomp: install with apt-get install gcc libomp-dev")
	}
	guide(t, "README.md", "--tool out/bin/libchamtool.so", "chamtool/examples", examples(t))
}

// TestRealMPIGuide runs the guide, whose program has two ranks, with each MPI.
func TestRealMPIGuide(t *testing.T) {
	mpitest.ForEachMPI(t, os.Getenv("PATH"), func(t *testing.T) { guide(t, "docs/slow-tasks.md", "--tool libchamtool.so") })
}

// guide runs a guide in a directory that has the library. The guide says with toolFlag where
// it is, and the pairs replace other text of it.
func guide(t *testing.T, file, toolFlag string, pairs ...string) {
	library := toolLibrary(t)
	home := testscript.Params{Setup: func(env *testscript.Env) error {
		env.Setenv("HOME", env.WorkDir)
		env.Setenv("OMPI_ALLOW_RUN_AS_ROOT", "1")
		env.Setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
		return os.Symlink(library, filepath.Join(env.WorkDir, filepath.Base(library)))
	}}
	scripttest.Guide(t, filepath.Join("..", "..", file), home, append(pairs, toolFlag, "--tool "+library)...)
}

// examples returns the path of the example programs.
func examples(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs("../../examples")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// toolLibrary is the tool, built.
func toolLibrary(t *testing.T) string {
	t.Helper()
	tool := filepath.Join(t.TempDir(), "libchamtool.so")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-buildmode=c-shared", "-o", tool, "../../cmd/libchamtool").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return tool
}

// TestRealOpenMPGuide runs the guide of programs that are OpenMP's alone.
func TestRealOpenMPGuide(t *testing.T) {
	for _, name := range []string{"clang", "kalign"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("needs %s: install with apt-get install clang libomp-dev kalign", name)
		}
	}
	setup := testscript.Params{Setup: func(env *testscript.Env) error {
		env.Setenv("HOME", env.WorkDir)
		return os.WriteFile(filepath.Join(env.WorkDir, "proteins.fa"), proteins(), 0o600)
	}}
	scripttest.Guide(t, filepath.Join("..", "..", "docs", "any-openmp.md"), setup, "$PWD/libchamtool.so", toolLibrary(t), "chamtool/examples", examples(t))
}

// proteins are a family of sequences of unlike lengths, in FASTA.
func proteins() []byte {
	draw := rand.New(rand.NewPCG(7, 7))
	var b bytes.Buffer
	for i := range 120 {
		fmt.Fprintf(&b, ">s%d\n", i)
		for p := range 80 + draw.IntN(220) {
			letter := (p*p/3 + p) % 20
			if draw.IntN(10) < 4 {
				letter = draw.IntN(20)
			}
			b.WriteByte("ACDEFGHIKLMNPQRSTVWY"[letter])
		}
		b.WriteByte('\n')
	}
	return b.Bytes()
}
