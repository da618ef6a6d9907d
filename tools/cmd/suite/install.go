package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/foretime/foretime/tools/suite"
	"github.com/foretime/foretime/tools/workspace"
)

// install installs what the modules' real.txt, and more such files, name: Debian
// packages into the system, the others below out/real, npm's in node_modules and
// each of pip's in pip/NAME==VERSION.
func install(ctx context.Context, ws *workspace.Workspace, more ...string) error {
	needs, err := suite.Needs(ws, more...)
	if err != nil {
		return err
	}
	byKind := map[string][]string{}
	for _, n := range needs {
		byKind[n.Kind] = append(byKind[n.Kind], n.Name)
	}
	if len(byKind["npm"]) > 0 && !runs("npm", "--version") {
		byKind["apt"] = append(byKind["apt"], "npm")
	}
	if len(byKind["pip"]) > 0 && !runs("python3", "-m", "pip", "--version") {
		byKind["apt"] = append(byKind["apt"], "python3-pip")
	}
	into := filepath.Join(ws.Root, "out", "real")
	if err := os.MkdirAll(into, 0o755); err != nil {
		return err
	}
	for _, line := range lines(byKind, into) {
		if err := shell(ctx, into, line); err != nil {
			return err
		}
	}
	return nil
}

func runs(name string, args ...string) bool { return exec.Command(name, args...).Run() == nil }

// lines returns the command lines that install needs by their kind.
func lines(byKind map[string][]string, into string) [][]string {
	var all [][]string
	if names := byKind["apt"]; len(names) > 0 {
		all = append(all,
			asRoot("apt-get", "update"),
			asRoot("apt-get", append([]string{"install", "-y", "--no-install-recommends"}, names...)...))
	}
	if names := byKind["npm"]; len(names) > 0 {
		all = append(all, append([]string{"npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", into}, names...))
	}
	for _, name := range byKind["pip"] {
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
