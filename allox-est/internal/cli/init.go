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
	"github.com/foretime/foretime/allox-est/internal/launch"
	"github.com/foretime/foretime/allox-est/internal/progress"
	"github.com/foretime/foretime/shared/cli"
)

// newInitCommand returns "init": a first job file.
func newInitCommand(env *cli.Env) *cobra.Command {
	var out string
	var epochs int
	cmd := &cobra.Command{
		Use:   "init [--epochs N] -- COMMAND ...",
		Short: "Write a job file from a trial run of the command",
		Long: `Start the command, read its progress from the output, end it after a few epochs or
30 s, and write a job file. A word of the command that equals the number of epochs
becomes {epochs}.`,
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
				return fmt.Errorf("%s: file exists already", path)
			}
			if err := env.Write(path, func(w io.Writer) error { _, err := w.Write(text); return err }); err != nil {
				return err
			}
			env.Log.Infof("%s: %s", path, found.how)
			return nil
		},
	}
	cmd.Flags().IntVar(&epochs, "epochs", 0, "epochs of the job, if its output does not contain them")
	cmd.Flags().StringVar(&out, "out", "", "file to write (default: NAME.yaml)")
	cli.OutputFile(cmd, "out")
	return cmd
}

// firstLookTime limits the trial run of a command; it ends earlier, after firstMarks
// marks.
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

// firstLook starts a job and reads its progress from the output.
func firstLook(ctx context.Context, env *cli.Env, spec *jobspec.Spec) (*draft, error) {
	look, enough := context.WithTimeout(ctx, firstLookTime)
	defer enough()
	var seen []progress.Mark
	args, err := spec.Args(jobspec.CPU, spec.Epochs, jobspec.Directories{Scratch: launch.ScratchWord})
	if err != nil {
		return nil, err
	}
	res, err := launch.New(launch.Settings{Guard: helper("guard")}).Run(look, launch.Command{
		Args: args, Env: spec.Environ(os.Environ()), Output: env.Stderr, Reader: progress.Reader{Units: float64(spec.Epochs), Short: true},
		Marked: func(marks []progress.Mark) {
			seen = marks
			if len(marks) >= firstMarks {
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
	d.how = fmt.Sprintf("no progress found in %v; select progress lines by progress: {pattern: ...}", firstLookTime)
	if len(seen) > 0 {
		d.Epochs = int(seen[0].Of)
		d.how = fmt.Sprintf("the output counts to %d", d.Epochs)
	}
	if d.Epochs == 0 {
		return nil, errors.New("the output does not contain the number of epochs: give --epochs N")
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

// text returns the content of the job file.
func (d *draft) text() ([]byte, error) {
	body, err := yaml.Marshal(d)
	if err != nil {
		return nil, err
	}
	note := "# A job for allox-est; all entries: allox-est/docs/reference.md\n"
	if !slices.ContainsFunc(d.Command, func(word string) bool { return strings.Contains(word, "{epochs}") }) {
		note += "# Write {epochs} into the command in place of the number of epochs. Without it only run --keep works.\n"
	}
	return append([]byte(note), body...), nil
}
