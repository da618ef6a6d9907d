package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/foretime/foretime/allox-est/jobspec"
	"github.com/foretime/foretime/allox-est/journal"
	"github.com/foretime/foretime/allox-est/scaling"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/uncertainty"
)

// newPredictCommand returns "predict": a configuration that was not sampled.
func newPredictCommand(env *cli.Env) *cobra.Command {
	var q question
	cmd := &cobra.Command{
		Use:   "predict --journal FILE --epochs N [--threads N] [--set NAME=VALUE]",
		Short: "Predict a configuration that was not sampled from those that were",
		Long: `Predict how long a job takes with other threads, GPUs or parameters from a journal
that holds samples of several configurations of it, and say which to sample next.
What is not given is as in the last sample.`,
		Example: `  allox-est run --journal j.jsonl --epochs 500 --threads 1 --set batch=64 -- ./train {hw} --batch {batch} --epochs {epochs}
  allox-est predict --journal j.jsonl --epochs 500 --threads 8 --set batch=128`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return q.answer(env, cmd.Flags()) },
	}
	flags := cmd.Flags()
	flags.StringVar(&q.journal, "journal", "", "journal with samples of at least three configurations")
	flags.IntVar(&q.epochs, "epochs", 0, "length of the job")
	flags.StringVar(&q.device, "device", "", "cpu or gpu")
	flags.IntVar(&q.threads, "threads", 0, "threads on the CPU")
	flags.IntVar(&q.gpus, "gpus", 0, "GPUs")
	flags.StringToStringVar(&q.set, "set", nil, "parameters of the job, NAME=VALUE")
	flags.Float64Var(&q.level, "level", 0.9, "share of new configurations that the interval is to hold")
	flags.BoolVar(&q.json, "json", false, "print JSON")
	cli.Require(cmd, "journal", "epochs")
	return cmd
}

// question is what is asked of a journal.
type question struct {
	journal       string
	epochs        int
	device        string
	threads, gpus int
	set           map[string]string
	level         float64
	json          bool
}

// changed is the part of the configuration that was given.
func (q *question) changed(flags *pflag.FlagSet) (scaling.Configuration, error) {
	c := scaling.Configuration{}
	for name, value := range q.set {
		c[name] = value
	}
	if q.device != "" {
		c["device"] = q.device
	}
	for name, n := range map[string]int{"threads": q.threads, "gpus": q.gpus} {
		if !flags.Changed(name) {
			continue
		}
		if n < 1 {
			return nil, cli.Usagef("--%s %d: want at least 1", name, n)
		}
		c[name] = strconv.Itoa(n)
	}
	if q.epochs < 1 || !(q.level > 0 && q.level < 1) {
		return nil, cli.Usagef("--epochs is at least 1, --level a share between 0 and 1")
	}
	return c, nil
}

func (q *question) answer(env *cli.Env, flags *pflag.FlagSet) error {
	changed, err := q.changed(flags)
	if err != nil {
		return err
	}
	j, err := journal.Read(q.journal)
	if err != nil {
		return err
	}
	table, err := scaling.NewTable(j.Runs, q.epochs)
	if err != nil {
		return fmt.Errorf("%s: %w", q.journal, err)
	}
	for _, note := range table.Notes {
		env.Log.Warn(note)
	}
	m, err := table.Fit(q.level)
	if err != nil {
		return fmt.Errorf("%s: %w", q.journal, err)
	}
	asked, p, err := table.Ask(m, changed)
	if errors.Is(err, scaling.ErrSame) || errors.Is(err, scaling.ErrUnknown) {
		return fmt.Errorf("%s: %w; sample it first: allox-est run", q.journal, err)
	}
	if err != nil {
		return &cli.UsageError{Err: err}
	}
	a := answer{q.epochs, asked, p, table.Estimates, table.Doubtful(m, asked)}
	if q.json {
		return env.WriteJSON(a)
	}
	return a.print(env, table)
}

// answer is a prediction beside what it rests on.
type answer struct {
	Epochs        int                    `json:"epochs"`
	Configuration scaling.Configuration  `json:"configuration"`
	Wall          uncertainty.Prediction `json:"wall_seconds"`
	Sampled       []scaling.Estimate     `json:"sampled"`
	Next          scaling.Configuration  `json:"sample_next,omitempty"`
}

func (a *answer) print(env *cli.Env, table *scaling.Table) error {
	out := cli.Table{Header: []string{"configuration", "seconds", "low", "high", ""}}
	row := func(c scaling.Configuration, p uncertainty.Prediction, how string) {
		out.Add(table.Of(c), fmt.Sprintf("%.4g", p.Value), fmt.Sprintf("%.4g", p.Low), fmt.Sprintf("%.4g", p.High), how)
	}
	for _, e := range a.Sampled {
		row(e.Configuration, e.Wall, "sampled")
	}
	row(a.Configuration, a.Wall, "predicted")
	if _, err := out.WriteTo(env.Stdout); err != nil {
		return err
	}
	if a.Next == nil {
		return nil
	}
	_, err := fmt.Fprintf(env.Stdout, "most in doubt, to be sampled next: %s\n", table.Of(a.Next))
	return err
}

// params puts NAME=VALUE pairs in place of a job's parameters.
func params(spec *jobspec.Spec, set map[string]string) error {
	for name, value := range set {
		if strings.TrimSpace(name) == "" {
			return cli.Usagef("--set: a name is empty")
		}
		if spec.Params == nil {
			spec.Params = map[string]jobspec.Scalar{}
		}
		spec.Params[name] = jobspec.Scalar(value)
	}
	return nil
}
