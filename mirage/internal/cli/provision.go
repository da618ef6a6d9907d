package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/go-chi/chi/v5"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/spf13/cobra"

	"github.com/foretime/foretime/mirage/internal/model"
	"github.com/foretime/foretime/mirage/internal/policy"
	"github.com/foretime/foretime/mirage/internal/provision"
	"github.com/foretime/foretime/mirage/internal/slurmview"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/crash"
	"github.com/foretime/foretime/shared/plural"
	"github.com/foretime/foretime/shared/uncertainty"
)

// chainCommand holds the flags and settings of the provision command.
type chainCommand struct {
	env                            *cli.Env
	record                         *cli.Record
	in                             *settings
	state, model, resolve, metrics string
	s                              provision.Settings
	out                            cli.Output
}

func newProvisionCommand(env *cli.Env, record *cli.Record) *cobra.Command {
	p := &chainCommand{env: env, record: record, in: newSettings()}
	c := &cobra.Command{
		Use:   "provision --state-dir DIR [flags] SCRIPT [ARG...]",
		Short: "Keep a chain of service jobs running on Slurm",
		Long: `Submit SCRIPT with sbatch, and each successor when a model or a baseline decides to,
exactly once, for as long as this command runs. It may be stopped or killed at any
time and started again with the same --state-dir.

The --state-dir directory holds journal.jsonl (submissions and their outcomes),
history.jsonl (snapshots of the queue) and decisions.jsonl (each decision with its
features, the distribution of the start time and the chosen handover time). Its file
system must support locks. --model is the output of mirage validate --json, whose
policy and settings are run and whose date is printed, or the file of a trained model,
or one of the baselines below; fixed needs policy.lead_hours. Those that forecast use the
cluster that the controller describes; with log.partition, the others see the queue of
that partition only:

` + policy.Baselines().Help(),
		Example: "  mirage provision --state-dir chain --model boost.json --set service.limit=48h --slurm-option=--partition=gpu service.sh",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkMisplaced(cmd, args); err != nil {
				return err
			}
			return p.run(cmd.Context(), args)
		},
	}
	c.DisableFlagsInUseLine = true
	f := c.Flags()
	f.SetInterspersed(false)
	f.StringVar(&p.state, "state-dir", "", "`directory` of the chain")
	f.StringVar(&p.model, "model", "", "output of validate --json, model file, or a baseline: "+strings.Join(policy.Baselines().Names(), ", ")+" (default: futures)")
	f.StringArrayVar(&p.s.Request.Options, "slurm-option", nil, "option of sbatch, such as --partition=gpu (may be repeated)")
	f.IntVar(&p.s.Links, "services", 0, "number of services (default: no end)")
	f.Int64Var(&p.s.Predecessor, "predecessor", 0, "running job that is the first service")
	f.BoolVar(&p.s.NoOverlap, "no-overlap", false, "never run two services at once: submit each successor when its predecessor starts, to wait for its end (sbatch --dependency)")
	f.BoolVar(&p.s.Release, "release", false, "cancel a predecessor once its successor runs")
	f.BoolVar(&p.s.Leave, "leave-successor", false, "on exit, submit a missing successor that starts after the running service (sbatch --dependency)")
	f.StringVar(&p.resolve, "resolve", "", "outcome of an unclear submission: the job's id, or none")
	f.BoolVar(&p.s.DryRun, "dry-run", false, "log the decisions for --predecessor without submitting")
	f.StringVar(&p.metrics, "metrics", "", "serve Prometheus metrics on this address, such as 127.0.0.1:9118")
	p.in.flags(c)
	p.out.Flags(c, provision.Summary{})
	cli.First(c, "state-dir", "model", "config", "slurm-option", "services")
	cli.Require(c, "state-dir")
	return c
}

// checkMisplaced returns an error for a flag of this command after the script, which would
// become an argument of the script, unless -- comes before the script.
func checkMisplaced(cmd *cobra.Command, args []string) error {
	if cmd.ArgsLenAtDash() == 0 || len(args) == 0 {
		return nil
	}
	for _, arg := range args[1:] {
		name, flag := strings.CutPrefix(arg, "--")
		name, _, _ = strings.Cut(name, "=")
		if flag && cmd.Flags().Lookup(name) != nil {
			return cli.Usagef("--%s after the script would be an argument of the script: put it before the script, or put -- before the script if you mean that", name)
		}
	}
	return nil
}

func (p *chainCommand) run(ctx context.Context, args []string) error {
	if err := p.settings(args); err != nil {
		return err
	}
	p.env.LogTimes()
	sum, err := p.keep(ctx)
	if err != nil {
		return err
	}
	return p.out.Print(p.env, sum, func(page *cli.Page) {
		page.Line("%s, %s; %s, %d interrupted: %.0f s without a service, %.0f s with two",
			plural.Count(sum.Links, "service"), plural.Count(sum.Submissions, "submission"), plural.Count(sum.HandOvers, "hand-over"), sum.Interrupted, sum.Interruption, sum.Overlap)
	})
}

// keep runs the chain to its end.
func (p *chainCommand) keep(ctx context.Context) (sum provision.Summary, err error) {
	provisioner, err := provision.Open(p.state, p.s)
	if errors.Is(err, provision.ErrSettings) {
		return sum, &cli.UsageError{Err: err}
	}
	if err != nil {
		return sum, err
	}
	defer provisioner.Close()
	stop, err := p.serve(provisioner.Metrics)
	if err != nil {
		return sum, err
	}
	defer stop()
	err = provisioner.Run(ctx)
	p.remains(provisioner.Ledger())
	return provisioner.Ledger().Summary(), err
}

// remains logs the jobs that are queued or running when this command ends.
func (p *chainCommand) remains(l *provision.Ledger) {
	s := statusOf(l)
	for _, job := range s.Running {
		p.env.Log.Warnf("job %d is still running; scancel %d ends it", job, job)
	}
	for _, job := range s.Queued {
		p.env.Log.Warnf("job %d is still queued; scancel %d removes it", job, job)
	}
}

// settings sets the settings of the chain from flags and the settings file.
func (p *chainCommand) settings(args []string) (err error) {
	if err := p.in.load(); err != nil {
		return err
	}
	if len(args) > 0 {
		if p.s.Request.Script, err = filepath.Abs(args[0]); err != nil {
			return err
		}
		if _, err := os.Stat(p.s.Request.Script); err != nil {
			return err
		}
		p.s.Request.Args = args[1:]
	} else if !p.s.DryRun {
		return cli.Usagef("want a SCRIPT to submit")
	}
	if p.s.Resolve, err = parseResolve(p.resolve); err != nil {
		return err
	}
	if err := p.service(); err != nil {
		return err
	}
	p.s.Client = &slurmview.Client{Runner: slurmview.Exec{}}
	p.s.Partition = p.in.Log.Partition
	p.s.Warn = func(err error) { p.env.Log.Warn(err) }
	p.s.Tell = p.logEvent
	p.s.Predict = func(token string, e uncertainty.Prediction) uncertainty.Prediction {
		return p.record.Predict("handover", token, e)
	}
	p.s.Outcome = func(token string, hours float64) { p.record.Outcome("handover", token, hours) }
	p.s.Policy, err = p.policy()
	return err
}

// service copies the settings service.* and decide.*.
func (p *chainCommand) service() error {
	v, d := p.in.Service, p.in.Decide
	if err := checkOverlap("set decide.overlap_cost", d.OverlapCost); err != nil {
		return err
	}
	for name, given := range map[string]span{
		"service.limit": v.Limit, "service.time": v.Time, "service.notice": v.Notice,
		"decide.interval": d.Interval, "decide.poll": d.Poll, "decide.request_timeout": d.RequestTimeout,
	} {
		if given <= 0 && p.in.source.Given(name) {
			return cli.Usagef("%s: %v, want a time above 0", name, given)
		}
	}
	r := &p.s.Request
	r.Nodes = v.Nodes
	r.Limit = v.Limit.duration()
	r.Notice = v.Notice.duration()
	r.Name = v.Name
	p.s.Service = v.Time.duration()
	p.s.Interval = d.Interval.duration()
	p.s.Poll = d.Poll.duration()
	p.s.RequestTimeout = d.RequestTimeout.duration()
	return nil
}

// parseResolve returns the job of --resolve: -1 for none, 0 if it is not given.
func parseResolve(text string) (int64, error) {
	switch text {
	case "":
		return 0, nil
	case "none":
		return -1, nil
	}
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id <= 0 {
		return 0, cli.Usagef("--resolve: %q, want a job id or none", text)
	}
	return id, nil
}

// logEvent logs an event of a service.
func (p *chainCommand) logEvent(e provision.Entry) {
	switch e.Kind {
	case provision.Accepted:
		p.env.Log.Infof("service %d: job %d submitted", e.Link, e.Job)
	case provision.Started:
		p.env.Log.Infof("service %d: job %d started", e.Link, e.Job)
	case provision.Ended:
		p.env.Log.Infof("service %d: job %d ended (%s)", e.Link, e.Job, e.Reason)
	}
}

// policy returns the policy of --model, after it has printed the validation of it.
func (p *chainCommand) policy() (policy.Policy, error) {
	if p.s.NoOverlap && p.model != "" {
		return nil, cli.Usagef("--model: with --no-overlap each successor is submitted when its predecessor starts")
	}
	if p.s.NoOverlap {
		return policy.Fixed{}, nil
	}
	given := cmp.Or(p.model, "futures")
	name := given
	j, err := readValidated(given)
	if err != nil {
		return nil, err
	}
	if j != nil {
		name = j.Model
		j.apply(p.in, p.env.Log.Warnf)
	}
	d, err := p.in.decider(name, p.in.Decide.OverlapCost)
	switch {
	case errors.Is(err, model.ErrFile):
		return nil, fmt.Errorf("%w; --model also accepts the output of mirage validate --json", err)
	case err != nil:
		return nil, err
	case j != nil:
		p.env.Log.Infof("policy %s, validated on %s (%s): %s of %s cost %.2f h each", name, j.Date, given, plural.Count(j.Episodes, "episode"), j.Log, j.CostHours.Mean.Value)
	default:
		p.env.Log.Warnf("policy %s: no validation is known; mirage validate LOG --model %s --json > FILE tests it, and provision --model FILE runs what was tested", name, name)
	}
	p.s.Forecasts = d.forecasts
	p.s.KeepPlace = d.forecasts && d.trained == nil
	return d.Policy, nil
}

// serve serves metrics on --metrics until stop is called.
func (p *chainCommand) serve(m *provision.Metrics) (stop func(), err error) {
	if p.metrics == "" {
		return func() {}, nil
	}
	listener, err := net.Listen("tcp", p.metrics)
	if err != nil {
		return nil, fmt.Errorf("--metrics: %w", err)
	}
	p.env.Log.Infof("metrics on http://%s/metrics", listener.Addr())
	r := chi.NewRouter()
	r.Method(http.MethodGet, "/metrics", promhttp.HandlerFor(m.Registry, promhttp.HandlerOpts{}))
	server := cli.BoundServer(p.env, r)
	crash.Go(func() { _ = server.Serve(listener) })
	return func() { _ = server.Close() }, nil
}
