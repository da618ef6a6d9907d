package docs

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foretime/foretime/tools/workspace"
)

func TestBuilds(t *testing.T) {
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "m", "cmd", "m"), 0o755); err != nil {
		t.Fatal(err)
	}
	text := "$ go build -o . ./m/cmd/m\n" +
		"$ go build -o out/bin/ ./m/cmd/m\n" +
		"Type `go build -o m ./m/cmd/m`, or `go build -trimpath -o m.so ./m/cmd/m`.\n" +
		"$ go build -o x ./m/cmd/gone # a comment\n" +
		"$ go build -o /tmp/m ./m/cmd/m\n" +
		"$ go build ./m/...\n" +
		"Type `go test -run Gone ./cmd/m`.\n"
	for _, name := range []string{"m/README.md", "out/README.md", ".git/README.md", "m/docs/guide.md"} {
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := Builds(&workspace.Workspace{Root: root})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"m/README.md:1: builds ./m/cmd/m to m, which is a directory",
		"m/README.md:3: builds ./m/cmd/m to m, which is a directory",
		"m/README.md:4: builds ./m/cmd/gone, which is not there",
		"m/README.md:7: -run Gone: nothing in ./cmd/m has that name",
		"m/docs/guide.md:3: builds ./m/cmd/m to m, which is a directory",
		"m/docs/guide.md:7: -run Gone: nothing in ./cmd/m has that name",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}
