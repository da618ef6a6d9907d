package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/allox-est/internal/schedule"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/dataset"
	"github.com/foretime/foretime/shared/file"
	"github.com/foretime/foretime/shared/plural"
)

// newScheduleCommand returns "schedule": the simulated scheduling of jobs on a cluster.
func newScheduleCommand(env *cli.Env) *cobra.Command {
	s := scheduling{env: env}
	cmd := &cobra.Command{
		Use:   "schedule --input FILE --cpu-nodes N --gpu-nodes N",
		Short: "Schedule jobs on simulated CPU and GPU nodes and report completion times",
		Long: `Schedule jobs on simulated CPU and GPU nodes under each policy, and report job
completion times (JCT). If all jobs gain alike from a GPU, matching cannot help, and the
command says so.

The input is a file of reports (allox-est run --json), a record file of the AlloX
simulator (# ID, job, stage and edges, a line each; a job has one stage), or a CSV with
one row per job and these columns:

  job, user, arrival       name, owner, arrival in seconds
  cpu, gpu                 estimated seconds on that device; empty if it cannot run there
  cpu_actual, gpu_actual   true seconds, if known

Policies decide by the estimated times; jobs take their true times.

Policies:
` + schedule.Policies.Help(),
		Example: "  allox-est schedule --input jobs.csv --cpu-nodes 20 --gpu-nodes 20",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return s.run(cmd.Context()) },
	}
	flags := cmd.Flags()
	flags.StringVar(&s.input, "input", "", "`file` of jobs: reports, CSV or AlloX records; - is standard input")
	flags.StringSliceVar(&s.policies, "policy", []string{"all"}, "policy, several of them separated by commas, or all: "+strings.Join(schedule.Policies.Names(), ", "))
	cli.Values(cmd, "policy", append(schedule.Policies.Names(), "all")...)
	flags.IntVar(&s.cluster[schedule.CPU], "cpu-nodes", 0, "number of CPU nodes")
	flags.IntVar(&s.cluster[schedule.GPU], "gpu-nodes", 0, "number of GPU nodes")
	flags.StringVar(&s.output, "out", "", "write the runs of each job to this .csv, .tsv, .jsonl or .parquet file")
	cli.OutputFile(cmd, "out")
	s.answer.Flags(cmd, scheduled{})
	cli.First(cmd, "input", "policy", "cpu-nodes", "gpu-nodes")
	cli.Require(cmd, "input")
	return cmd
}

// scheduled is the answer of "schedule".
type scheduled struct {
	Gain      *schedule.Gain     `json:"gpu_gain"`
	Schedules []schedule.Summary `json:"schedules"`
}

// scheduling holds the flags of "schedule".
type scheduling struct {
	env           *cli.Env
	input, output string
	policies      []string
	cluster       schedule.Cluster
	answer        cli.Output
}

func (s *scheduling) run(ctx context.Context) error {
	names := s.policies
	if slices.Equal(names, []string{"all"}) {
		names = schedule.Policies.Names()
	}
	if len(names) > 1 && s.output != "" {
		return cli.Usagef("--out takes one policy, not several: name it with --policy")
	}
	w, err := s.load()
	if err != nil {
		return err
	}
	cli.Warn(s.env, w.Diagnostics)
	cli.Warn(s.env, w.Warnings)
	s.env.Log.Infof("jobs: %v", w.Counts)
	var all []schedule.Summary
	for _, name := range names {
		newPolicy, err := schedule.Policies.Find(name)
		if err != nil {
			return cli.Usagef("unknown policy: %w", err)
		}
		runs, err := schedule.Replay(ctx, w.Jobs, s.cluster, newPolicy())
		if errors.Is(err, schedule.ErrCluster) {
			return &cli.UsageError{Err: err}
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if s.output != "" {
			if err := s.saveParts(runs); err != nil {
				return err
			}
		}
		all = append(all, schedule.Summarize(name, runs))
	}
	gain := schedule.GainOf(w.Jobs)
	return s.answer.Print(s.env, scheduled{gain, all}, func(p *cli.Page) {
		t := p.Table("policy", "mean JCT (s)", "p50 (s)", "p95 (s)", "p99 (s)", "makespan (s)")
		for _, r := range all {
			t.Add(r.Policy, r.MeanJCT, r.P50JCT, r.P95JCT, r.P99JCT, r.Makespan)
		}
		p.Line("%s", plural.Count(len(w.Jobs), "job"))
		if gain.IsAlike() {
			p.Line("matching cannot help: a GPU makes all jobs %.3g times as fast", (gain.Low+gain.High)/2)
		}
	})
}

// load reads the input; - is standard input.
func (s *scheduling) load() (*schedule.Workload, error) {
	if s.input == "-" {
		return schedule.Load(file.Interruptible(s.env.Stdin), "standard input")
	}
	f, err := file.Open(s.input)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return schedule.Load(f, s.input)
}

// saveParts writes the stays of jobs on nodes, by start time.
func (s *scheduling) saveParts(runs []schedule.Run) error {
	var parts []schedule.Part
	for _, r := range runs {
		parts = append(parts, r.Parts...)
	}
	slices.SortStableFunc(parts, func(a, b schedule.Part) int { return cmp.Compare(a.Start, b.Start) })
	return dataset.Save(s.output, parts, dataset.Options{})
}
