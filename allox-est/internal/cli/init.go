package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/foretime/foretime/allox-est/internal/jobspec"
	"github.com/foretime/foretime/allox-est/internal/mark"
	"github.com/foretime/foretime/allox-est/internal/runner"
	"github.com/foretime/foretime/shared/cli"
)

// newInitCommand returns "init": a first job file.
func newInitCommand(env *cli.Env) *cobra.Command {
	var out string
	var epochs int
	cmd := &cobra.Command{
		Use:   "init [--epochs N] -- COMMAND ...",
		Short: "Write a first job file, after a look at what the command prints",
		Long: `Write a first job file, after a look at what the command prints: it is started, and
ended when its output shows what counts, at the latest after half a minute. A word of
the command that is the number of epochs becomes {epochs}.`,
		Example: "  allox-est init -- python3 train.py --epochs 90",
		Args:    commandArgs("want -- COMMAND"),
		RunE: func(cmd *cobra.Command, args []string) error {
			spec := &jobspec.Spec{Command: args, Epochs: epochs, Whole: true}
			if err := spec.Check(); err != nil {
				return &cli.UsageError{Err: err}
			}
			found, err := firstLook(cmd.Context(), env, spec)
			if err != nil {
				return err
			}
			text, err := found.text()
			if err != nil {
				return err
			}
			path := cmp.Or(out, spec.Name+".yaml")
			if _, err := os.Lstat(path); err == nil {
				return fmt.Errorf("%s: is there already", path)
			}
			if err := env.Write(path, func(w io.Writer) error { _, err := w.Write(text); return err }); err != nil {
				return err
			}
			env.Log.Infof("%s: %s", path, found.how)
			return nil
		},
	}
	cmd.Flags().IntVar(&epochs, "epochs", 0, "epochs of the job, where its output does not say")
	cmd.Flags().StringVar(&out, "out", "", "file to write (default: NAME.yaml)")
	cli.OutputFile(cmd, "out")
	return cmd
}

// firstLookTime is how long a command is looked at, and firstMarks how many marks of
// it are enough.
const (
	firstLookTime = 30 * time.Second
	firstMarks    = 4
)

// draft is a first job file.
type draft struct {
	Name    string   `yaml:"name"`
	Command []string `yaml:"command,flow"`
	Epochs  int      `yaml:"epochs"`
	how     string   // what the output showed
}

// firstLook starts a job and reads off its output what counts.
func firstLook(ctx context.Context, env *cli.Env, spec *jobspec.Spec) (*draft, error) {
	look, enough := context.WithTimeout(ctx, firstLookTime)
	defer enough()
	var seen []mark.Mark
	args, err := spec.Args(jobspec.CPU, spec.Epochs, jobspec.Folders{Scratch: runner.ScratchWord})
	if err != nil {
		return nil, err
	}
	res, err := runner.New(runner.Settings{Guard: guardCommand()}).Run(look, runner.Command{
		Args: args, Env: spec.Environ(os.Environ()), Output: env.Stderr, Reader: mark.Reader{Units: float64(spec.Epochs)},
		Marked: func(marks []mark.Mark) {
			if seen = marks; len(marks) >= firstMarks {
				enough()
			}
		},
	})
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err == nil && res.Err != nil:
		return nil, fmt.Errorf("%s: %s", args[0], res.Reason())
	case err != nil && look.Err() == nil:
		return nil, err
	}
	d := &draft{Name: spec.Name, Command: slices.Clone(spec.Command), Epochs: spec.Epochs}
	d.how = fmt.Sprintf("nothing that counts was seen in %v: progress: {pattern: ...} names the lines that do", firstLookTime)
	if len(seen) > 0 {
		d.Epochs = int(seen[0].Of)
		d.how = fmt.Sprintf("the output counts to %d", d.Epochs)
	}
	if d.Epochs == 0 {
		return nil, errors.New("the output does not tell of how many epochs: --epochs N")
	}
	for i, word := range d.Command {
		if word == fmt.Sprint(d.Epochs) {
			d.Command[i] = "{epochs}"
		} else if name, value, ok := strings.Cut(word, "="); ok && value == fmt.Sprint(d.Epochs) {
			d.Command[i] = name + "={epochs}"
		}
	}
	return d, nil
}

// text is the file.
func (d *draft) text() ([]byte, error) {
	body, err := yaml.Marshal(d)
	if err != nil {
		return nil, err
	}
	note := "# A job for allox-est; what else may stand here: allox-est/docs/reference.md\n"
	if !slices.ContainsFunc(d.Command, func(word string) bool { return strings.Contains(word, "{epochs}") }) {
		note += "# Write {epochs} into the command, where its length goes: without it the job is only run whole (run --keep).\n"
	}
	return append([]byte(note), body...), nil
}
