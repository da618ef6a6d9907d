package docs

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foretime/foretime/tools/workspace"
)

// TestProse checks which texts are read, and that each phrase is found once, also
// across a line break, and not in code.
func TestProse(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"README.md":                "It stands in\nfor it.\n\n```\nbeside\n```\n\nSee `beside` and [this](a/beside.md): 0.5 of .5.\n",
		".github/a.md":             "Told so that it works.\n",
		"m/README.md":              "beside\n",
		"out/m/internal/cli/c.go":  "package cli // beside\n",
		"shared/a.go":              "package a\n\n// A is what comes, so\n// that it holds\n// all of it against\n// the rest.\n//\n//\tbeside\nvar a = \"beside\" // anew\n",
		"shared/a_test.go":         "package a\n\n// The test refuses to mend it.\n",
		"m/p/doc.go":               "// Package p is told of a folder, in vain.\npackage p\n",
		"m/p/p.go":                 "package p\n\n// beside\n",
		"m/internal/cli/c.go":      "package cli\n\nvar help = `lists\nthe folders`\n\n// It comes to (.95).\n",
		"m/internal/cli/c_test.go": "package cli\n\n// beside\n",
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := Prose(&workspace.Workspace{Root: root})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`.github/a.md:1: "so that": write so, or to`,
		`README.md:1: "stands in": write is in, or replaces`,
		`README.md:8: ".5": write 0.95 or 95 %, with the leading zero`,
		`m/internal/cli/c.go:6: "comes to": write is, or gives`,
		`m/internal/cli/c.go:4: "folders": write directory`,
		`m/internal/cli/c.go:6: ".95": write 0.95 or 95 %, with the leading zero`,
		`m/p/doc.go:1: "is told": write a verb of what the program does: prints, returns, is given`,
		`m/p/doc.go:1: "in vain": write unused, or without success`,
		`m/p/doc.go:1: "folder": write directory`,
		`shared/a.go:4: "holds all of it against": write compared with, or checked against`,
		`shared/a.go:9: "anew": write again`,
		`shared/a.go:3: "so that": write so, or to`,
		`shared/a.go:3: "is what comes": write a noun for a type, a verb for a function`,
		`shared/a_test.go:3: "mend": write fix`,
		`shared/a_test.go:3: "refuses to": write does not, or returns an error`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}
