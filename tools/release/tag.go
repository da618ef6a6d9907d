package release

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"

	"github.com/foretime/foretime/tools/workspace"
)

// ErrChanged is returned when a checkout differs from its commit.
var ErrChanged = errors.New("the checkout differs from its commit")

// Tag makes the release of a checkout as tags of its repository: shared/VERSION
// where it is, NAME/VERSION for each other module and VERSION at the release
// commit, which it checks out. VERSION is such as v0.1.0.
func Tag(ctx context.Context, root, version string) error {
	if semver.Canonical(version) != version {
		return fmt.Errorf("version %q: want one such as v0.1.0", version)
	}
	ws, err := workspace.Find(root)
	if err != nil {
		return err
	}
	git := command{dir: ws.Root, name: "git"}
	changed, err := git.run(ctx, "status", "--porcelain")
	if err != nil {
		return err
	}
	if len(changed) > 0 {
		return fmt.Errorf("%s: %w", ws.Root, ErrChanged)
	}
	if _, err := git.run(ctx, "tag", "shared/"+version); err != nil {
		return err
	}
	cache, err := os.MkdirTemp("", "release-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(cache)
	shared, err := Download(ctx, ws.Root, cache, module.Version{Path: prefix + "shared", Version: version})
	if err != nil {
		return err
	}
	if _, err := git.run(ctx, "checkout", "--quiet", "--detach"); err != nil {
		return err
	}
	others := slices.DeleteFunc(ws.Modules, func(m workspace.Module) bool { return m.Name == "shared" })
	for _, m := range others {
		if err := require(m.Dir, shared); err != nil {
			return err
		}
	}
	if _, err := git.run(ctx, "add", "."); err != nil {
		return err
	}
	if _, err := git.run(ctx, "commit", "--quiet", "--message", "release "+version); err != nil {
		return err
	}
	for _, m := range others {
		if _, err := git.run(ctx, "tag", m.Name+"/"+version); err != nil {
			return err
		}
	}
	_, err = git.run(ctx, "tag", version)
	return err
}

// require makes the module in dir use a published version of another in place
// of the folder beside it.
func require(dir string, used *Downloaded) error {
	path := filepath.Join(dir, "go.mod")
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	mod, err := modfile.Parse(path, text, nil)
	if err != nil {
		return err
	}
	if err := errors.Join(mod.DropReplace(used.Path, ""), mod.AddRequire(used.Path, used.Version)); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	mod.Cleanup()
	if text, err = mod.Format(); err != nil {
		return err
	}
	if err := os.WriteFile(path, text, 0o644); err != nil {
		return err
	}
	return addSums(filepath.Join(dir, "go.sum"), used)
}

// addSums writes the hashes of a module into a go.sum, in its order.
func addSums(path string, m *Downloaded) error {
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	lines := strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' })
	name := m.Path + " " + m.Version
	lines = append(lines, name+" "+m.Sum, name+"/go.mod "+m.GoModSum)
	slices.Sort(lines)
	var b bytes.Buffer
	for _, line := range lines {
		b.WriteString(line + "\n")
	}
	return os.WriteFile(path, b.Bytes(), 0o644)
}
