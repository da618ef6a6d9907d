package cli

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/foretime/foretime/shared/cli/scripttest"
)

// TestGuides runs the README's first success and the guide, with one library.
func TestGuides(t *testing.T) {
	for _, name := range []string{"gcc", "mpicc", "mpirun"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("needs %s: install with apt-get install gcc openmpi-bin libopenmpi-dev", name)
		}
	}
	tool := filepath.Join(t.TempDir(), "libchamtool.so")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-buildmode=c-shared", "-o", tool, "../../cmd/libchamtool").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	quiet := testscript.Params{Setup: func(env *testscript.Env) error {
		env.Setenv("HOME", env.WorkDir)
		env.Setenv("OMPI_ALLOW_RUN_AS_ROOT", "1")
		env.Setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
		return nil
	}}
	for _, file := range []string{"README.md", "docs/slow-tasks.md"} {
		t.Run(filepath.Base(file), func(t *testing.T) {
			scripttest.Guide(t, filepath.Join("..", "..", file), quiet, "--tool libchamtool.so", "--tool "+tool)
		})
	}
}
