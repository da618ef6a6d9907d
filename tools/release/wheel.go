package release

import (
	"archive/zip"
	"crypto/sha256"
	"debug/elf"
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/semver"
)

// starter is the part of each Python package that starts its program.
//
//go:embed python/_program.py
var starter []byte

// machines maps architectures to their names in wheels.
var machines = map[string]string{"amd64": "x86_64", "arm64": "aarch64"}

// wheel is a wheel being written
// (https://packaging.python.org/specifications/binary-distribution-format).
type wheel struct {
	zip    *zip.Writer
	base   string // NAME-VERSION
	record strings.Builder
	glibc  string // oldest C library that the compiled files work with
	err    error  // first error
}

// wheel packs a program, the other files of its tree for an architecture, and the
// tool's Python modules; the module of the tool's name becomes a package.
func (t tool) wheel(program, arch string) error {
	version := strings.ReplaceAll(strings.TrimPrefix(t.version, "v"), "-", "")
	module := strings.ReplaceAll(t.Name, "-", "_")
	f, err := os.CreateTemp(t.into, ".wheel-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	w := &wheel{zip: zip.NewWriter(f), base: "foretime_" + module + "-" + version, glibc: "v2.17"} // that of manylinux2014
	w.copy(program, w.base+".data/scripts/"+t.Name)
	tree := filepath.Join(t.into, arch)
	w.setError(filepath.WalkDir(tree, func(at string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			w.copy(at, w.place(strings.TrimPrefix(at, tree+"/"), t.Name))
		}
		return err
	}))
	for _, folder := range []string{"python", "hook"} {
		files, _ := filepath.Glob(filepath.Join(t.Dir, folder, "*.py")) // the pattern is well formed
		for _, at := range files {
			name := strings.Replace(filepath.Base(at), module+".py", module+"/__init__.py", 1)
			if strings.HasPrefix(name, "_") {
				name = module + "/" + name
			}
			w.copy(at, name)
		}
	}
	w.add(module+"/_program.py", starter)
	w.add(module+"/py.typed", nil) // PEP 561
	readme, err := os.ReadFile(filepath.Join(t.Dir, "README.md"))
	w.setError(err)
	_, question, _ := strings.Cut(string(readme), "\n**")
	question, _, _ = strings.Cut(question, "**")
	tag := "py3-none-manylinux_" + strings.ReplaceAll(w.glibc[1:], ".", "_") + "_" + machines[arch]
	w.add(w.base+".dist-info/METADATA", fmt.Appendf(nil, `Metadata-Version: 2.4
Name: foretime-%s
Version: %s
Summary: %s
Project-URL: Homepage, https://%s
License-Expression: Apache-2.0
License-File: copyright
License-File: licences.txt
Requires-Python: >=3.8
Description-Content-Type: text/markdown

%s`, t.Name, version, question, repository, readme))
	w.add(w.base+".dist-info/WHEEL", []byte("Wheel-Version: 1.0\nGenerator: foretime\nRoot-Is-Purelib: false\nTag: "+tag+"\n"))
	w.add(w.base+".dist-info/RECORD", []byte(w.record.String()+w.base+".dist-info/RECORD,,\n"))
	w.setError(errors.Join(w.zip.Close(), f.Chmod(0o644), os.Rename(f.Name(), filepath.Join(t.into, w.base+"-"+tag+".whl"))))
	return w.err
}

// place returns the place of a prefix's file in the wheel: programs and papers
// where Python looks for them (PEP 639, PEP 770), the rest below the environment.
func (w *wheel) place(name, tool string) string {
	paper, isPaper := strings.CutPrefix(name, "share/doc/"+tool+"/")
	switch {
	case strings.HasPrefix(name, "bin/"):
		return w.base + ".data/scripts/" + strings.TrimPrefix(name, "bin/")
	case strings.HasPrefix(paper, "sbom"):
		return w.base + ".dist-info/sboms/" + paper
	case isPaper:
		return w.base + ".dist-info/licenses/" + paper
	}
	return w.base + ".data/data/" + name
}

// copy adds a file, and checks which C library it needs (PEP 600).
func (w *wheel) copy(from, name string) {
	body, err := os.ReadFile(from)
	w.setError(err)
	w.add(name, body)
	f, err := elf.Open(from)
	if err != nil {
		return // not compiled
	}
	defer f.Close()
	symbols, err := f.ImportedSymbols()
	if !errors.Is(err, elf.ErrNoSymbols) {
		w.setError(err)
	}
	for _, s := range symbols {
		if v, ok := strings.CutPrefix(s.Version, "GLIBC_"); ok && semver.Compare("v"+v, w.glibc) > 0 {
			w.glibc = "v" + v
		}
	}
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
