package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/allox-est/internal/schedule"
	"github.com/foretime/foretime/shared/chart"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/dataset"
	"github.com/foretime/foretime/shared/file"
	"github.com/foretime/foretime/shared/plural"
	"github.com/foretime/foretime/shared/uncertainty"
)

// newScheduleCommand returns "schedule": the simulated scheduling of jobs on a cluster.
func newScheduleCommand(env *cli.Env) *cobra.Command {
	s := scheduling{env: env}
	cmd := &cobra.Command{
		Use:   "schedule --input FILE --policy NAME --cpu-nodes N --gpu-nodes N",
		Short: "Schedule jobs on simulated CPU and GPU nodes and report completion times",
		Long: `Schedule jobs on simulated CPU and GPU nodes under a policy, and report job
completion times (JCT).

The input is a file of reports (allox-est run --json), or a CSV with one row per job
(see "schedule generate") and these columns:

  job, user, arrival       name, owner, arrival in seconds
  cpu, gpu                 estimated seconds on that device; empty if it cannot run there
  cpu_actual, gpu_actual   true seconds, if known
  cpu_low, cpu_high        interval of the estimate (also gpu_low, gpu_high)

Record files of the AlloX simulator (# ID, job, stage and edges, a line each) are read
too; a job must have one stage.

Policies decide by the estimated times; jobs take their true times.

Policies:
` + schedule.Policies.Help(),
		Example: `  allox-est schedule generate --seed 1 --error-sd 0.1 --out jobs.txt
  allox-est schedule --input jobs.txt --policy all --cpu-nodes 20 --gpu-nodes 20`,
		RunE: func(cmd *cobra.Command, _ []string) error { return s.run(cmd.Context()) },
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&s.inputs, "input", nil, "file of jobs: reports, CSV or AlloX records; - is standard input (may be repeated)")
	flags.StringVar(&s.policy, "policy", "allox", "policy, several of them separated by commas, or all: "+strings.Join(schedule.Policies.Names(), ", "))
	cli.Values(cmd, "policy", append(schedule.Policies.Names(), "all")...)
	flags.IntVar(&s.cluster.CPUNodes, "cpu-nodes", 0, "number of CPU nodes")
	flags.IntVar(&s.cluster.GPUNodes, "gpu-nodes", 0, "number of GPU nodes")
	flags.StringVar(&s.nodes, "nodes", "", "nodes of other kinds, such as v100=4,p100=4; jobs name them as devices in reports or as columns in a CSV")
	flags.Float64Var(&s.settings.Alpha, "alpha", 1, "policy allox: fraction of the users, least served first, whose jobs are matched")
	flags.StringVar(&s.gantt, "gantt", "", "write a Gantt chart of the nodes to this .svg or .png file")
	flags.StringVar(&s.cdf, "cdf", "", "write the distribution of completion times to this .svg or .png file")
	flags.StringVar(&s.output, "out", "", "write the runs of each job to this .csv, .tsv, .jsonl or .parquet file")
	cli.OutputFile(cmd, "gantt", "cdf", "out")
	s.answer.Flags(cmd)
	cli.First(cmd, "input", "policy", "cpu-nodes", "gpu-nodes")
	cli.Require(cmd, "input")
	cmd.AddCommand(newGenerateCommand(env))
	return cmd
}

// scheduling holds the flags of "schedule".
type scheduling struct {
	env                *cli.Env
	inputs             []string
	policy             string
	nodes              string
	cluster            schedule.Cluster
	settings           schedule.Settings
	gantt, cdf, output string
	answer             cli.Output
}

func (s *scheduling) run(ctx context.Context) error {
	if s.settings.Alpha == 0 { // Settings would read it as unset
		return cli.Usagef("--alpha 0: want more than 0: no user would be served")
	}
	if err := s.further(); err != nil {
		return err
	}
	names := strings.Split(s.policy, ",")
	if s.policy == "all" {
		names = schedule.Policies.Names()
	}
	if len(names) > 1 && (s.gantt != "" || s.output != "") {
		return cli.Usagef("--gantt and --out take one policy, not several")
	}
	w, err := s.load()
	if err != nil {
		return err
	}
	var schedules []*schedule.Schedule
	for _, name := range names {
		done, err := s.replay(ctx, name, w.Jobs)
		if err != nil {
			return err
		}
		schedules = append(schedules, done)
	}
	if err := s.save(schedules); err != nil {
		return err
	}
	return s.print(schedules, s.gain(ctx, names, w.Jobs))
}

// gain returns how much matching (allox) saves compared with shortest job first (sjf)
// under the known estimation errors; nil unless both policies run and errors are known.
func (s *scheduling) gain(ctx context.Context, names []string, jobs []schedule.Record) *uncertainty.Prediction {
	if !slices.Contains(names, "allox") || !slices.Contains(names, "sjf") {
		return nil
	}
	gain, err := schedule.Gain(ctx, jobs, s.cluster, s.settings, rand.New(rand.NewPCG(9, 9)))
	if err != nil {
		s.env.Log.Infof("no comparison of allox with sjf under estimation errors: %v", err)
		return nil
	}
	return &gain
}

// further reads the node kinds of --nodes, in order.
func (s *scheduling) further() error {
	if s.nodes == "" {
		return nil
	}
	for _, one := range strings.Split(s.nodes, ",") {
		name, text, _ := strings.Cut(one, "=")
		n, err := strconv.Atoi(text)
		if err != nil || name == "" || n < 0 {
			return cli.Usagef("--nodes %s: want NAME=NUMBER", one)
		}
		switch name {
		case schedule.CPU.String():
			s.cluster.CPUNodes = n
		case schedule.GPU.String():
			s.cluster.GPUNodes = n
		default:
			if slices.Contains(s.others(), name) {
				return cli.Usagef("--nodes: %s occurs twice", name)
			}
			s.cluster.Others = append(s.cluster.Others, schedule.Kind{Name: name, Nodes: n})
		}
	}
	return nil
}

// others returns the names of the node kinds of --nodes.
func (s *scheduling) others() []string {
	var names []string
	for _, kind := range s.cluster.Others {
		names = append(names, kind.Name)
	}
	return names
}

// workload reads one input; - is standard input.
func (s *scheduling) workload(path string) (*schedule.Workload, error) {
	if path == "-" {
		return schedule.From(file.Interruptible(s.env.Stdin), "standard input", s.others()...)
	}
	return schedule.Load(path, s.others()...)
}

// load reads the inputs and logs how many of their records are used.
func (s *scheduling) load() (*schedule.Workload, error) {
	var all []*schedule.Workload
	for _, path := range s.inputs {
		w, err := s.workload(path)
		if err != nil {
			return nil, err
		}
		all = append(all, w)
	}
	w := schedule.Merge(all...)
	cli.Warn(s.env, w.Diagnostics)
	cli.Warn(s.env, w.Warnings)
	s.env.Log.Infof("jobs: %v", w.Counts)
	return w, nil
}

func (s *scheduling) replay(ctx context.Context, name string, jobs []schedule.Record) (*schedule.Schedule, error) {
	policy, err := schedule.New(name, s.settings)
	if err != nil {
		return nil, &cli.UsageError{Err: err}
	}
	bar := s.env.Progress(name, int64(len(jobs)))
	defer bar.Done()
	done, err := schedule.Replay(ctx, jobs, s.cluster, policy, func(n int) { bar.Set(int64(n)) })
	if errors.Is(err, schedule.ErrCluster) {
		return nil, &cli.UsageError{Err: err}
	}
	return done, err
}

func (s *scheduling) save(schedules []*schedule.Schedule) error {
	if s.gantt != "" {
		if err := chart.Save(s.gantt, schedules[0].Gantt()); err != nil {
			return err
		}
	}
	if s.cdf != "" {
		if err := chart.Save(s.cdf, schedule.CDF(schedules)); err != nil {
			return err
		}
	}
	if s.output != "" {
		return dataset.Save(s.output, parts(schedules[0]), dataset.Options{})
	}
	return nil
}

// jobPart is a row of the output: a run of a job on a node.
type jobPart struct {
	Job     int     `dataset:"job"`
	User    string  `dataset:"user"`
	Arrival float64 `dataset:"arrival_seconds"`
	Device  string  `dataset:"device"`
	Node    int     `dataset:"node"`
	Start   float64 `dataset:"start_seconds"`
	End     float64 `dataset:"end_seconds"`
}

// parts returns the runs on all nodes, by start time.
func parts(s *schedule.Schedule) []jobPart {
	var rows []jobPart
	for _, r := range s.Runs {
		for _, p := range r.Parts {
			rows = append(rows, jobPart{r.Job.ID, r.Job.User, r.Job.Arrival, s.Cluster.Name(p.Device), p.Node, p.Start, p.End})
		}
	}
	slices.SortStableFunc(rows, func(a, b jobPart) int { return cmp.Compare(a.Start, b.Start) })
	return rows
}

// namedSummary is a row of the comparison.
type namedSummary struct {
	Policy string `json:"policy"`
	schedule.Summary
}

func (s *scheduling) print(schedules []*schedule.Schedule, gain *uncertainty.Prediction) error {
	rows := make([]namedSummary, len(schedules))
	for i, done := range schedules {
		rows[i] = namedSummary{done.Policy, done.Summary()}
	}
	compared := map[string]any{"schedules": rows}
	if gain != nil {
		compared["matching_gain"] = gain
	}
	var value any = compared
	if len(rows) == 1 {
		value = rows[0].Summary
	}
	return s.answer.Print(s.env, value, func(p *cli.Page) {
		t := p.Table("policy", "mean JCT (s)", "p50", "p95", "p99", "makespan (s)", "fairness")
		for _, r := range rows {
			t.Add(r.Policy, r.MeanJCT, r.P50JCT, r.P95JCT, r.P99JCT, r.Makespan, r.Fairness)
		}
		p.Line("%s; no schedule has a mean JCT below %s s", plural.Count(rows[0].Jobs, "job"), cli.Text(rows[0].LowerBound))
		if gain != nil {
			p.Line("%s", gainText(*gain))
		}
	})
}

// gainText describes the gain of matching, or its loss.
func gainText(g uncertainty.Prediction) string {
	verdict := "no difference under the errors of these estimates"
	switch {
	case g.Low > 0:
		verdict = "allox is better under the errors of these estimates"
	case g.High < 0:
		verdict = "use sjf: it ends these jobs sooner"
	}
	return fmt.Sprintf("allox compared with sjf: mean JCT %+.1f %% [%+.1f, %+.1f]; %s", -100*g.Value, -100*g.High, -100*g.Low, verdict)
}

// newGenerateCommand returns "schedule generate": a synthetic workload.
func newGenerateCommand(env *cli.Env) *cobra.Command {
	var g schedule.Generator
	var output string
	cmd := &cobra.Command{
		Use:     "generate",
		Short:   "Write a table of synthetic jobs",
		Example: "  allox-est schedule generate --users 5 --jobs 200 --out jobs.csv",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			w, err := g.Generate()
			if err != nil {
				return &cli.UsageError{Err: err}
			}
			write := func(to io.Writer) error { return schedule.WriteTable(to, w.Jobs) }
			return env.Write(output, write)
		},
	}
	flags := cmd.Flags()
	flags.Uint64Var(&g.Seed, "seed", 1, "seed of the jobs, gaps and errors")
	flags.IntVar(&g.Users, "users", 10, "number of users")
	flags.IntVar(&g.Jobs, "jobs", 1000, "jobs per user")
	flags.Float64Var(&g.ErrorSD, "error-sd", 0, "standard deviation of the relative error of the estimates")
	flags.Float64Var(&g.Spread, "spread", 0, "standard deviation of the logarithm of a random factor on the time of each job on each device")
	flags.StringVar(&output, "out", "-", "file to write; - is standard output")
	cli.OutputFile(cmd, "out")
	return cmd
}
