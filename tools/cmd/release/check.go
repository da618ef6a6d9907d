package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/tools/release"
	"github.com/foretime/foretime/tools/workspace"
)

// rehearsal is a release in a clone.
type rehearsal struct {
	out     string               // folder of what it makes
	version string               // such as v0.1.0
	real    *workspace.Workspace // the checkout
	clone   *workspace.Workspace
}

// check rehearses a release of the last commit of the checkout.
func check(ctx context.Context, env *cli.Env, version string) error {
	ws, err := workspace.Find(".")
	if err != nil {
		return err
	}
	r := &rehearsal{out: filepath.Join(ws.Root, "out", "release"), version: version, real: ws}
	for _, step := range []struct {
		name string
		run  func(context.Context) error
	}{
		{"tag", r.tag},
		{"go install", r.install},
	} {
		start := time.Now()
		if err := step.run(ctx); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
		fmt.Fprintf(env.Stdout, "%-12s ok %6.1f s\n", step.name, time.Since(start).Seconds())
	}
	return nil
}

// tag makes the clone and its tags.
func (r *rehearsal) tag(ctx context.Context) (err error) {
	if err := os.RemoveAll(r.out); err != nil {
		return err
	}
	clone := filepath.Join(r.out, "source")
	if err := run(ctx, "", "git", "clone", "--quiet", r.real.Root, clone); err != nil {
		return err
	}
	for key, value := range map[string]string{"user.name": "rehearsal", "user.email": "rehearsal@example.org"} {
		if err := run(ctx, clone, "git", "config", key, value); err != nil {
			return err
		}
	}
	if r.clone, err = workspace.Find(clone); err != nil {
		return err
	}
	return release.Tag(ctx, clone, r.version)
}

// install installs every command as users do, and starts it.
func (r *rehearsal) install(ctx context.Context) error {
	bin := filepath.Join(r.out, "installed")
	programs := r.programs()
	if err := release.Install(ctx, r.clone, r.version, bin, programs...); err != nil {
		return err
	}
	for _, path := range programs {
		if err := r.start(ctx, filepath.Join(bin, filepath.Base(path))); err != nil {
			return err
		}
	}
	return nil
}

// programs are the import paths of what users start: no library, and not the
// project's own tools.
func (r *rehearsal) programs() []string {
	var paths []string
	for _, m := range r.clone.Modules {
		folders, _ := filepath.Glob(filepath.Join(m.Dir, "cmd", "*")) // the pattern is well formed
		for _, dir := range folders {
			if name := filepath.Base(dir); m.Name != "tools" && !strings.HasPrefix(name, "lib") {
				paths = append(paths, m.Path+"/cmd/"+name)
			}
		}
	}
	return paths
}

// start wants a program to say its version and to help.
func (r *rehearsal) start(ctx context.Context, path string) error {
	out, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		return fmt.Errorf("%s --version: %w", path, err)
	}
	if want := filepath.Base(path) + " version " + r.version; !strings.HasPrefix(string(out), want) {
		return fmt.Errorf("%s --version: %q, want %q", path, out, want)
	}
	return run(ctx, "", path, "-h")
}

// run runs a program in a folder; its error has what the program wrote.
func run(ctx context.Context, dir, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, out)
	}
	return nil
}
