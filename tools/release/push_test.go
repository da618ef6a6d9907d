package release_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/foretime/foretime/tools/release"
)

// TestPush checks that the tag that starts the workflow is pushed alone, last.
func TestPush(t *testing.T) {
	ws := checkout(t)
	remote := filepath.Join(t.TempDir(), "remote.git")
	git(t, ws.Root, "init", "--quiet", "--bare", remote)
	git(t, ws.Root, "remote", "add", "origin", remote)
	pushes := filepath.Join(remote, "pushes")
	hook := "#!/bin/sh\nwhile read old new ref; do printf '%s ' \"$ref\"; done >> pushes\necho >> pushes\n"
	if err := os.WriteFile(filepath.Join(remote, "hooks", "pre-receive"), []byte(hook), 0o755); err != nil {
		t.Fatal(err)
	}

	err := release.Push(t.Context(), ws.Root, "v0.1.0", "origin")
	if err == nil || !strings.Contains(err.Error(), "no tag hello/v0.1.0, shared/v0.1.0, v0.1.0") {
		t.Errorf("without tags: %v", err)
	}
	if _, err := os.Stat(pushes); err == nil {
		t.Error("pushed although tags were missing")
	}

	if err := release.Tag(t.Context(), ws.Root, "v0.1.0"); err != nil {
		t.Fatal(err)
	}
	for range 2 { // a repeated push has nothing to do
		if err := release.Push(t.Context(), ws.Root, "v0.1.0", "origin"); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(pushes)
	if err != nil {
		t.Fatal(err)
	}
	want := "refs/tags/hello/v0.1.0 refs/tags/shared/v0.1.0 \nrefs/tags/v0.1.0 \n"
	if string(text) != want {
		t.Errorf("the remote received\n%swant\n%s", text, want)
	}
}
