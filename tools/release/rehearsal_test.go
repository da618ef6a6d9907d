package release

import (
	"context"
	"debug/elf"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/module"

	"github.com/foretime/foretime/tools/workspace"
)

// rehearsal is a release in a clone.
type rehearsal struct {
	root    string // of the checkout
	out     string // output directory
	version string // such as v0.1.0
	clone   *workspace.Workspace
	env     []string // of a go command that finds the release
}

var rehearsed = flag.String("rehearse", "", "version of the release to rehearse, such as v0.1.0")

// TestRehearsal releases the last commit of the checkout in a clone below
// out/release, installs it, packs it, and starts each binary alone. `make
// release-check` runs it.
func TestRehearsal(t *testing.T) {
	if *rehearsed == "" {
		t.Skip("takes minutes: make release-check")
	}
	ws, err := workspace.Find(".")
	if err != nil {
		t.Fatal(err)
	}
	r := &rehearsal{root: ws.Root, out: filepath.Join(ws.Root, "out", "release"), version: *rehearsed}
	for _, step := range []struct {
		name string
		run  func(context.Context) error
	}{
		{"tag", r.tag},
		{"push", r.push},
		{"install", r.install},
		{"package", r.pack},
		{"libraries", r.libraries},
		{"start", r.start},
		{"papers", r.papers},
		{"wheels", r.wheels},
		{"downloads", r.downloads},
		{"systems", r.systems},
	} {
		if !t.Run(step.name, func(t *testing.T) {
			if err := step.run(t.Context()); err != nil {
				t.Fatal(err)
			}
		}) {
			return // the others need it
		}
	}
}

// tag creates the clone, its tags and a module proxy of them.
func (r *rehearsal) tag(ctx context.Context) (err error) {
	if err := os.RemoveAll(r.out); err != nil {
		return err
	}
	clone := filepath.Join(r.out, "source")
	if err := run(ctx, "", nil, "git", "clone", "--quiet", "--no-tags", r.root, clone); err != nil {
		return err
	}
	for key, value := range map[string]string{"user.name": "rehearsal", "user.email": "rehearsal@example.org"} {
		if err := run(ctx, clone, nil, "git", "config", key, value); err != nil {
			return err
		}
	}
	if r.clone, err = workspace.Find(clone); err != nil {
		return err
	}
	for _, m := range r.clone.Modules { // kept; the proxy serves them from there
		if err := run(ctx, m.Dir, []string{"GOWORK=off"}, "go", "mod", "download"); err != nil {
			return err
		}
	}
	if err := Tag(ctx, clone, r.version); err != nil {
		return err
	}
	if err := run(ctx, clone, nil, "git", "checkout", "--quiet", r.version); err != nil {
		return err
	}
	// Go caches the content of a module by its directory and version.
	modules, err := os.MkdirTemp(r.out, "modules-*")
	if err != nil {
		return err
	}
	r.env, err = Publish(ctx, r.clone, r.version, modules)
	return err
}

// push pushes the tags to a repository below out/release.
func (r *rehearsal) push(ctx context.Context) error {
	remote := filepath.Join(r.out, "remote.git")
	if err := run(ctx, "", nil, "git", "init", "--quiet", "--bare", remote); err != nil {
		return err
	}
	return Push(ctx, r.clone.Root, r.version, remote)
}

// install installs every command as users do, and checks the version that it
// prints.
func (r *rehearsal) install(ctx context.Context) error {
	bin := filepath.Join(r.out, "installed")
	env := append(slices.Clone(r.env), "GOWORK=off", "GOBIN="+bin)
	for _, path := range r.programs() {
		if err := run(ctx, "", env, "go", "install", path+"@"+r.version); err != nil {
			return err
		}
		out, err := exec.CommandContext(ctx, filepath.Join(bin, filepath.Base(path)), "--version").Output()
		if err != nil || !strings.Contains(string(out), " version "+r.version+" ") {
			return fmt.Errorf("the installed %s says %q (%v)", path, out, err)
		}
	}
	return nil
}

// programs returns the import paths of the users' programs: no libraries, and not
// the project's own tools.
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

// pack makes the packages, and unpacks those for this architecture.
func (r *rehearsal) pack(ctx context.Context) error {
	if err := r.goreleaser(ctx); err != nil {
		return err
	}
	dist := filepath.Join(r.out, "dist")
	if err := os.Rename(filepath.Join(r.clone.Root, "out", "dist"), dist); err != nil {
		return err
	}
	archives, _ := filepath.Glob(filepath.Join(dist, "*_linux_"+runtime.GOARCH+".tar.gz")) // the pattern is well formed
	if len(archives) == 0 {
		return fmt.Errorf("%s: no archive", dist)
	}
	if err := os.MkdirAll(r.prefix(), 0o755); err != nil {
		return err
	}
	for _, archive := range archives {
		if err := run(ctx, "", nil, "tar", "-C", r.prefix(), "-xzf", archive); err != nil {
			return err
		}
	}
	return nil
}

// goreleaser builds goreleaser at its pinned version, and runs all of a release in
// the clone except publishing.
func (r *rehearsal) goreleaser(ctx context.Context) error {
	bin := filepath.Join(r.root, "out", "bin")
	pinned := filepath.Join(r.root, "tools", "release", "goreleaser")
	if err := run(ctx, pinned, []string{"GOWORK=off"}, "go", "build", "-o", bin+string(filepath.Separator), "tool"); err != nil {
		return err
	}
	env := append(slices.Clone(r.env), "GORELEASER_CURRENT_TAG="+r.version)
	return run(ctx, r.clone.Root, env, filepath.Join(bin, "goreleaser"), "release", "--skip=publish", "--clean", "--config", "tools/release/goreleaser/goreleaser.yaml")
}

// libraries checks that compiled libraries are for the architecture of their
// directory, and need no newer C library.
func (r *rehearsal) libraries(context.Context) error {
	for arch, machine := range map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64} {
		parts := filepath.Join(r.clone.Root, "out", "parts", "*", arch)
		files, _ := filepath.Glob(filepath.Join(parts, "lib", "foretime", "*.so")) // the patterns are well formed
		programs, _ := filepath.Glob(filepath.Join(parts, "bin", "*"))
		for _, path := range append(files, programs...) {
			if err := linked(path, machine); err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
		}
	}
	return nil
}

func linked(path string, machine elf.Machine) error {
	f, err := elf.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if f.Machine != machine {
		return fmt.Errorf("is for %v", f.Machine)
	}
	_, err = needsGlibc(path)
	return err
}

// prefix returns the directory of the unpacked packages.
func (r *rehearsal) prefix() string { return filepath.Join(r.out, "unpacked") }

// start starts each program from the packages without an environment, the static
// ones in an empty root.
func (r *rehearsal) start(ctx context.Context) error {
	for _, path := range r.programs() {
		program := []string{filepath.Join(r.prefix(), "bin", filepath.Base(path))}
		if filepath.Base(path) != "edgeprof-ort" { // which links to the C library
			var err error
			if program, err = r.alone(program[0]); err != nil {
				return err
			}
		}
		for _, flag := range []string{"-h", "--version"} {
			cmd := exec.CommandContext(ctx, program[0], append(program[1:], flag)...)
			cmd.Env = []string{}
			out, err := cmd.CombinedOutput()
			if err != nil {
				return fmt.Errorf("%s: %w: %s", cmd, err, out)
			}
			if flag == "--version" && !strings.Contains(string(out), " version "+r.version+", commit ") {
				return fmt.Errorf("%s: %q, want %s and its commit", cmd, out, r.version)
			}
		}
	}
	return nil
}

// alone copies a program into an empty root and returns the command that starts it
// there.
func (r *rehearsal) alone(program string) ([]string, error) {
	root := filepath.Join(r.out, "roots", filepath.Base(program))
	if err := os.MkdirAll(root, 0o755); err != nil {
		return nil, err
	}
	data, err := os.ReadFile(program)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(root, filepath.Base(program)), data, 0o755); err != nil {
		return nil, err
	}
	return []string{"unshare", "--map-root-user", "--root=" + root, "/" + filepath.Base(program)}, nil
}

// papers checks that bash and man can read the completions and manual pages, and
// that deft's library needs no compiler.
func (r *rehearsal) papers(ctx context.Context) error {
	share := filepath.Join(r.prefix(), "share")
	scripts, _ := filepath.Glob(filepath.Join(share, "bash-completion", "completions", "*")) // the patterns are well formed
	pages, _ := filepath.Glob(filepath.Join(share, "man", "man1", "*.1"))
	if len(scripts) < len(r.clone.Modules)-2 || len(pages) < 2*len(scripts) {
		return fmt.Errorf("%s: %d completions, %d manual pages", share, len(scripts), len(pages))
	}
	for _, script := range scripts {
		if err := run(ctx, "", nil, "bash", "-n", script); err != nil {
			return err
		}
	}
	for _, page := range pages {
		if err := run(ctx, "", nil, "man", "--warnings", "--local-file", page); err != nil {
			return err
		}
	}
	for _, args := range [][]string{
		{"build-hook", "--out-dir", filepath.Join(r.out, "hook")},
		{"exec", "--device", "sim", "--", "deft-workload", "--kernels", "10", "--kernel-ns", "1000", "--jobs", "1"},
	} {
		empty := []string{"PATH=/nonexistent", "XDG_CACHE_HOME=" + filepath.Join(r.out, "cache")}
		if err := run(ctx, "", empty, filepath.Join(r.out, "installed", "deft"), args...); err != nil {
			return err
		}
	}
	return nil
}

// prepared maps tools to commands that create the inputs of the Python code in
// their README and guides.
var prepared = map[string][]string{
	"allox-est": nil,
	"chamtool":  {"chamtool", "host", "--tool", "libexec/foretime/libchamtool.so", "--", "--threads", "2", "--tasks", "100", "--iterations", "5"},
	"deft":      nil,
	"edgeprof":  {"edgeprof", "synth", "resnet", "--width", "0.5", "--resolution", "96", "--out", "resnet.onnx"},
	"mirage":    {"mirage", "log", "synth", "--days", "30", "--seed", "1", "--out", "month.log"},
}

// wheels installs the wheel of each tool for this architecture into an empty
// virtual environment, runs its programs and the Python code of its README and
// guides, uninstalls it, and checks that nothing is left.
func (r *rehearsal) wheels(ctx context.Context) error {
	for _, m := range r.clone.Modules {
		if _, tool := prepared[m.Name]; !tool {
			continue
		}
		if err := r.tryWheel(ctx, m); err != nil {
			return fmt.Errorf("%s: %w", m.Name, err)
		}
	}
	return nil
}

func (r *rehearsal) tryWheel(ctx context.Context, m workspace.Module) error {
	venv := filepath.Join(r.out, "venv", m.Name)
	if err := run(ctx, "", nil, "python3", "-m", "venv", venv); err != nil {
		return err
	}
	empty, err := files(venv)
	if err != nil {
		return err
	}
	wheels, _ := filepath.Glob(filepath.Join(r.clone.Root, "out", "parts", m.Name, "*-manylinux*_"+machines[runtime.GOARCH]+"*.whl")) // the pattern is well formed
	if len(wheels) != 1 {
		return fmt.Errorf("%d wheels for %s", len(wheels), runtime.GOARCH)
	}
	python := filepath.Join(venv, "bin", "python")
	if err := run(ctx, "", nil, python, "-m", "pip", "install", "--no-index", "--no-compile", wheels[0]); err != nil {
		return err
	}
	env := []string{
		"PATH=" + filepath.Join(venv, "bin") + ":" + os.Getenv("PATH"), "PYTHONDONTWRITEBYTECODE=1",
		"HOME=" + r.out, "XDG_CACHE_HOME=" + filepath.Join(r.out, "cache"), "XDG_CONFIG_HOME=" + r.out, "XDG_DATA_HOME=" + r.out,
	}
	work := filepath.Join(r.out, "python", m.Name)
	if err := os.MkdirAll(work, 0o755); err != nil {
		return err
	}
	if err := os.Symlink(filepath.Join(venv, "libexec"), filepath.Join(work, "libexec")); err != nil {
		return err
	}
	commands := [][]string{{m.Name, "--version"}}
	if prepared[m.Name] != nil {
		commands = append(commands, prepared[m.Name])
	}
	docs, _ := filepath.Glob(filepath.Join(m.Dir, "docs", "*.md")) // the pattern is well formed
	n := 0
	for _, doc := range append(docs, filepath.Join(m.Dir, "README.md")) {
		text, err := os.ReadFile(doc)
		if err != nil {
			return err
		}
		for _, block := range regexp.MustCompile("(?ms)^```python\n(.*?)^```").FindAllSubmatch(text, -1) {
			commands = append(commands, []string{python, "-c", string(block[1])})
			n++
		}
	}
	if n == 0 {
		return errors.New("its README and guides show no Python")
	}
	for _, c := range commands {
		if err := run(ctx, work, env, "env", c...); err != nil {
			return err
		}
	}
	if err := run(ctx, "", nil, python, "-m", "pip", "uninstall", "--yes", "foretime-"+m.Name); err != nil {
		return err
	}
	left, err := files(venv)
	if err == nil && !slices.Equal(left, empty) {
		err = fmt.Errorf("pip uninstall left %d files where %d were", len(left), len(empty))
	}
	return err
}

// files returns the files below a directory, without compiled Python.
func files(dir string) (paths []string, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && filepath.Ext(path) != ".pyc" {
			paths = append(paths, path)
		}
		return err
	})
	return paths, err
}

// run runs a program in a directory, with additional environment variables; its
// error contains the program's output.
func run(ctx context.Context, dir string, env []string, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, out)
	}
	return nil
}

// Publish fills a module proxy below dir with the tagged release in the repository
// of ws. It returns the settings of a go command that uses only this proxy and the
// third-party modules already in the cache.
func Publish(ctx context.Context, ws *workspace.Workspace, version, dir string) (env []string, err error) {
	published := filepath.Join(dir, "published")
	for _, m := range ws.Modules {
		if _, err := Download(ctx, ws.Root, published, module.Version{Path: m.Path, Version: version}); err != nil {
			return nil, err
		}
	}
	kept, err := command{dir: ws.Root, name: "go"}.run(ctx, "env", "GOMODCACHE")
	if err != nil {
		return nil, err
	}
	return []string{
		"GOPROXY=" + proxyOf(published) + "," + proxyOf(strings.TrimSpace(string(kept))),
		"GOMODCACHE=" + filepath.Join(dir, "used"), "GOSUMDB=off",
		"GOFLAGS=-modcacherw -trimpath", // earlier builds are found in the cache, wherever dir is
	}, nil
}

// proxyOf returns the module proxy in a module cache.
func proxyOf(cache string) string { return "file://" + filepath.Join(cache, "cache", "download") }
