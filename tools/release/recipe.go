package release

import (
	"bufio"
	"embed"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"text/template"

	"github.com/foretime/foretime/shared/file"
	"github.com/foretime/foretime/tools/workspace"
)

//go:embed recipes
var recipes embed.FS

// Archive is a file of a release and its SHA-256.
type Archive struct{ Name, Sum string }

// recipe holds the facts of a release that recipes state.
type recipe struct {
	Version, Repository, Prefix, Go string
	List                            []string
	Archives                        []Archive // of the tools, for both processors
	Source                          Archive
}

// Tools returns the names in quotes, with commas; Words with spaces.
func (r recipe) Tools() string { return "'" + strings.Join(r.List, "', '") + "'" }

// Words returns the names with spaces.
func (r recipe) Words() string { return strings.Join(r.List, " ") }

// Count returns the number of tools.
func (r recipe) Count() int { return len(r.List) }

// errNoArchive is returned if a release lacks a file that recipes need.
var errNoArchive = errors.New("is not in SHA256SUMS")

// Recipes writes the recipes of other package managers for a release whose files, with
// SHA256SUMS, are in dist: package.py (Spack), foretime-VERSION.eb (EasyBuild) and
// recipe.yaml (conda-forge).
func Recipes(ws *workspace.Workspace, version, dist, into string) error {
	r := recipe{Version: strings.TrimPrefix(version, "v"), Repository: repository, Prefix: prefix, Go: strings.TrimPrefix(runtime.Version(), "go")}
	r.Go, _, _ = strings.Cut(r.Go, "-")
	for _, m := range ws.Modules {
		if _, err := os.Stat(filepath.Join(m.Dir, "cmd", m.Name)); err == nil {
			r.List = append(r.List, m.Name)
		}
	}
	sums, err := os.ReadFile(filepath.Join(dist, "SHA256SUMS"))
	if err != nil {
		return err
	}
	byName := map[string]string{}
	for s := bufio.NewScanner(strings.NewReader(string(sums))); s.Scan(); {
		if sum, name, ok := strings.Cut(s.Text(), "  "); ok {
			byName[name] = sum
		}
	}
	find := func(name string) Archive {
		if byName[name] == "" {
			err = errors.Join(err, fmt.Errorf("%s: %s %w", dist, name, errNoArchive))
		}
		return Archive{name, byName[name]}
	}
	r.Source = find("foretime_" + r.Version + "_source.tar.gz")
	for _, tool := range r.List {
		for _, arch := range architectures {
			r.Archives = append(r.Archives, find(tool+"_"+r.Version+"_linux_"+arch+".tar.gz"))
		}
	}
	if err != nil {
		return err
	}
	all, err := template.ParseFS(recipes, "recipes/*")
	if err != nil {
		return err
	}
	for _, t := range all.Templates() {
		name := strings.Replace(t.Name(), "foretime.eb", "foretime-"+r.Version+".eb", 1)
		err := file.Write(filepath.Join(into, name), func(w io.Writer) error { return t.Execute(w, r) })
		if err != nil {
			return err
		}
	}
	return nil
}
