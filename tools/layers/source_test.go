package layers

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/foretime/foretime/tools/workspace"
)

// File holds the parts of a Go file that the rules check.
type File struct {
	Name    string // slash path from the workspace root
	Module  string // module name, such as "deft"
	Package string // package clause
	Dir     string // slash-separated directory from the workspace root
	Test    bool   // a test file, or a file of a test kit, below testkit
	Imports []Use
	Starts  []Use // go statements
	Calls   []Use // selectors on imported packages, such as "os.Exit", by import path
	Doc     bool  // it has the package comment
	Mute    []Use // commands that run and have no example
}

// Use is a reference to an import path, or to a name in it, with its line.
type Use struct {
	What string
	Line int
}

// Load reads the workspace's Go files.
func Load(ws *workspace.Workspace) ([]File, error) {
	paths, err := goFiles(ws)
	if err != nil {
		return nil, err
	}
	files := make([]File, 0, len(paths))
	for _, path := range paths {
		rel, err := filepath.Rel(ws.Root, path)
		if err != nil {
			return nil, err
		}
		f, err := parse(path, filepath.ToSlash(rel))
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

func parse(path, name string) (File, error) {
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, path, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return File{}, err
	}
	dir := filepath.ToSlash(filepath.Dir(name))
	f := File{
		Name: name, Dir: dir, Package: tree.Name.Name,
		Module: strings.SplitN(name, "/", 2)[0],
		Test:   strings.HasSuffix(name, "_test.go") || strings.Contains(name, "/testkit/"),
		Doc:    tree.Doc.Text() != "",
	}
	known := map[string]string{} // local name -> import path
	for _, spec := range tree.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return File{}, err
		}
		f.Imports = append(f.Imports, Use{imported, set.Position(spec.Pos()).Line})
		local := imported[strings.LastIndex(imported, "/")+1:]
		if spec.Name != nil {
			local = spec.Name.Name
		}
		known[local] = imported
	}
	ast.Inspect(tree, func(n ast.Node) bool {
		if start, ok := n.(*ast.GoStmt); ok {
			f.Starts = append(f.Starts, Use{"go statement", set.Position(start.Pos()).Line})
		}
		if c, ok := n.(*ast.CompositeLit); ok && setsField(c, "RunE") && !setsField(c, "Example") && !setsField(c, "Hidden") {
			f.Mute = append(f.Mute, Use{"a command", set.Position(c.Pos()).Line})
		}
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if id, ok := sel.X.(*ast.Ident); ok && known[id.Name] != "" {
				f.Calls = append(f.Calls, Use{known[id.Name] + "." + sel.Sel.Name, set.Position(sel.Pos()).Line})
			}
		}
		return true
	})
	return f, nil
}

// setsField reports whether a literal sets a field.
func setsField(c *ast.CompositeLit, field string) bool {
	return slices.ContainsFunc(c.Elts, func(e ast.Expr) bool {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok {
			return false
		}
		name, ok := kv.Key.(*ast.Ident)
		return ok && name.Name == field
	})
}

// goFiles returns the Go files of the modules, tests included. As in the go command,
// directories named testdata or starting with a dot or an underscore, and nested
// modules, are left out.
func goFiles(ws *workspace.Workspace) ([]string, error) {
	var files []string
	for _, m := range ws.Modules {
		err := filepath.WalkDir(m.Dir, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && path != m.Dir && skipped(path, d.Name()):
				return filepath.SkipDir
			case !d.IsDir() && strings.HasSuffix(path, ".go"):
				files = append(files, path)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return files, nil
}

func skipped(path, name string) bool {
	_, err := os.Stat(filepath.Join(path, "go.mod"))
	return name == "testdata" || name[0] == '.' || name[0] == '_' || err == nil
}
