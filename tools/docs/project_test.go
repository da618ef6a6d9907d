package docs

import (
	"testing"

	"github.com/foretime/foretime/tools/workspace"
)

// TestProject checks the documents of the project itself.
func TestProject(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: one thread computes")
	}
	ws, err := workspace.Find(".")
	if err != nil {
		t.Fatal(err)
	}
	for name, check := range map[string]func(*workspace.Workspace) ([]string, error){
		"builds": Builds, "figures": Figures, "form": Form, "prose": Prose,
	} {
		t.Run(name, func(t *testing.T) {
			findings, err := check(ws)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range findings {
				t.Error(f)
			}
		})
	}
}
