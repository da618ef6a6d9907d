package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/mirage/internal/samples"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/file"
)

// arrayScript returns the script of the tasks of a job array: this program with the
// same arguments and the task's shard.
func arrayScript(program string, args []string, parts int) string {
	quoted := []string{quote(program)}
	for i := 0; i < len(args); i++ {
		switch {
		case args[i] == "--slurm" || args[i] == "--slurm-option":
			i++ // and its value
		case strings.HasPrefix(args[i], "--slurm=") || strings.HasPrefix(args[i], "--slurm-option="):
		default:
			quoted = append(quoted, quote(args[i]))
		}
	}
	return fmt.Sprintf("#!/bin/sh\nexec %s --shard \"$SLURM_ARRAY_TASK_ID/%d\"\n", strings.Join(quoted, " "), parts)
}

// quote returns s as a quoted word of the shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// jobArray runs this command as a Slurm job array.
type jobArray struct {
	parts   int // 0: no job array
	options []string
}

func (a *jobArray) flags(c *cobra.Command) {
	c.Flags().IntVar(&a.parts, "slurm", 0, "run as a Slurm job array of N shards and wait for it")
	c.Flags().StringArrayVar(&a.options, "slurm-option", nil, "option of sbatch, such as --partition=cpu (may be repeated)")
}

// run submits this command with its arguments, one task per shard, and waits for the
// end. The directory out must be on a file system that the nodes share; it keeps the
// script and the tasks' output.
func (a *jobArray) run(ctx context.Context, env *cli.Env, out string, args []string) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	if out, err = filepath.Abs(out); err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	script := filepath.Join(out, "array.sh")
	text := arrayScript(program, args, a.parts)
	if err := file.Write(script, func(w io.Writer) error { _, err := io.WriteString(w, text); return err }); err != nil {
		return err
	}
	argv := append([]string{
		"--wait", "--parsable", "--array=0-" + strconv.Itoa(a.parts-1), "--job-name=mirage-generate",
		"--output=" + filepath.Join(out, "array-%a.log"),
	}, a.options...)
	cmd := exec.CommandContext(ctx, "sbatch", append(argv, script)...)
	cmd.Stderr = env.Stderr
	id, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("sbatch: job %s: %w; output of the tasks: %s", strings.TrimSpace(string(id)), err, filepath.Join(out, "array-*.log"))
	}
	manifest, err := samples.LoadManifest(out)
	if err != nil {
		return err
	}
	if missing := manifest.Missing(out); len(missing) > 0 {
		return fmt.Errorf("%s: the job array did not write %d of %d blocks; the first is %d", out, len(missing), manifest.Blocks, missing[0])
	}
	return nil
}
