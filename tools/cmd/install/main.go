// Command install installs the real components that tests use: those in the
// modules' real.txt, and in further such files given as arguments. `make real` runs
// it.
package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/tools/workspace"
)

func main() { cli.Main(newRoot) }

func newRoot(*cli.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "install [FILE...]",
		Short: "install the real components that tests drive",
		Long: `Install what the modules' real.txt and more such files name: Debian packages into
the system, those of npm and pip below out/real.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, files []string) error {
			ws, err := workspace.Find(".")
			if err != nil {
				return err
			}
			needs, err := needed(ws, files)
			if err != nil {
				return err
			}
			into := filepath.Join(ws.Root, "out", "real")
			if err := os.MkdirAll(into, 0o755); err != nil {
				return err
			}
			for _, line := range lines(needs, into) {
				if err := shell(c.Context(), into, line); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// versions maps each kind to the separator between a package's name and its
// version.
var versions = map[string]string{"apt": "", "npm": "@", "pip": "=="}

// needed reads the real.txt of each module that has one, and further such files:
// one package per line, "apt NAME", "npm NAME@VERSION" or "pip NAME==VERSION"; #
// starts a comment. It returns the names by kind, each once, in order; if npm or
// pip is needed and missing, its Debian package is one of those of apt.
func needed(ws *workspace.Workspace, more []string) (map[string][]string, error) {
	files := more
	for _, m := range ws.Modules {
		if path := filepath.Join(m.Dir, "real.txt"); exists(path) {
			files = append(files, path)
		}
	}
	needs, seen := map[string][]string{}, map[string]bool{}
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		for i, line := range strings.Split(string(data), "\n") {
			line, _, _ = strings.Cut(line, "#")
			fields := strings.Fields(line)
			if len(fields) > 0 && !validLine(fields) {
				return nil, fmt.Errorf("%s:%d: want \"apt NAME\", \"npm NAME@VERSION\" or \"pip NAME==VERSION\", found %q", path, i+1, strings.TrimSpace(line))
			}
			if need := strings.Join(fields, " "); need != "" && !seen[need] {
				seen[need] = true
				needs[fields[0]] = append(needs[fields[0]], fields[1])
			}
		}
	}
	if len(needs["npm"]) > 0 && !runs("npm", "--version") {
		needs["apt"] = append(needs["apt"], "npm")
	}
	if len(needs["pip"]) > 0 && !runs("python3", "-m", "pip", "--version") {
		needs["apt"] = append(needs["apt"], "python3-pip")
	}
	return needs, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// validLine reports whether the words of a line name a package, with its version if the
// kind needs one.
func validLine(fields []string) bool {
	if len(fields) != 2 {
		return false
	}
	mark, known := versions[fields[0]]
	at := strings.LastIndex(fields[1], mark) // the last one, for npm's @SCOPE/NAME@VERSION
	return known && at > 0 && (mark == "" || at+len(mark) < len(fields[1]))
}

func runs(name string, args ...string) bool { return exec.Command(name, args...).Run() == nil }

// lines returns the command lines that install the packages of each kind.
func lines(needs map[string][]string, into string) [][]string {
	var all [][]string
	if names := needs["apt"]; len(names) > 0 {
		all = append(all,
			asRoot("apt-get", "update"),
			asRoot("apt-get", append([]string{"install", "-y", "--no-install-recommends"}, names...)...))
	}
	if names := needs["npm"]; len(names) > 0 {
		all = append(all, append([]string{"npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", into}, names...))
	}
	for _, name := range needs["pip"] {
		all = append(all, []string{"python3", "-m", "pip", "install", "--only-binary=:all:", "--no-deps", "--upgrade",
			"--target", filepath.Join(into, "pip", name), name})
	}
	return all
}

func asRoot(name string, args ...string) []string {
	line := append([]string{name}, args...)
	if os.Geteuid() != 0 {
		return append([]string{"sudo", "--preserve-env=DEBIAN_FRONTEND"}, line...)
	}
	return line
}

func shell(ctx context.Context, dir string, argv []string) error {
	fmt.Println(strings.Join(argv, " "))
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(argv, " "), err, out)
	}
	return nil
}
