package release

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/foretime/foretime/tools/workspace"
)

// TestRecipes checks that the recipes name each archive with its sum, and that their
// languages can read them.
func TestRecipes(t *testing.T) {
	ws, err := workspace.Find(".")
	if err != nil {
		t.Fatal(err)
	}
	dist, into := t.TempDir(), t.TempDir()
	names := []string{"foretime_0.3.0_source.tar.gz"}
	for _, tool := range []string{"allox-est", "chamtool", "deft", "edgeprof", "mirage"} {
		names = append(names, tool+"_0.3.0_linux_amd64.tar.gz", tool+"_0.3.0_linux_arm64.tar.gz")
	}
	var sums strings.Builder
	for i, name := range names {
		fmt.Fprintf(&sums, "%064x  %s\n", i+1, name)
	}
	write := func(text string) {
		if err := os.WriteFile(filepath.Join(dist, "SHA256SUMS"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(strings.Join(strings.SplitAfter(sums.String(), "\n")[1:], ""))
	if err := Recipes(ws, "v0.3.0", dist, into); !errors.Is(err, errNoArchive) || !strings.Contains(err.Error(), names[0]) {
		t.Errorf("without the source: %v", err)
	}
	write(sums.String())
	if err := Recipes(ws, "v0.3.0", dist, into); err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, name := range []string{"package.py", "foretime-0.3.0.eb", "recipe.yaml"} {
		text, err := os.ReadFile(filepath.Join(into, name))
		if err != nil {
			t.Fatal(err)
		}
		texts[name] = string(text)
		if strings.Contains(name, ".yaml") {
			var recipe map[string]any
			if err := yaml.Unmarshal(text, &recipe); err != nil || recipe["source"] == nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		compile := exec.CommandContext(t.Context(), "python3", "-c", "import sys; compile(sys.stdin.read(), sys.argv[1], 'exec')", name)
		compile.Stdin = strings.NewReader(string(text))
		if out, err := compile.CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", name, err, out)
		}
	}
	for i, name := range names {
		in := []string{"foretime-0.3.0.eb"}
		if i == 0 {
			in = []string{"package.py", "recipe.yaml"}
		}
		for _, recipe := range in {
			if !strings.Contains(texts[recipe], name) || !strings.Contains(texts[recipe], fmt.Sprintf("%064x", i+1)) {
				t.Errorf("%s lacks %s or its sum", recipe, name)
			}
		}
	}
}
