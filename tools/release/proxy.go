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

// Downloaded is a module as the go command fetched it.
type Downloaded struct {
	Path, Version string
	Sum, GoModSum string // as in go.sum
	Error         string
}

// Download has the go command fetch a tagged module from the repository at root
// as it would from the published one, into a module cache of its own. What that
// has below cache/download is a folder of the module proxy protocol.
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

// command is a program in a folder, with variables beside the process's own.
type command struct {
	dir, name string
	env       []string
}

// run returns what the program printed.
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
