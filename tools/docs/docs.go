package docs

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"

	"github.com/foretime/foretime/tools/workspace"
)

// Check returns one line, "file:line: what is missing", for each gap.
func Check(ws *workspace.Workspace) ([]string, error) {
	paths, err := ws.GoFiles()
	if err != nil {
		return nil, err
	}
	c := checker{root: ws.Root, set: token.NewFileSet(), documented: map[string]bool{}}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		if err := c.file(path); err != nil {
			return nil, err
		}
	}
	for _, dir := range c.dirs {
		if !c.documented[dir] {
			c.gaps = append(c.gaps, fmt.Sprintf("%s: package without its comment (doc.go, or main.go for a command)", c.rel(dir)))
		}
	}
	return c.gaps, nil
}

type checker struct {
	root       string
	set        *token.FileSet
	dirs       []string        // folders with a package, in order
	documented map[string]bool // those whose doc.go or main.go has the package comment
	gaps       []string
}

func (c *checker) file(path string) error {
	tree, err := parser.ParseFile(c.set, path, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	dir := filepath.Dir(path)
	if _, seen := c.documented[dir]; !seen {
		c.documented[dir] = false
		c.dirs = append(c.dirs, dir)
	}
	if base := filepath.Base(path); tree.Doc != nil && (base == "doc.go" || tree.Name.Name == "main") {
		c.documented[dir] = true
	}
	if tree.Name.Name == "main" {
		return nil
	}
	for _, decl := range tree.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Doc == nil && d.Name.IsExported() && exportedReceiver(d) {
				c.gap(d.Name)
			}
		case *ast.GenDecl:
			c.general(d)
		}
	}
	return nil
}

// general checks types, constants and variables; a comment over a group
// speaks for its members.
func (c *checker) general(d *ast.GenDecl) {
	for _, spec := range d.Specs {
		switch s := spec.(type) {
		case *ast.TypeSpec:
			if d.Doc == nil && s.Doc == nil && s.Name.IsExported() {
				c.gap(s.Name)
			}
		case *ast.ValueSpec:
			for _, name := range s.Names {
				if d.Doc == nil && s.Doc == nil && s.Comment == nil && name.IsExported() {
					c.gap(name)
				}
			}
		}
	}
}

func (c *checker) gap(name *ast.Ident) {
	pos := c.set.Position(name.Pos())
	c.gaps = append(c.gaps, fmt.Sprintf("%s:%d: exported %s without a comment", c.rel(pos.Filename), pos.Line, name.Name))
}

func (c *checker) rel(path string) string {
	if rel, err := filepath.Rel(c.root, path); err == nil {
		return filepath.ToSlash(rel)
	}
	return path
}

// methodsOfNote are interface methods whose meaning is the interface's.
var methodsOfNote = map[string]bool{
	"Error": true, "Unwrap": true, "Is": true, "As": true, "String": true,
	"Len": true, "Less": true, "Swap": true, "Push": true, "Pop": true,
}

func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	if methodsOfNote[d.Name.Name] {
		return false
	}
	t := d.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.IsExported()
		default:
			return true
		}
	}
}
