package slurm

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// ErrSlurm is returned when one of Slurm's commands fails.
var ErrSlurm = errors.New("slurm")

// Submit submits the script with its arguments, options of sbatch before it, and
// returns the job's number. The error wraps ErrSlurm and holds what sbatch says.
func (s *Script) Submit(ctx context.Context, options, args []string) (string, error) {
	argv := append(append([]string{"--parsable"}, options...), s.Path)
	cmd := exec.CommandContext(ctx, "sbatch", append(argv, args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", failed(err, stderr.String())
	}
	return number(string(out)), nil
}

// Run submits a command with the script's directives and waits for its end;
// started is told the job's number. When ctx ends the job is cancelled. The error
// wraps ErrSlurm.
func (s *Script) Run(ctx context.Context, options, argv []string, started func(job string)) error {
	cmd := exec.Command("sbatch", append([]string{"--parsable", "--wait"}, options...)...)
	cmd.Stdin = strings.NewReader(s.wrap(argv))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("%w: %w", ErrSlurm, err)
	}
	line, _ := bufio.NewReader(out).ReadString('\n')
	job := number(line)
	if job != "" {
		started(job)
	}
	stop := context.AfterFunc(ctx, func() {
		if job != "" {
			cancel(job)
		}
		_ = cmd.Process.Kill()
	})
	err = cmd.Wait()
	stop()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return failed(err, stderr.String())
	}
	return nil
}

// patience is how long a command of Slurm's may take when the user has had
// enough.
const patience = 20 * time.Second

func cancel(job string) {
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	_ = exec.CommandContext(ctx, "scancel", job).Run()
}

// number is the job's in what sbatch --parsable prints: NUMBER or NUMBER;CLUSTER.
func number(line string) string {
	n, _, _ := strings.Cut(strings.TrimSpace(line), ";")
	return n
}

func failed(err error, stderr string) error {
	if text := strings.Join(strings.Fields(stderr), " "); text != "" {
		return fmt.Errorf("%w: sbatch: %s", ErrSlurm, text)
	}
	return fmt.Errorf("%w: sbatch: %w", ErrSlurm, err)
}
