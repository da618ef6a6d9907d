package release_test

import (
	"os"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foretime/foretime/tools/release"
	"github.com/foretime/foretime/tools/workspace"
)

// TestDependencies checks that every direct dependency has a row with its licence
// and a reason, that there are no other rows, and that all indirect dependencies
// have a known licence.
func TestDependencies(t *testing.T) {
	ws, err := workspace.Find(".")
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]string{}
	for _, m := range ws.Modules {
		licences, err := release.Licences(t.Context(), m.Dir)
		if err != nil {
			t.Fatal(err)
		}
		for path, l := range licences {
			if !l.Indirect {
				used[path] = l.ID
			}
		}
	}
	text, err := os.ReadFile("../docs/dependencies.md")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `(.+)` \\| (.+) \\| .+ \\|$").FindAllStringSubmatch(string(text), -1) {
		listed[row[1]] = row[2]
	}
	if diff := cmp.Diff(used, listed); diff != "" {
		t.Errorf("tools/docs/dependencies.md (- used, + listed):\n%s", diff)
	}
}
