package release

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/foretime/foretime/shared/file"
	"github.com/foretime/foretime/tools/workspace"
)

// architectures lists the processor architectures of packages, under Linux.
var architectures = []string{"amd64", "arm64"}

// Parts writes the content of each tool's packages in addition to its program, as
// trees of a prefix such as /usr: into/TOOL/ARCH/{bin,lib,share}. They contain
// completions, manual pages, the licence, those of the program's modules, its bill
// of materials, and what needs a C compiler. Each tree and its program make wheels
// too, and into/foretime/foretime-VERSION-py3-none-any.whl requires all tools.
func Parts(ctx context.Context, ws *workspace.Workspace, version, into string) error {
	into, err := filepath.Abs(into)
	if err != nil {
		return err
	}
	var tools []tool
	for _, m := range ws.Modules {
		if _, err := os.Stat(filepath.Join(m.Dir, "cmd", m.Name)); err != nil {
			continue // not a tool
		}
		t := tool{Module: m, root: ws.Root, version: version, into: filepath.Join(into, m.Name)}
		if err := t.parts(ctx); err != nil {
			return fmt.Errorf("%s: %w", m.Name, err)
		}
		tools = append(tools, t)
	}
	return wheelOfAll(ws, tools, version, filepath.Join(into, "foretime"))
}

// tool is a module whose program has the module's name.
type tool struct {
	workspace.Module
	root, version string
	into          string
}

func (t tool) parts(ctx context.Context) error {
	built, err := os.MkdirTemp("", "release-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(built)
	licences, err := t.licences(ctx)
	if err != nil {
		return err
	}
	here := filepath.Join(built, runtime.GOARCH)
	for _, arch := range architectures {
		if err := t.build(ctx, []string{"GOARCH=" + arch, "CGO_ENABLED=0"}, "-o", filepath.Join(built, arch), "./cmd/"+t.Name); err != nil {
			return err
		}
	}
	modules, err := pythonModules(ctx, t.Dir, t.Name, here)
	if err != nil {
		return err
	}
	for _, arch := range architectures {
		if err := t.manners(ctx, here, arch); err != nil {
			return err
		}
		if err := t.papers(filepath.Join(built, arch), arch, licences); err != nil {
			return err
		}
		if err := t.natives(ctx, arch); err != nil {
			return err
		}
		if err := t.wheels(filepath.Join(built, arch), arch, modules); err != nil {
			return err
		}
	}
	return nil
}

// licences returns the licences of the tool's modules, and of Go.
func (t tool) licences(ctx context.Context) (map[string]Licence, error) {
	licences, err := Licences(ctx, t.Dir)
	if err != nil {
		return nil, err
	}
	root, err := command{name: "go"}.run(ctx, "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	licences["std"], err = licenceIn(strings.TrimSpace(string(root)))
	return licences, err
}

// build runs go build with goreleaser's settings, so goreleaser finds the result in
// the cache.
func (t tool) build(ctx context.Context, env []string, args ...string) error {
	build := command{dir: t.Dir, name: "go", env: append([]string{"GOWORK=off"}, env...)}
	_, err := build.run(ctx, append([]string{"build", "-trimpath", "-buildvcs=true", "-ldflags=-s -w -X " + prefix + "shared/cli.release=" + t.version}, args...)...)
	return err
}

// manners writes completions and manual pages.
func (t tool) manners(ctx context.Context, program, arch string) error {
	for shell, path := range map[string]string{
		"bash": "bash-completion/completions/" + t.Name,
		"fish": "fish/vendor_completions.d/" + t.Name + ".fish",
		"zsh":  "zsh/site-functions/_" + t.Name,
	} {
		script, err := command{name: program}.run(ctx, "completion", shell)
		if err != nil {
			return err
		}
		if err := t.write(script, arch, "share", path); err != nil {
			return err
		}
	}
	pages := filepath.Join(t.into, arch, "share", "man", "man1")
	if err := os.MkdirAll(pages, 0o755); err != nil {
		return err
	}
	_, err := command{name: program}.run(ctx, "man", pages)
	return err
}

// papers writes licences and the bill of materials.
func (t tool) papers(program, arch string, licences map[string]Licence) error {
	own, err := os.ReadFile(filepath.Join(t.root, "LICENSE"))
	if err != nil {
		return err
	}
	bill, err := ReadBill(program, t.version, licences)
	if err != nil {
		return err
	}
	var others strings.Builder
	for _, c := range bill.Components {
		if strings.HasPrefix(c.Name, prefix) {
			continue
		}
		fmt.Fprintf(&others, "%s %s\n\n%s\n\n", c.Name, c.Version, licences[c.Name].Text)
	}
	doc := filepath.Join(t.into, arch, "share", "doc", t.Name)
	if err := t.write(own, arch, "share", "doc", t.Name, "copyright"); err != nil {
		return err
	}
	if err := t.write([]byte(others.String()), arch, "share", "doc", t.Name, "licences.txt"); err != nil {
		return err
	}
	return file.WriteJSON(filepath.Join(doc, "sbom.cdx.json"), bill)
}

// compiler returns the C compiler of packages: clang from the Python package ziglang,
// which contains the headers and symbols of every glibc and so builds on any machine
// for an old one.
func compiler(ctx context.Context, arch string) (string, error) {
	if _, err := (command{name: "python3"}).run(ctx, "-m", "ziglang", "version"); err != nil {
		return "", fmt.Errorf("packages need a C compiler for old systems: python3 -m pip install %s: %w", ziglang, err)
	}
	return "python3 -m ziglang cc -target " + machines[arch] + "-linux-gnu." + glibc, nil
}

// ziglang is the compiler's package and version.
const ziglang = "ziglang==0.17.1"

// natives writes what needs a C compiler.
func (t tool) natives(ctx context.Context, arch string) error {
	at := filepath.Join(t.into, arch)
	lib := filepath.Join(at, "lib", "foretime")
	cc, err := compiler(ctx, arch)
	if err != nil {
		return err
	}
	cgo := []string{"GOARCH=" + arch, "CGO_ENABLED=1", "CC=" + cc}
	switch t.Name {
	case "chamtool":
		if err := t.build(ctx, cgo, "-buildmode=c-shared", "-o", filepath.Join(lib, "libchamtool.so"), "./cmd/libchamtool"); err != nil {
			return err
		}
		return os.Remove(filepath.Join(lib, "libchamtool.h")) // not meant to be linked
	case "deft": // the release commit contains it
		for _, name := range []string{filepath.Join("made", arch, "libdeft.so"), "deft.py"} {
			body, err := os.ReadFile(filepath.Join(t.Dir, "hook", name))
			if err == nil {
				err = t.write(body, arch, "lib", "foretime", filepath.Base(name))
			}
			if err != nil {
				return err
			}
		}
	case "edgeprof":
		return t.build(ctx, cgo, "-o", filepath.Join(at, "bin", "edgeprof-ort"), "./cmd/edgeprof-ort")
	}
	return nil
}

func (t tool) write(data []byte, path ...string) error {
	at := filepath.Join(append([]string{t.into}, path...)...)
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		return err
	}
	return file.Write(at, func(w io.Writer) error { _, err := w.Write(data); return err })
}
