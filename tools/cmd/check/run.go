package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/foretime/foretime/tools/workspace"
)

func eachModule(ws *workspace.Workspace, env []string, name string, args ...string) ([]string, error) {
	var findings []string
	for _, m := range ws.Modules {
		out, err := command(m.Dir, env, name, args...)
		if err != nil {
			return findings, err
		}
		for _, line := range out {
			findings = append(findings, m.Name+": "+line)
		}
	}
	return findings, nil
}

// command runs a program in dir and returns its output as findings: all of it if
// the program failed, and only stdout if it did not.
func command(dir string, env []string, name string, args ...string) ([]string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	findings := lines(stdout.String())
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		findings = append(findings, lines(stderr.String())...)
		if len(findings) == 0 {
			findings = []string{fmt.Sprintf("%s: %v", name, err)}
		}
		return findings, nil
	}
	return findings, err
}

func lines(s string) []string {
	s = strings.TrimRight(s, "\n")
	if s == "" {
		return nil
	}
	return strings.Split(s, "\n")
}
