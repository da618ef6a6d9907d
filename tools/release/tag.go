package release

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"

	"github.com/foretime/foretime/tools/workspace"
)

// ErrChanged is returned when a checkout differs from its commit.
var ErrChanged = errors.New("the checkout differs from its commit")

// Tag makes the release of a checkout as tags of its repository: shared/VERSION at
// its commit, NAME/VERSION for each other module and VERSION at the release commit,
// which is on no branch. The checkout is not changed. After an error none of the
// tags is left. VERSION has the form v0.1.0.
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
	work, err := os.MkdirTemp("", "release-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	r := &releasing{git: git, version: version, work: work}
	if err := r.tagAll(ctx, ws); err != nil {
		return errors.Join(err, r.undo(context.WithoutCancel(ctx)))
	}
	return nil
}

// releasing is a release in progress.
type releasing struct {
	git           command
	version, work string
	tags          []string // made so far
}

func (r *releasing) tag(ctx context.Context, name, commit string) error {
	_, err := r.git.run(ctx, "tag", name, commit)
	if err == nil {
		r.tags = append(r.tags, name)
	}
	return err
}

// undo removes the tags.
func (r *releasing) undo(ctx context.Context) error {
	if len(r.tags) == 0 {
		return nil
	}
	_, err := r.git.run(ctx, append([]string{"tag", "--delete"}, r.tags...)...)
	return err
}

// tagAll tags shared first; the other modules can require it only then.
func (r *releasing) tagAll(ctx context.Context, ws *workspace.Workspace) error {
	if err := r.tag(ctx, "shared/"+r.version, "HEAD"); err != nil {
		return err
	}
	shared, err := Download(ctx, ws.Root, filepath.Join(r.work, "cache"), module.Version{Path: prefix + "shared", Version: r.version})
	if err != nil {
		return err
	}
	others := slices.DeleteFunc(slices.Clone(ws.Modules), func(m workspace.Module) bool { return m.Name == "shared" })
	commit, err := r.commit(ctx, others, shared)
	if err != nil {
		return err
	}
	for _, m := range others {
		if err := r.tag(ctx, m.Name+"/"+r.version, commit); err != nil {
			return err
		}
	}
	return r.tag(ctx, r.version, commit)
}

// commit makes the release commit in a temporary work tree, with the output of go
// generate for users who have no compiler.
func (r *releasing) commit(ctx context.Context, modules []workspace.Module, shared *Downloaded) (hash string, err error) {
	tree := filepath.Join(r.work, "tree")
	if _, err := r.git.run(ctx, "worktree", "add", "--quiet", "--detach", tree); err != nil {
		return "", err
	}
	defer func() {
		_, failed := r.git.run(context.WithoutCancel(ctx), "worktree", "remove", "--force", tree)
		err = errors.Join(err, failed)
	}()
	for _, m := range modules {
		generate := command{dir: filepath.Join(tree, m.Name), name: "go", env: []string{"GOWORK=off"}}
		if _, err := generate.run(ctx, "generate", "./..."); err != nil {
			return "", err
		}
		if err := require(ctx, generate.dir, shared); err != nil {
			return "", err
		}
	}
	git := command{dir: tree, name: "git"}
	if _, err := git.run(ctx, "add", "--force", "."); err != nil { // generated files are ignored on main
		return "", err
	}
	if _, err := git.run(ctx, "commit", "--quiet", "--message", "release "+r.version); err != nil {
		return "", err
	}
	out, err := git.run(ctx, "rev-parse", "HEAD")
	return strings.TrimSpace(string(out)), err
}

// require makes the module in dir use a published version of another instead of the
// directory in the workspace.
func require(ctx context.Context, dir string, used *Downloaded) error {
	edit := command{dir: dir, name: "go"}
	if _, err := edit.run(ctx, "mod", "edit", "-dropreplace="+used.Path, "-require="+used.Path+"@"+used.Version); err != nil {
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
	return os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o644)
}
