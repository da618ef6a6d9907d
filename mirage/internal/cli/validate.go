package cli

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/mirage/chain"
	"github.com/foretime/foretime/mirage/model"
	"github.com/foretime/foretime/mirage/policy"
	"github.com/foretime/foretime/mirage/samples"
	"github.com/foretime/foretime/mirage/simulator"
	"github.com/foretime/foretime/mirage/trace"
	"github.com/foretime/foretime/mirage/validation"
	"github.com/foretime/foretime/shared/chart"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/file"
)

// validated is what mirage validate --json prints.
type validated struct {
	Model string `json:"model"`
	validation.Summary
	Settings map[string]any               `json:"settings"`
	Versus   map[string]validation.Paired `json:"versus,omitempty"`
	Verdict  string                       `json:"verdict,omitempty"`
	Seconds  float64                      `json:"wall_seconds"`
}

// validate carries what the validate command works with.
type validate struct {
	env        *cli.Env
	e          episodes
	model      string
	log, plots string // files to write
	overlap    float64
	tuning     int
	compare    bool
	out        cli.Output

	methods []validation.Method // played so far, for the charts

	t    *trace.Trace
	w    *simulator.Workload
	plan samples.Plan
	cost chain.Cost
}

func newValidateCommand(env *cli.Env) *cobra.Command {
	v := &validate{env: env}
	c := &cobra.Command{
		Use:   "validate FILE",
		Short: "judge a model or a baseline on episodes it has not seen",
		Long: `Play service pairs on the simulated queue of a trace, let a policy decide
every ten minutes when the successor is submitted, and compare with the
reactive outcome of the same episodes.

--model is the file of a trained model, or one of the baselines:

` + policy.Baselines().Help() + `  oracle      whichever of all decisions turns out best

Those with a setting are tuned on the training range of the settings file, for
the given service, where policy.NAME does not set them.`,
		Example: "  mirage validate ls6-a100.log --config config.json --model avg --episodes 168 --interval 3h --start 2023-02-01 --out reward.log",
		Args:    cobra.ExactArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return v.run(cmd.Context(), args[0]) },
	}
	v.e.flags(c, 156, 4*3600)
	f := c.Flags()
	f.StringVar(&v.model, "model", "futures", "file of a model, or a baseline: "+strings.Join(policy.Baselines().Names(), ", ")+", "+oracle)
	f.StringVar(&v.log, "out", "", "write reward.log to this file")
	f.StringVar(&v.plots, "plots", "", "draw distributions of interruption and overlap into this folder, as SVG")
	f.Float64Var(&v.overlap, "overlap-cost", 1, "cost of an hour of overlap against one of interruption")
	f.IntVar(&v.tuning, "tuning-episodes", 240, "episodes of the training range to tune on, at most")
	f.BoolVar(&v.compare, "compare", false, "play "+strings.Join(rivals(), ", ")+" too and test against each")
	v.out.Flags(c)
	cli.First(c, "start", "model", "config", "episodes", "compare")
	cli.Require(c, "start")
	return c
}

func (v *validate) run(ctx context.Context, path string) (err error) {
	begin := time.Now()
	if v.overlap < 0 {
		return cli.Usagef("--overlap-cost: %v is negative", v.overlap)
	}
	v.cost = chain.Cost{Overlap: v.overlap}
	if v.t, v.w, v.plan, err = v.e.open(v.env, path, 2); err != nil {
		return err
	}
	reactive, err := v.play(ctx, "reactive", validation.With(policy.Reactive{}))
	if err != nil {
		return err
	}
	player, settings, err := v.player(ctx, v.model)
	if err != nil {
		return err
	}
	played, err := v.play(ctx, v.model, player)
	if err != nil {
		return err
	}
	if v.log != "" {
		if err := file.Write(v.log, func(w io.Writer) error { return validation.WriteLog(w, played, v.t.Zone) }); err != nil {
			return err
		}
	}
	result := validated{Model: v.model, Summary: validation.Summarise(played, reactive, v.plan, v.cost), Settings: settings}
	if v.compare {
		if err := v.versus(ctx, &result, played, validation.Blocks(v.plan, reactive)); err != nil {
			return err
		}
	}
	if v.plots != "" {
		if err := v.draw(); err != nil {
			return err
		}
	}
	result.Seconds = time.Since(begin).Seconds()
	return v.out.Print(v.env, result, result.show)
}

func (v *validate) play(ctx context.Context, name string, p validation.Player) ([]validation.Played, error) {
	bar := v.env.Progress(name, int64(v.plan.Episodes))
	defer bar.Done()
	played, err := v.episodes(v.plan, bar).Play(ctx, p)
	if err == nil {
		v.methods = append(v.methods, validation.Method{Name: filepath.Base(name), Played: played})
	}
	return played, err
}

// episodes are those of a plan with their progress.
func (v *validate) episodes(plan samples.Plan, bar *cli.Progress) validation.Episodes {
	return validation.Episodes{Workload: v.w, Plan: plan, Workers: v.e.Workers, Progress: func() { bar.Add(1) }}
}

// draw writes the distributions of all methods that were played.
func (v *validate) draw() error {
	if err := os.MkdirAll(v.plots, 0o755); err != nil {
		return err
	}
	for name, c := range validation.Distributions(v.methods) {
		if err := chart.Save(filepath.Join(v.plots, name+".svg"), c); err != nil {
			return err
		}
	}
	return nil
}

// oracle is the name of the player that tries every decision: no policy, since
// it knows the future.
const oracle = "oracle"

// player makes the player that a name stands for, and says with what settings.
func (v *validate) player(ctx context.Context, name string) (validation.Player, map[string]any, error) {
	if name == oracle {
		return validation.Oracle(v.cost), nil, nil
	}
	if b, err := policy.Baselines().Find(name); err == nil {
		return v.baseline(ctx, name, b)
	}
	trained, err := openModel(name, oracle)
	if err != nil {
		return nil, nil, err
	}
	v.doubt(trained)
	return validation.With(trained.Policy()), map[string]any{"kind": trained.Kind, "from_hours": trained.FromHours}, nil
}

// doubt warns of a model that was made from what it is judged by, or for
// another service.
func (v *validate) doubt(m *model.Model) {
	o, p := m.Origin, v.plan
	if o == nil {
		return
	}
	if o.Saw(p.Submit(0), p.Submit(p.Episodes-1)+2*p.Service.Limit) {
		v.env.Log.Warnf("the model has seen %s to %s, which these episodes overlap: it is judged by what it learnt from", clock(v.t, o.From), clock(v.t, o.To))
	}
	if o.Service.Nodes != p.Service.Nodes || o.Service.Limit != p.Service.Limit {
		v.env.Log.Warnf("the model was made for a service of %d nodes and %v, this one is of %d nodes and %v", o.Service.Nodes, span(o.Service.Limit), p.Service.Nodes, span(p.Service.Limit))
	}
}

// baseline sets a baseline as its flag says, or tunes it.
func (v *validate) baseline(ctx context.Context, name string, b policy.Baseline) (validation.Player, map[string]any, error) {
	if b.Knob == nil {
		return validation.With(b.Policy(0)), nil, nil
	}
	setting, given, err := v.e.knob(b.Knob)
	settings := map[string]any{}
	switch {
	case err != nil || given:
	case b.Knob.AtCost != nil:
		setting = b.Knob.AtCost(v.overlap)
	default:
		setting, settings["training_cost_hours"], err = v.tune(ctx, name, b)
	}
	settings[b.Knob.Name] = setting
	return validation.With(b.Policy(setting)), settings, err
}

// tune returns the setting that costs least on the training range.
func (v *validate) tune(ctx context.Context, name string, b policy.Baseline) (setting, cost float64, err error) {
	from, to, err := v.e.trainingRange(v.t, v.plan)
	if err != nil {
		return 0, 0, err
	}
	settings := b.Knob.Tunable(float64(v.plan.Service.Limit) / 3600)
	candidates := make([]policy.Policy, len(settings))
	for i, s := range settings {
		candidates[i] = b.Policy(s)
	}
	plan := validation.TuningPlan(from, to, v.plan.History, v.plan.Service, v.tuning)
	bar := v.env.Progress("tune "+name, int64(plan.Episodes*len(candidates)))
	defer bar.Done()
	best, cost, err := v.episodes(plan, bar).Tune(ctx, candidates, v.cost)
	if err != nil {
		return 0, 0, err
	}
	return settings[best], cost, nil
}

// rivals are the baselines that a comparison plays.
func rivals() (names []string) {
	for _, b := range policy.Baselines() {
		if b.New.Rival {
			names = append(names, b.Name)
		}
	}
	return names
}

// versus tests the played episodes against the rivals and says whether the
// best of them is beaten.
func (v *validate) versus(ctx context.Context, result *validated, played []validation.Played, blocks []int) error {
	result.Versus = map[string]validation.Paired{}
	best, least := "", 0.0
	for _, name := range rivals() {
		if name == v.model {
			continue
		}
		player, _, err := v.player(ctx, name)
		if err != nil {
			return err
		}
		other, err := v.play(ctx, name, player)
		if err != nil {
			return err
		}
		paired, err := validation.Compare(validation.Costs(played, v.cost), validation.Costs(other, v.cost), blocks)
		if err != nil {
			return err
		}
		result.Versus[name] = paired
		if cost := result.CostHours.Mean.Value - paired.Difference.Value; best == "" || cost < least {
			best, least = name, cost
		}
	}
	switch result.Versus[best].Verdict {
	case "better":
		result.Verdict = fmt.Sprintf("%s beats %s, the best of the baselines", v.model, best)
	case "worse":
		result.Verdict = fmt.Sprintf("%s does not beat the baselines: it is worse than %s", v.model, best)
	default:
		result.Verdict = fmt.Sprintf("%s does not beat the baselines: it is not told apart from %s", v.model, best)
	}
	return nil
}

func (r validated) show(p *cli.Page) {
	p.Line("%s%s", r.Model, described(r.Settings))
	t := p.Table("load", "episodes", "interruption (h)", "p50", "p90", "overlap (h)", "p90", "no interruption", "reduction", "cost (h)", "wasted node-hours")
	add := func(name string, f validation.Figures) {
		t.Add(name, f.Episodes, f.InterruptionHours.Mean, f.InterruptionHours.P50, f.InterruptionHours.P90, f.OverlapHours.Mean, f.OverlapHours.P90,
			cli.Share(f.ZeroInterruptionShare), (*cli.Share)(f.ReductionVsReactive), f.CostHours.Mean, f.WastedNodeHours)
	}
	add("all", r.Figures)
	for _, load := range []validation.Load{validation.Low, validation.Medium, validation.Heavy} {
		if f := r.ByLoad[load]; f.Episodes > 0 {
			add(string(load), f)
		}
	}
	worth := ""
	if r.EffectiveEpisodes > 0 {
		worth = fmt.Sprintf("; effective sample size of the cost %.0f", r.EffectiveEpisodes)
	}
	p.Line("%d episodes in %s of time that do not overlap%s", r.Episodes, counted(r.Blocks, "span"), worth)
	against := func(name string, v validation.Paired) {
		p.Line("against %s: %s h, p %.2g: %s", name, cli.Text(v.Difference), v.P, v.Verdict)
	}
	if v := r.VersusReactive; v != nil {
		against("reactive", *v)
	}
	for _, name := range rivals() {
		if v, ok := r.Versus[name]; ok {
			against(name, v)
		}
	}
	if r.Verdict != "" {
		p.Line("%s", r.Verdict)
	}
}

// described lists settings in order of their names, as " (name value, ...)".
func described(settings map[string]any) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		parts = append(parts, fmt.Sprintf("%s %v", name, settings[name]))
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}
