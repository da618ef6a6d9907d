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

	"github.com/foretime/foretime/chamtool/host/mpitest"
	"github.com/foretime/foretime/shared/cli/scripttest"
)

// TestFirstSuccess runs what the README shows first.
func TestFirstSuccess(t *testing.T) {
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("needs gcc: install with apt-get install gcc")
	}
	guide(t, "README.md")
}

// TestRealMPIGuide runs the guide, whose program has two ranks, with each MPI.
func TestRealMPIGuide(t *testing.T) {
	mpitest.Each(t, os.Getenv("PATH"), func(t *testing.T) { guide(t, "docs/slow-tasks.md") })
}

func guide(t *testing.T, file string) {
	home := testscript.Params{Setup: func(env *testscript.Env) error {
		env.Setenv("HOME", env.WorkDir)
		env.Setenv("OMPI_ALLOW_RUN_AS_ROOT", "1")
		env.Setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
		return nil
	}}
	scripttest.Guide(t, filepath.Join("..", "..", file), home, "--tool libchamtool.so", "--tool "+toolLibrary(t))
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
	examples, err := filepath.Abs("../../examples")
	if err != nil {
		t.Fatal(err)
	}
	setup := testscript.Params{Setup: func(env *testscript.Env) error {
		env.Setenv("HOME", env.WorkDir)
		return os.WriteFile(filepath.Join(env.WorkDir, "proteins.fa"), proteins(), 0o600)
	}}
	scripttest.Guide(t, filepath.Join("..", "..", "docs", "any-openmp.md"), setup, "$PWD/libchamtool.so", toolLibrary(t), "chamtool/examples", examples)
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
