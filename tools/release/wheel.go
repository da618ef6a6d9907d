package release

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"debug/elf"
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/semver"

	"github.com/foretime/foretime/tools/workspace"
)

// starter is the part of each Python package that starts its program.
//
//go:embed python/_program.py
var starter []byte

// mainModule is the module that python3 -m runs.
//
//go:embed python/__main__.py
var mainModule []byte

// machines maps architectures to their names in wheels.
var machines = map[string]string{"amd64": "x86_64", "arm64": "aarch64"}

// Tags of platforms (PEP 600, PEP 656), each before the name of a machine. A static
// program runs on both.
var (
	manylinux = []string{"manylinux_2_17", "manylinux2014"}
	musllinux = []string{"musllinux_1_1"}
)

// wheel is a wheel being written
// (https://packaging.python.org/specifications/binary-distribution-format).
type wheel struct {
	zip    *zip.Writer
	base   string // NAME-VERSION
	record strings.Builder
	err    error // first error
}

// newWheel starts a wheel; pip calls the project foretime-NAME, or foretime if name
// is empty.
func newWheel(to io.Writer, name, version string) *wheel {
	version = strings.ReplaceAll(strings.TrimPrefix(version, "v"), "-", "")
	project := strings.ReplaceAll(strings.TrimSuffix("foretime-"+name, "-"), "-", "_")
	return &wheel{zip: zip.NewWriter(to), base: project + "-" + version}
}

// wheels packs the tool for an architecture: one wheel for every C library if all its
// programs are static, else one for glibc and one for musl without what needs glibc.
func (t tool) wheels(program, arch string, modules map[string][]byte) error {
	tree := filepath.Join(t.into, arch)
	var static, linked []string
	err := filepath.WalkDir(tree, func(at string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		glibc, err := needsGlibc(at)
		if glibc {
			linked = append(linked, at)
		} else {
			static = append(static, at)
		}
		return err
	})
	if err != nil {
		return err
	}
	if len(linked) == 0 {
		return t.wheel(program, arch, modules, static, slices.Concat(manylinux, musllinux))
	}
	return errors.Join(
		t.wheel(program, arch, modules, append(slices.Clone(static), linked...), manylinux),
		t.wheel(program, arch, modules, static, musllinux))
}

// wheel packs a program, files of its tree for an architecture, and the tool's Python
// modules; the module of the tool's name becomes a package.
func (t tool) wheel(program, arch string, modules map[string][]byte, files, platforms []string) error {
	f, err := os.CreateTemp(t.into, ".wheel-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	w := newWheel(f, t.Name, t.version)
	w.copy(program, w.base+".data/scripts/"+t.Name)
	for _, at := range files {
		w.copy(at, w.place(strings.TrimPrefix(at, filepath.Join(t.into, arch)+"/"), t.Name))
	}
	for _, name := range slices.Sorted(maps.Keys(modules)) {
		w.add(name, modules[name])
	}
	readme, err := os.ReadFile(filepath.Join(t.Dir, "README.md"))
	w.setError(err)
	tag := "py3-none-" + strings.Join(platforms, "_"+machines[arch]+".") + "_" + machines[arch]
	w.describe(t.Name, string(readme), tag, "License-File: copyright\nLicense-File: licences.txt\n")
	w.setError(errors.Join(w.zip.Close(), f.Chmod(0o644), os.Rename(f.Name(), filepath.Join(t.into, w.base+"-"+tag+".whl"))))
	return w.err
}

// pythonModules returns the Python files of a tool by their names below site-packages:
// those in its directory dir, and the functions of its commands, as the program describes
// them. The module of the tool's name becomes a package with the modules that begin with _.
func pythonModules(ctx context.Context, dir, name, program string) (map[string][]byte, error) {
	commands, err := Commands(ctx, name, program)
	if err != nil {
		return nil, err
	}
	module := strings.ReplaceAll(name, "-", "_")
	modules := map[string][]byte{
		module + "/_program.py":  starter,
		module + "/__main__.py":  mainModule,
		module + "/_commands.py": commands,
		module + "/py.typed":     nil, // PEP 561
	}
	for _, folder := range []string{"python", "hook"} {
		files, _ := filepath.Glob(filepath.Join(dir, folder, "*.py*")) // the pattern is well formed
		for _, at := range files {
			name := strings.Replace(filepath.Base(at), module+".py", module+"/__init__.py", 1)
			if strings.HasPrefix(name, "_") {
				name = module + "/" + name
			}
			body, err := os.ReadFile(at)
			if err != nil {
				return nil, err
			}
			modules[name] = body
		}
	}
	return modules, nil
}

// wheelOfAll packs the project foretime, which contains nothing and requires all tools.
func wheelOfAll(ws *workspace.Workspace, tools []tool, version, into string) error {
	readme, err := os.ReadFile(filepath.Join(ws.Root, "README.md"))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(into, 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(into, ".wheel-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	w := newWheel(f, "", version)
	_, number, _ := strings.Cut(w.base, "-")
	var fields strings.Builder
	for _, t := range tools {
		fmt.Fprintf(&fields, "Requires-Dist: foretime-%s==%s\n", t.Name, number)
	}
	w.describe("", string(readme), "py3-none-any", fields.String())
	w.setError(errors.Join(w.zip.Close(), f.Chmod(0o644), os.Rename(f.Name(), filepath.Join(into, w.base+"-py3-none-any.whl"))))
	return w.err
}

// describe adds the wheel's own papers: metadata with further fields, its tags in the
// form of file names, and the record of all files. It must be called last.
func (w *wheel) describe(name, readme, tag, fields string) {
	_, question, _ := strings.Cut(readme, "\n**")
	question, _, _ = strings.Cut(question, "**")
	_, version, _ := strings.Cut(w.base, "-")
	w.add(w.base+".dist-info/METADATA", fmt.Appendf(nil, `Metadata-Version: 2.4
Name: %s
Version: %s
Summary: %s
Project-URL: Homepage, https://%s
License-Expression: Apache-2.0
%sRequires-Python: >=3.8
Description-Content-Type: text/markdown

%s`, strings.TrimSuffix("foretime-"+name, "-"), version, question, repository, fields, readme))
	pure := "false"
	if strings.HasSuffix(tag, "-any") {
		pure = "true"
	}
	text := "Wheel-Version: 1.0\nGenerator: foretime\nRoot-Is-Purelib: " + pure + "\n"
	for _, platform := range strings.Split(strings.TrimPrefix(tag, "py3-none-"), ".") {
		text += "Tag: py3-none-" + platform + "\n"
	}
	w.add(w.base+".dist-info/WHEEL", []byte(text))
	w.add(w.base+".dist-info/RECORD", []byte(w.record.String()+w.base+".dist-info/RECORD,,\n"))
}

// place returns the place of a prefix's file in the wheel: programs and papers
// where Python looks for them (PEP 639, PEP 770), the rest below the environment. pip
// install --target drops data in lib, hence libexec.
func (w *wheel) place(name, tool string) string {
	paper, isPaper := strings.CutPrefix(name, "share/doc/"+tool+"/")
	switch {
	case strings.HasPrefix(name, "bin/"):
		return w.base + ".data/scripts/" + strings.TrimPrefix(name, "bin/")
	case strings.HasPrefix(name, "lib/"):
		return w.base + ".data/data/libexec/" + strings.TrimPrefix(name, "lib/")
	case strings.HasPrefix(paper, "sbom"):
		return w.base + ".dist-info/sboms/" + paper
	case isPaper:
		return w.base + ".dist-info/licenses/" + paper
	}
	return w.base + ".data/data/" + name
}

// copy adds a file.
func (w *wheel) copy(from, name string) {
	body, err := os.ReadFile(from)
	w.setError(err)
	w.add(name, body)
}

// glibc is the oldest C library that compiled files run with: that of manylinux2014,
// CentOS 7 and every later system.
const glibc = "2.17"

// needsGlibc says whether a file is compiled and linked to glibc. It is an error if
// the file needs a version of it above glibc.
func needsGlibc(path string) (bool, error) {
	f, err := elf.Open(path)
	if format := new(elf.FormatError); errors.As(err, &format) || errors.Is(err, io.EOF) {
		return false, nil // not compiled
	} else if err != nil {
		return false, err
	}
	defer f.Close()
	libraries, err := f.ImportedLibraries()
	if err != nil {
		return false, fmt.Errorf("%s: %w", path, err)
	}
	symbols, err := f.ImportedSymbols()
	if err != nil && !errors.Is(err, elf.ErrNoSymbols) {
		return false, fmt.Errorf("%s: %w", path, err)
	}
	for _, s := range symbols {
		if v, ok := strings.CutPrefix(s.Version, "GLIBC_"); ok && semver.Compare("v"+v, "v"+glibc) > 0 {
			return true, fmt.Errorf("%s: %s needs glibc %s; packages are for %s", path, s.Name, v, glibc)
		}
	}
	return len(libraries) > 0, nil
}

// add adds an entry and its row of the record.
func (w *wheel) add(name string, body []byte) {
	header := &zip.FileHeader{Name: name, Method: zip.Deflate}
	header.SetMode(0o644)
	if strings.Contains(name, "/scripts/") {
		header.SetMode(0o755)
	}
	entry, err := w.zip.CreateHeader(header)
	if err == nil {
		_, err = entry.Write(body)
	}
	w.setError(err)
	sum := sha256.Sum256(body)
	fmt.Fprintf(&w.record, "%s,sha256=%s,%d\n", name, base64.RawURLEncoding.EncodeToString(sum[:]), len(body))
}

// setError keeps the first error.
func (w *wheel) setError(err error) {
	if w.err == nil {
		w.err = err
	}
}
