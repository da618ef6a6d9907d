package cli

import (
	"errors"
	"fmt"
	"maps"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/foretime/foretime/allox-est/internal/jobspec"
	"github.com/foretime/foretime/allox-est/internal/journal"
	"github.com/foretime/foretime/allox-est/internal/scaling"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/uncertainty"
)

// newPredictCommand returns "predict": the time in a configuration that was not sampled.
func newPredictCommand(env *cli.Env) *cobra.Command {
	var q question
	cmd := &cobra.Command{
		Use:   "predict --journal FILE --epochs N [--threads N] [--set NAME=VALUE]",
		Short: "Predict the time of a job with other threads, GPUs or parameters",
		Long: `Predict how long a job takes with other threads, GPUs or parameters, from a journal
with samples of at least three configurations, and print which configuration to
sample next. Values that are not given are those of the last sample.`,
		Example: `  allox-est run --journal j.jsonl --epochs 500 --set devices.cpu.threads=1 --set batch=64 -- ./train {hw} --batch {batch} --epochs {epochs}
  allox-est predict --journal j.jsonl --epochs 500 --threads 8 --set batch=128`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return q.run(env, cmd.Flags()) },
	}
	flags := cmd.Flags()
	flags.StringVar(&q.journal, "journal", "", "journal with samples of at least three configurations")
	flags.IntVar(&q.epochs, "epochs", 0, "epochs of the job")
	flags.StringVar(&q.device, "device", "", "cpu or gpu")
	cli.Values(cmd, "device", jobspec.CPU, jobspec.GPU)
	flags.IntVar(&q.threads, "threads", 0, "threads on the CPU")
	flags.IntVar(&q.gpus, "gpus", 0, "number of GPUs")
	flags.StringToStringVar(&q.set, "set", nil, "parameter of the job, `NAME=VALUE` (may be repeated)")
	q.answer.Flags(cmd)
	cli.Require(cmd, "journal", "epochs")
	cli.First(cmd, "journal", "epochs", "threads", "set", "json")
	return cmd
}

// level is the coverage of the interval for new configurations.
const level = 0.9

// question holds the flags of "predict".
type question struct {
	journal       string
	epochs        int
	device        string
	threads, gpus int
	set           map[string]string
	answer        cli.Output
}

// changed returns the part of the configuration that the flags give.
func (q *question) changed(flags *pflag.FlagSet) (scaling.Configuration, error) {
	c := scaling.Configuration{}
	maps.Copy(c, q.set)
	if q.device != "" {
		c["device"] = q.device
	}
	for name, n := range map[string]int{"threads": q.threads, "gpus": q.gpus, "epochs": q.epochs} {
		switch {
		case !flags.Changed(name):
		case n < 1:
			return nil, cli.Usagef("--%s %d: want at least 1", name, n)
		case name != "epochs":
			c[name] = strconv.Itoa(n)
		}
	}
	return c, nil
}

func (q *question) run(env *cli.Env, flags *pflag.FlagSet) error {
	changed, err := q.changed(flags)
	if err != nil {
		return err
	}
	j, err := journal.Read(q.journal)
	if err != nil {
		return err
	}
	place := func(err error) error { return fmt.Errorf("%s: %w", q.journal, err) }
	table, err := scaling.NewTable(j.Runs, q.epochs)
	if err != nil {
		return place(err)
	}
	cli.Warn(env, table.Notes)
	m, err := table.Fit(level)
	if err != nil {
		return place(err)
	}
	asked, p, err := table.Ask(m, changed)
	switch {
	case errors.Is(err, scaling.ErrSame) || errors.Is(err, scaling.ErrUnknown):
		return place(fmt.Errorf("%w; sample it first: allox-est run", err))
	case err != nil:
		return &cli.UsageError{Err: err}
	}
	a := answer{q.epochs, asked, p, table.Estimates, table.Doubtful(m, asked)}
	return q.answer.Print(env, a, func(p *cli.Page) { a.show(p, table) })
}

// answer is a prediction with the samples that it is based on.
type answer struct {
	Epochs        int                    `json:"epochs"`
	Configuration scaling.Configuration  `json:"configuration"`
	Wall          uncertainty.Prediction `json:"wall_seconds"`
	Sampled       []scaling.Estimate     `json:"sampled"`
	Next          scaling.Configuration  `json:"sample_next,omitempty"`
}

func (a *answer) show(p *cli.Page, table *scaling.Table) {
	t := p.Table("configuration", "seconds", "low", "high", "")
	row := func(c scaling.Configuration, p uncertainty.Prediction, how string) {
		t.Add(table.Of(c), p.Value, p.Low, p.High, how)
	}
	for _, e := range a.Sampled {
		row(e.Configuration, e.Wall, "sampled")
	}
	row(a.Configuration, a.Wall, "predicted")
	if a.Next != nil {
		p.Line("sample next (widest interval): %s", table.Of(a.Next))
	}
}
