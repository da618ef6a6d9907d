package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/mirage/policy"
	"github.com/foretime/foretime/mirage/simulator"
	"github.com/foretime/foretime/mirage/slurm"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/crash"
)

// provision carries what the provision command works with.
type provision struct {
	env                                   *cli.Env
	state, model, limit, service, resolve string
	interval, poll, settle, metrics       string
	notice                                string
	need                                  live
	config                                string
	s                                     slurm.Settings
	asJSON                                bool
	knobs                                 knobs
}

func newProvisionCommand(env *cli.Env) *cobra.Command {
	p := &provision{env: env}
	c := &cobra.Command{
		Use:   "provision [flags] SCRIPT [ARG...]",
		Short: "keep a chain of services running on a real Slurm",
		Long: `Submit SCRIPT with sbatch, and its successor when a model or a baseline says
so, exactly once each, for as long as this command runs. It may be stopped or
killed at any moment and started again with the same --state.

The --state folder holds journal.jsonl (what was intended and what came of
it), history.jsonl (the queue as it was seen) and decisions.jsonl (every
decision with its features); it must not be on a file system without real
locks. --model is the file of a trained model, or one of the baselines, of which
fixed needs --lead, forecast and futures --config:

` + policy.Baselines().Help(),
		Example: "  mirage provision --state chain --model boost.json --service-limit 48h --sbatch-option=--partition=gpu service.sh",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := misplaced(cmd, args); err != nil {
				return err
			}
			return p.run(cmd.Context(), args)
		},
	}
	c.DisableFlagsInUseLine = true
	f := c.Flags()
	f.SetInterspersed(false)
	f.StringVar(&p.state, "state", "", "folder of the chain")
	f.StringVar(&p.model, "model", "", "file of a model, or a baseline: "+strings.Join(policy.Baselines().Names(), ", ")+" (default: futures with --config, else avg)")
	f.StringVar(&p.config, "config", "", "settings file of the cluster, as calibrate writes it, for forecasts")
	p.knobs.flags(f, "")
	f.IntVar(&p.s.Request.Nodes, "service-nodes", 1, "nodes of the service")
	f.IntVar(&p.s.Units, "service-units", 0, "what the service holds of what --config counts, such as its GPUs (default: --service-nodes)")
	p.need.flags(c, "service", "with kinds of nodes in --config")
	f.StringVar(&p.limit, "service-limit", "48h", "time limit of each service job")
	f.StringVar(&p.service, "service-time", "", "how long a service job runs (default: its limit)")
	f.StringVar(&p.s.Request.Name, "name", "service", "beginning of the job names")
	f.StringArrayVar(&p.s.Request.Options, "sbatch-option", nil, "another option for sbatch, such as --partition=gpu (may be repeated)")
	f.StringVar(&p.s.Partition, "partition", "", "decide by the queue of one partition only; where the service runs is --sbatch-option's to say")
	f.IntVar(&p.s.Links, "services", 0, "end after so many services (default: never)")
	f.StringVar(&p.interval, "interval", "10m", "time between two decisions")
	f.StringVar(&p.poll, "poll", "", "time between two looks at the queue (default: a fifth of --interval)")
	f.StringVar(&p.settle, "settle", "", "how long a request may be under way (default: twice the controller's MessageTimeout)")
	f.Float64Var(&p.s.Scale, "time-scale", 1, "for tests: the policy sees every time multiplied by this, and --interval and --poll are divided by it")
	f.Int64Var(&p.s.Predecessor, "predecessor", 0, "job that runs already and is the first service")
	f.BoolVar(&p.s.Release, "release", false, "cancel a predecessor when its successor runs")
	f.BoolVar(&p.s.Leave, "leave-successor", false, "when stopped while a service runs without a successor, leave one that waits for its end (sbatch --dependency)")
	f.StringVar(&p.notice, "notice", "", "send each service SIGTERM so long before its limit, such as 5m (sbatch --signal)")
	f.StringVar(&p.resolve, "resolve", "", "where it could not be known whether a job was submitted: its id, or none")
	f.BoolVar(&p.s.DryRun, "dry-run", false, "decide and log for --predecessor, submit nothing")
	f.StringVar(&p.metrics, "metrics", "", "serve Prometheus metrics on this address, such as 127.0.0.1:9118")
	f.BoolVar(&p.asJSON, "json", false, "print JSON at the end")
	cli.Require(c, "state")
	return c
}

// misplaced refuses flags of the command behind the script, whose arguments they
// would be, unless -- stands before it.
func misplaced(cmd *cobra.Command, args []string) error {
	if cmd.ArgsLenAtDash() == 0 || len(args) == 0 {
		return nil
	}
	for _, arg := range args[1:] {
		name, flag := strings.CutPrefix(arg, "--")
		name, _, _ = strings.Cut(name, "=")
		if flag && cmd.Flags().Lookup(name) != nil {
			return cli.Usagef("--%s stands behind the script, to whom it would be given: put it before, or -- before the script where it is the script's", name)
		}
	}
	return nil
}

func (p *provision) run(ctx context.Context, args []string) error {
	if err := p.settings(args); err != nil {
		return err
	}
	sum, err := p.keep(ctx)
	if err != nil {
		return err
	}
	if p.asJSON {
		return p.env.WriteJSON(sum)
	}
	return p.print(sum)
}

// keep keeps the chain going to its end.
func (p *provision) keep(ctx context.Context) (sum slurm.Summary, err error) {
	provisioner, err := slurm.Open(p.state, p.s)
	if errors.Is(err, slurm.ErrSettings) {
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

// remains tells what is queued or runs when this command ends.
func (p *provision) remains(l *slurm.Ledger) {
	s := statusOf(l)
	for _, job := range s.Running {
		p.env.Log.Warnf("job %d runs on; scancel %d ends it", job, job)
	}
	for _, job := range s.Queued {
		p.env.Log.Warnf("job %d remains queued; scancel %d takes it back", job, job)
	}
}

func (p *provision) print(sum slurm.Summary) error {
	_, err := fmt.Fprintf(p.env.Stdout, "%d services, %d submissions; %d hand-overs, %d interrupted: %.0f s without a service, %.0f s with two\n",
		sum.Links, sum.Submissions, sum.HandOvers, sum.Interrupted, sum.Interruption, sum.Overlap)
	return err
}

// settings turns flags into settings.
func (p *provision) settings(args []string) (err error) {
	if len(args) > 0 {
		if p.s.Request.Script, err = filepath.Abs(args[0]); err != nil {
			return err
		}
		if _, err := os.Stat(p.s.Request.Script); err != nil {
			return err
		}
		p.s.Request.Args = args[1:]
	} else if !p.s.DryRun {
		return cli.Usagef("a script is needed")
	}
	if !(p.s.Scale > 0) {
		return cli.Usagef("--time-scale: %v is not above 0", p.s.Scale)
	}
	for _, span := range []struct {
		flag, text string
		scaled     bool
		to         *time.Duration
	}{
		{"service-limit", p.limit, false, &p.s.Request.Limit},
		{"service-time", p.service, false, &p.s.Service},
		{"interval", p.interval, true, &p.s.Interval},
		{"poll", p.poll, true, &p.s.Poll},
		{"settle", p.settle, false, &p.s.Settle},
		{"notice", p.notice, false, &p.s.Request.Notice},
	} {
		if span.text == "" {
			continue
		}
		n, err := seconds(span.flag, span.text)
		if err != nil {
			return err
		}
		if n <= 0 {
			return cli.Usagef("--%s: %q is not above 0", span.flag, span.text)
		}
		*span.to = time.Duration(n) * time.Second
		if span.scaled {
			*span.to = time.Duration(float64(*span.to) / p.s.Scale)
		}
	}
	if p.resolve != "" {
		p.s.Resolve = -1
		if p.resolve != "none" {
			if p.s.Resolve, err = strconv.ParseInt(p.resolve, 10, 64); err != nil || p.s.Resolve <= 0 {
				return cli.Usagef("--resolve: %q is neither a job id nor none", p.resolve)
			}
		}
	}
	p.s.Client = &slurm.Client{Runner: slurm.Exec{}}
	p.s.Warn = func(err error) { p.env.Log.Warn(err) }
	p.s.Tell = p.tell
	if p.config != "" {
		file, err := simulator.Load(p.config)
		if err != nil {
			return err
		}
		p.s.Rules = &file.Config
	}
	if p.need.given() {
		if p.s.Rules == nil || len(p.s.Rules.Kinds) == 0 {
			return cli.Usagef("--service-cpus, --service-gpus, --service-memory and --service-exclusive need kinds of nodes in --config; sbatch is told by --sbatch-option")
		}
		p.s.Need = p.need.need(p.s.Request.Nodes)
	}
	p.s.Policy, err = p.policy()
	return err
}

// tell says what became of a service.
func (p *provision) tell(e slurm.Entry) {
	switch e.Kind {
	case slurm.Accepted:
		p.env.Log.Infof("service %d: job %d was submitted", e.Link, e.Job)
	case slurm.Started:
		p.env.Log.Infof("service %d: job %d has started", e.Link, e.Job)
	case slurm.Ended:
		p.env.Log.Infof("service %d: job %d has ended (%s)", e.Link, e.Job, e.Reason)
	}
}

// policy is the one that --model names.
func (p *provision) policy() (policy.Policy, error) {
	if p.model == "" && p.s.Rules == nil {
		p.model = "avg"
	} else if p.model == "" {
		p.model = "futures"
	}
	b, err := policy.Baselines().Find(p.model)
	if err != nil {
		return p.trained()
	}
	setting := 0.0
	if k := b.Knob; k != nil {
		var given bool
		if setting, given, err = p.knobs.setting(k); err == nil && !given && k.Required {
			err = cli.Usagef("--model %s needs --%s: %s", p.model, k.Flag, k.Help)
		}
	}
	if err == nil && b.Forecasts && p.s.Rules == nil {
		err = cli.Usagef("--model %s needs the --config of the cluster", p.model)
	}
	return b.Policy(setting), err
}

func (p *provision) trained() (policy.Policy, error) {
	trained, err := openModel(p.model)
	if err != nil {
		return nil, err
	}
	if trained.NeedsForecast() && p.s.Rules == nil {
		return nil, cli.Usagef("--model %s was trained with --forecast and needs the --config of the cluster", p.model)
	}
	return trained.Policy(), nil
}

// serve answers on --metrics until stop is called.
func (p *provision) serve(m *slurm.Metrics) (stop func(), err error) {
	if p.metrics == "" {
		return func() {}, nil
	}
	listener, err := net.Listen("tcp", p.metrics)
	if err != nil {
		return nil, fmt.Errorf("--metrics: %w", err)
	}
	p.env.Log.Infof("metrics on http://%s/metrics", listener.Addr())
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		_, _ = m.WriteTo(w)
	})
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	crash.Go(func() { _ = server.Serve(listener) })
	return func() { _ = server.Close() }, nil
}
