package slurmview

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// ErrCommand is returned when a Slurm command cannot be run, fails or takes
// too long.
var ErrCommand = errors.New("command failed")

// Runner runs a command and returns what it wrote to stdout. A command that
// cannot be started or does not exit with 0 is an error that holds what it
// wrote to stderr. The command inherits held, where it is not nil, and holds
// it open for as long as it runs.
type Runner interface {
	Run(ctx context.Context, argv []string, held *os.File) ([]byte, error)
}

// Exec runs commands as processes of this machine.
type Exec struct {
	// Env is the environment; nil is that of this process.
	Env []string
	// Timeout ends a command that takes longer; 0 is two minutes.
	Timeout time.Duration
}

var _ Runner = Exec{}

// Run implements Runner. The command has a process group of its own, which keeps Ctrl-C from
// ending it half-way.
func (e Exec) Run(ctx context.Context, argv []string, held *os.File) ([]byte, error) {
	timeout := e.Timeout
	if timeout == 0 {
		timeout = 2 * time.Minute
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = e.Env
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = time.Second
	if held != nil {
		cmd.ExtraFiles = []*os.File{held}
	}
	if err := cmd.Run(); err != nil {
		if cause := ctx.Err(); cause != nil {
			err = cause
		}
		said := strings.Join(strings.FieldsFunc(stderr.String(), func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
		if said != "" {
			return nil, fmt.Errorf("%s: %w: %w: %s", argv[0], ErrCommand, err, said)
		}
		return nil, fmt.Errorf("%s: %w: %w", argv[0], ErrCommand, err)
	}
	return stdout.Bytes(), nil
}
