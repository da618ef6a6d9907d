package release

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"golang.org/x/mod/module"
)

const (
	repository = "github.com/foretime/foretime"
	prefix     = repository + "/"
)

// Downloaded is a module as downloaded by the go command.
type Downloaded struct {
	Path, Version string
	Sum, GoModSum string // as in go.sum
	Error         string
}

// Download downloads a tagged module from the repository at root, as from the
// published one, into a module cache of its own, whose directory cache/download
// then serves as a module proxy.
func Download(ctx context.Context, root, cache string, m module.Version) (*Downloaded, error) {
	fetch := command{dir: os.TempDir(), name: "go", env: []string{
		"GOWORK=off", "GOFLAGS=-modcacherw", "GOMODCACHE=" + cache, "GOPROXY=direct", "GONOSUMDB=" + repository, "GOPRIVATE=",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=url." + root + ".insteadOf", "GIT_CONFIG_VALUE_0=https://" + repository,
	}}
	out, err := fetch.run(ctx, "mod", "download", "-json", m.String())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m, err)
	}
	var d Downloaded
	if err := json.Unmarshal(out, &d); err != nil {
		return nil, fmt.Errorf("%s: what go mod download printed: %w", m, err)
	}
	return &d, nil
}

// command is a program with its directory and additional environment variables.
type command struct {
	dir, name string
	env       []string
}

// run returns the program's output.
func (c command) run(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, c.name, args...)
	cmd.Dir = c.dir
	cmd.Env = append(os.Environ(), c.env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w: %s%s", c.name, strings.Join(args, " "), err, out, stderr.Bytes())
	}
	return out, nil
}
