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
	"github.com/foretime/foretime/shared/uncertainty"
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
	env     *cli.Env
	in      input
	m       machine
	e       episodes
	model   string
	out     string
	plots   string
	overlap float64
	tuning  int
	compare bool
	asJSON  bool
	knobs   knobs

	methods []validation.Method // played so far, for the charts

	t    *trace.Trace
	w    *simulator.Workload
	file *simulator.File
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
the given --service-nodes, where no flag sets them.`,
		Example: "  mirage validate ls6-a100.log --config config.json --model avg --episodes 168 --interval 3h --start 2023-02-01 --out reward.log",
		Args:    cobra.ExactArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return v.run(cmd.Context(), args[0]) },
	}
	v.in.flags(c)
	v.m.flags(c)
	v.e.flags(c, 156, "4h")
	f := c.Flags()
	f.StringVar(&v.model, "model", "futures", "file of a model, or a baseline: "+strings.Join(policy.Baselines().Names(), ", ")+", "+oracle)
	f.StringVar(&v.out, "out", "", "write reward.log to this file")
	f.StringVar(&v.plots, "plots", "", "draw distributions of interruption and overlap into this folder, as SVG")
	v.knobs.flags(f, "instead of tuning")
	f.Float64Var(&v.overlap, "overlap-cost", 1, "cost of an hour of overlap against one of interruption")
	f.IntVar(&v.tuning, "tuning-episodes", 240, "episodes of the training range to tune on, at most")
	f.BoolVar(&v.compare, "compare", false, "play "+strings.Join(rivals(), ", ")+" too and test against each")
	f.BoolVar(&v.asJSON, "json", false, "print JSON")
	return c
}

func (v *validate) run(ctx context.Context, path string) (err error) {
	begin := time.Now()
	if v.overlap < 0 {
		return cli.Usagef("--overlap-cost: %v is negative", v.overlap)
	}
	v.cost = chain.Cost{Overlap: v.overlap}
	if v.t, err = v.in.open(v.env, path); err != nil {
		return err
	}
	var config simulator.Config
	if config, v.file, err = v.m.config(v.t); err != nil {
		return err
	}
	if v.plan, err = v.e.plan(v.t, 2); err != nil {
		return err
	}
	if err := checkRoom(v.env, v.t, v.plan); err != nil {
		return err
	}
	if v.w, err = warm(v.t, config); err != nil {
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
	if v.out != "" {
		if err := file.Write(v.out, func(w io.Writer) error { return validation.WriteLog(w, played, v.t.Zone) }); err != nil {
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
	if v.asJSON {
		return v.env.WriteJSON(result)
	}
	return result.print(v.env.Stdout)
}

func (v *validate) play(ctx context.Context, name string, p validation.Player) ([]validation.Played, error) {
	bar := v.env.Progress(name, int64(v.plan.Episodes))
	defer bar.Done()
	played, err := validation.Play(ctx, v.w, v.plan, p, v.e.workers, func() { bar.Add(1) })
	if err == nil {
		v.methods = append(v.methods, validation.Method{Name: filepath.Base(name), Played: played})
	}
	return played, err
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
		v.env.Log.Warnf("the model was made for a service of %d nodes and %.3g h, this one is of %d nodes and %.3g h", o.Service.Nodes, float64(o.Service.Limit)/3600, p.Service.Nodes, float64(p.Service.Limit)/3600)
	}
}

// baseline sets a baseline as its flag says, or tunes it.
func (v *validate) baseline(ctx context.Context, name string, b policy.Baseline) (validation.Player, map[string]any, error) {
	if b.Knob == nil {
		return validation.With(b.Policy(0)), nil, nil
	}
	setting, given, err := v.knobs.setting(b.Knob)
	settings := map[string]any{}
	switch {
	case err != nil || given:
	case b.Knob.AtCost != nil:
		setting = b.Knob.AtCost(v.overlap)
	default:
		setting, settings["training_cost_hours"], err = v.tune(ctx, name, b)
	}
	settings[b.Knob.Result] = setting
	return validation.With(b.Policy(setting)), settings, err
}

// tune returns the setting that costs least on the training range.
func (v *validate) tune(ctx context.Context, name string, b policy.Baseline) (setting, cost float64, err error) {
	from, to, err := trainingRange(v.t, v.file, v.plan)
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
	best, cost, err := validation.Tune(ctx, v.w, plan, candidates, v.cost, v.e.workers, func() { bar.Add(1) })
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

func (r validated) print(w io.Writer) error {
	var t cli.Table
	t.Header = []string{"load", "episodes", "interruption (h)", "p50", "p90", "overlap (h)", "p90", "no interruption", "reduction", "cost (h)", "wasted node-hours"}
	add := func(name string, f validation.Figures) {
		reduction := "-"
		if f.ReductionVsReactive != nil {
			reduction = fmt.Sprintf("%.0f %%", 100**f.ReductionVsReactive)
		}
		t.Add(name, f.Episodes,
			shown(f.InterruptionHours.Mean),
			fmt.Sprintf("%.2f", f.InterruptionHours.P50), fmt.Sprintf("%.2f", f.InterruptionHours.P90),
			shown(f.OverlapHours.Mean), fmt.Sprintf("%.2f", f.OverlapHours.P90),
			fmt.Sprintf("%.0f %%", 100*f.ZeroInterruptionShare), reduction, shown(f.CostHours.Mean), fmt.Sprintf("%.1f", f.WastedNodeHours))
	}
	add("all", r.Figures)
	for _, load := range []validation.Load{validation.Low, validation.Medium, validation.Heavy} {
		if f := r.ByLoad[load]; f.Episodes > 0 {
			add(string(load), f)
		}
	}
	fmt.Fprintf(w, "%s%s\n\n", r.Model, described(r.Settings))
	if _, err := t.WriteTo(w); err != nil {
		return err
	}
	fmt.Fprintf(w, "\n%d episodes in %s of time that do not overlap", r.Episodes, counted(r.Blocks, "span"))
	if r.EffectiveEpisodes > 0 {
		fmt.Fprintf(w, "; they tell as much of the cost as %.0f independent ones", r.EffectiveEpisodes)
	}
	fmt.Fprintln(w)
	if p := r.VersusReactive; p != nil {
		versusLine(w, "reactive", *p)
	}
	for _, name := range rivals() {
		if p, ok := r.Versus[name]; ok {
			versusLine(w, name, p)
		}
	}
	if r.Verdict != "" {
		fmt.Fprintln(w, r.Verdict)
	}
	return nil
}

func versusLine(w io.Writer, name string, p validation.Paired) {
	fmt.Fprintf(w, "against %s: %s h, p %.2g: %s\n", name, shown(p.Difference), p.P, p.Verdict)
}

// shown is a value with its interval, where that is known.
func shown(p uncertainty.Prediction) string {
	if !p.Bounded() {
		return fmt.Sprintf("%.2f", p.Value)
	}
	return fmt.Sprintf("%.2f [%.2f, %.2f]", p.Value, p.Low, p.High)
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
