package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/foretime/foretime/tools/workspace"
)

const ours = "github.com/foretime/foretime"

// dead returns the functions that no command reaches, and the packages that no
// command imports. Functions called from C count as reached.
func dead(ws *workspace.Workspace) ([]string, error) {
	mains, err := commands(ws)
	if err != nil {
		return nil, err
	}
	findings, err := parked(ws, mains)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "dead-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	overlay, err := reached(ws, dir)
	if err != nil {
		return nil, err
	}
	tool := filepath.Join(ws.Root, "out", "bin", "deadcode")
	functions, err := command(ws.Root, []string{"GOFLAGS=-overlay=" + overlay}, tool, append([]string{"-filter", ours}, mains...)...)
	return append(findings, functions...), err
}

// parked returns the packages with code that no command imports, except test kits,
// named NAMEtest.
func parked(ws *workspace.Workspace, mains []string) ([]string, error) {
	used, err := command(ws.Root, nil, "go", append([]string{"list", "-deps"}, mains...)...)
	if err != nil {
		return nil, err
	}
	// A package with only a doc.go has no code.
	code := `{{if and .GoFiles (ne (join .GoFiles " ") "doc.go") (ne .Name "main")}}{{.ImportPath}}{{end}}`
	all, err := command(ws.Root, nil, "go", "list", "-f", code, "work")
	if err != nil {
		return nil, err
	}
	var findings []string
	for _, path := range all {
		if !slices.Contains(used, path) && !strings.HasSuffix(path, "test") {
			findings = append(findings, path+": no command imports it")
		}
	}
	return findings, nil
}

// reached writes an overlay for the go command: a copy of each file with functions
// exported to C that calls them from Go, because deadcode analyses Go only. It
// returns the name of the overlay.
func reached(ws *workspace.Workspace, dir string) (string, error) {
	replace := map[string]string{}
	for _, folder := range withCgo {
		files, err := filepath.Glob(filepath.Join(ws.Root, folder, "*.go"))
		if err != nil {
			return "", err
		}
		for _, file := range files {
			text, err := withCalls(file)
			if err != nil {
				return "", err
			}
			if text == nil {
				continue
			}
			replace[file] = filepath.Join(dir, fmt.Sprintf("%d.go", len(replace)))
			if err := os.WriteFile(replace[file], text, 0o644); err != nil {
				return "", err
			}
		}
	}
	overlay := filepath.Join(dir, "overlay.json")
	data, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	return overlay, os.WriteFile(overlay, data, 0o644)
}

// withCalls returns a file's text with an init that calls every function it exports
// to C, nil if it exports none.
func withCalls(file string) ([]byte, error) {
	text, err := os.ReadFile(file)
	if err != nil || !bytes.Contains(text, []byte("\n//export ")) {
		return nil, err
	}
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, file, text, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	b := bytes.NewBuffer(append(text, "\nfunc init() {\n"...))
	for _, d := range tree.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && exported(f) {
			fmt.Fprintf(b, "%s(%s)\n", f.Name.Name, strings.Join(zeros(set, f.Type.Params), ", "))
		}
	}
	b.WriteString("}\n")
	return b.Bytes(), nil
}

func exported(f *ast.FuncDecl) bool {
	return f.Doc != nil && slices.ContainsFunc(f.Doc.List, func(c *ast.Comment) bool { return strings.HasPrefix(c.Text, "//export ") })
}

// zeros returns a zero value for each parameter, as source.
func zeros(set *token.FileSet, params *ast.FieldList) []string {
	var values []string
	for _, p := range params.List {
		var b strings.Builder
		b.WriteString("*new(")
		_ = printer.Fprint(&b, set, p.Type) // a strings.Builder returns no error
		b.WriteString(")")
		for range max(1, len(p.Names)) {
			values = append(values, b.String())
		}
	}
	return values
}
