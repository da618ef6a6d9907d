package cli_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/foretime/foretime/deft/internal/testkit/simcudatest"
	"github.com/foretime/foretime/shared/testkit/scripttest"
)

// TestGuides runs the guide in a session of its own and with fewer jobs, and the
// experiments of README and reference for a shorter time. What is compiled is
// compiled once.
func TestGuides(t *testing.T) {
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skip("needs cc: install with apt-get install gcc libc6-dev")
	}
	cache := t.TempDir()
	products := filepath.Join(cache, "foretime", "deft")
	if err := os.MkdirAll(products, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(simcudatest.Products(products, time.Now()))
	examples, err := filepath.Abs("../../examples")
	if err != nil {
		t.Fatal(err)
	}
	checkout := testscript.Params{Setup: func(env *testscript.Env) error {
		env.Setenv("XDG_CACHE_HOME", cache)
		return os.CopyFS(filepath.Join(env.WorkDir, "deft", "examples"), os.DirFS(examples))
	}}
	session := fmt.Sprintf("guide-%d", os.Getpid())
	for file, pairs := range map[string][]string{
		"README.md":         nil,
		"docs/reference.md": {"input.json", "input.json --duration 200ms"},
		"docs/share.md":     {"--device sim", "--device sim --session " + session, "--jobs 20", "--jobs 5"},
	} {
		t.Run(filepath.Base(file), func(t *testing.T) {
			scripttest.Guide(t, filepath.Join("..", "..", file), checkout, pairs...)
		})
	}
}
