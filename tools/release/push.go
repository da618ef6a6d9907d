package release

import (
	"context"
	"fmt"
	"strings"

	"github.com/foretime/foretime/tools/workspace"
)

// Push publishes the tags that Tag made of a version: those of the modules
// together, then VERSION alone, which starts the release workflow. GitHub creates
// no event if more than three tags are pushed at once. If a tag is missing, Push
// returns an error and pushes nothing; after a failed push it can be repeated.
func Push(ctx context.Context, root, version, remote string) error {
	ws, err := workspace.Find(root)
	if err != nil {
		return err
	}
	git := command{dir: ws.Root, name: "git"}
	var modules, missing []string
	for _, m := range ws.Modules {
		modules = append(modules, "refs/tags/"+m.Name+"/"+version)
	}
	trigger := "refs/tags/" + version
	for _, ref := range append(modules, trigger) {
		if _, err := git.run(ctx, "rev-parse", "--quiet", "--verify", ref); err != nil {
			missing = append(missing, strings.TrimPrefix(ref, "refs/tags/"))
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("%s: no tag %s; make them with: release tag %s", ws.Root, strings.Join(missing, ", "), version)
	}
	if _, err := git.run(ctx, append([]string{"push", "--atomic", remote}, modules...)...); err != nil {
		return err
	}
	_, err = git.run(ctx, "push", remote, trigger)
	return err
}
