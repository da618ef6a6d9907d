package cli

import (
	"context"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/mirage/internal/chain"
	"github.com/foretime/foretime/mirage/internal/model"
	"github.com/foretime/foretime/mirage/internal/policy"
	"github.com/foretime/foretime/mirage/internal/samples"
	"github.com/foretime/foretime/mirage/internal/simulator"
	"github.com/foretime/foretime/mirage/internal/trace"
	"github.com/foretime/foretime/mirage/internal/validation"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/file"
	"github.com/foretime/foretime/shared/plural"
)

// validate holds the flags and results of the validate command.
type validate struct {
	env     *cli.Env
	e       episodes
	model   string
	log     string // file to write
	overlap float64
	compare bool
	release bool
	out     cli.Output

	played map[string][]validation.Played

	t    *trace.Trace
	w    *simulator.Workload
	plan samples.Plan
	cost chain.Cost
}

func newValidateCommand(env *cli.Env) *cobra.Command {
	v := &validate{env: env}
	c := &cobra.Command{
		Use:   "validate FILE --start DATE",
		Short: "Test a model or a baseline on episodes it has not seen",
		Long: `Simulate service pairs on the queue of a log, let a policy decide every ten minutes
whether to submit the successor, and compare with submitting it after the predecessor
has ended (reactive) in the same episodes.

--model is the file of a trained model, or one of the baselines:

` + policy.Baselines().Help() + `  oracle      the decision with the best outcome (knows the future)
  array       the tasks of one array in turn (sbatch --array=1-N%1): no overlap

policy.NAME sets the setting of a baseline; fixed needs policy.lead_hours.`,
		Example: "  mirage validate ls6-a100.log --config config.json --model avg --episodes 168 --interval 3h --start 2023-02-01 --out reward.log",
		Args:    cobra.ExactArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return v.run(cmd.Context(), args[0]) },
	}
	v.e.flags(c, 156, 4*3600)
	f := c.Flags()
	f.StringVar(&v.model, "model", "futures", "model file, or a baseline: "+strings.Join(append(policy.Baselines().Names(), oracle, array), ", "))
	f.StringVar(&v.log, "out", "", "write the reward log to this file")
	cli.OutputFile(c, "out")
	f.Float64Var(&v.overlap, "overlap-cost", 1, "cost of an hour of overlap in hours of interruption")
	f.BoolVar(&v.release, "release", false, "cancel a predecessor once its successor runs, as provision --release does: no overlap")
	f.BoolVar(&v.compare, "compare", false, "simulate "+strings.Join(rivals(), ", ")+" too and test the difference to each")
	v.out.Flags(c, validated{})
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
	if v.model == array {
		v.e.caps = []int64{1} // tasks that run at once
	}
	if v.t, v.w, v.plan, err = v.e.open(v.env, path, 2); err != nil {
		return err
	}
	names := []string{v.model}
	if v.compare {
		names = append(names, slices.DeleteFunc(rivals(), func(name string) bool { return name == v.model })...)
	}
	settings, err := v.play(ctx, names)
	if err != nil {
		return err
	}
	played, reactive := v.played[v.model], v.played["reactive"]
	if v.log != "" {
		if err := file.Write(v.log, func(w io.Writer) error { return validation.WriteLog(w, played, v.t.Zone) }); err != nil {
			return err
		}
	}
	result := validated{
		subject: subject{
			Model: v.model, Log: filepath.Base(path), Date: begin.UTC().Format(time.DateOnly), OverlapCost: v.overlap,
			Nodes: v.plan.Service.Nodes, LimitSeconds: v.plan.Service.Limit, Settings: settings,
		},
		Summary: validation.Summarise(played, reactive, v.plan, v.cost),
	}
	if v.compare {
		v.versus(&result, names[1:], validation.Blocks(v.plan, reactive))
	}
	return v.out.Print(v.env, result, result.show)
}

// play simulates the named policies and reactive. It returns the settings of the model.
func (v *validate) play(ctx context.Context, names []string) (settings map[string]any, err error) {
	v.played = map[string][]validation.Played{}
	apart := map[string]validation.Player{oracle: validation.Oracle(v.cost), array: validation.InTurn}
	var together []string
	var policies []policy.Policy
	for _, name := range append(names, "reactive") {
		if player, found := apart[name]; found {
			if err := v.walk(ctx, []string{name}, player); err != nil {
				return nil, err
			}
			continue
		}
		d, err := v.e.decider(name, v.overlap, oracle, array)
		if err != nil {
			return nil, err
		}
		if d.trained != nil {
			v.doubt(d.trained)
		}
		if name == v.model {
			settings = d.settings
		}
		together, policies = append(together, name), append(policies, d.Policy)
	}
	return settings, v.walk(ctx, together, validation.With(policies...))
}

// walk plays the episodes, and keeps the outcomes of each name.
func (v *validate) walk(ctx context.Context, names []string, p validation.Player) error {
	bar := v.env.Progress(strings.Join(names, ", "), int64(v.plan.Episodes))
	defer bar.Done()
	played, err := validation.Episodes{Workload: v.w, Plan: v.plan, Workers: v.e.Workers, Progress: func() { bar.Add(1) }}.Play(ctx, p)
	for i, of := range played {
		for k := range of {
			if v.release {
				of[k].Outcome = of[k].Release()
			}
		}
		v.played[names[i]] = of
	}
	return err
}

// Players that are no policies: oracle tries every decision, because it knows the future, and
// array decides nothing.
const (
	oracle = "oracle"
	array  = "array"
)

// doubt warns if a model was trained on the test episodes, or for another service.
func (v *validate) doubt(m *model.Model) {
	o, p := m.Origin, v.plan
	if o.Saw(p.Submit(0), p.Submit(p.Episodes-1)+2*p.Service.Limit) {
		v.env.Log.Warnf("the model was trained on %s to %s, which overlaps the test episodes", v.t.Clock(o.From), v.t.Clock(o.To))
	}
	if o.Service.Nodes != p.Service.Nodes || o.Service.Limit != p.Service.Limit {
		v.env.Log.Warnf("the model was trained for a service of %s and %v, not for %s and %v", plural.Count(o.Service.Nodes, "node"), span(o.Service.Limit), plural.Count(p.Service.Nodes, "node"), span(p.Service.Limit))
	}
}

// rivals returns the baselines of a comparison.
func rivals() (names []string) {
	for _, b := range policy.Baselines() {
		if b.New.Rival {
			names = append(names, b.Name)
		}
	}
	return names
}

// versus compares the model with the rivals, episode by episode, and says whether it
// beats the best of them.
func (v *validate) versus(result *validated, others []string, blocks []int) {
	result.Versus = map[string]validation.Paired{}
	best, least := "", 0.0
	for _, name := range others {
		paired := validation.Compare(validation.Costs(v.played[v.model], v.cost), validation.Costs(v.played[name], v.cost), blocks)
		result.Versus[name] = paired
		if cost := result.CostHours.Mean.Value - paired.Difference.Value; best == "" || cost < least {
			best, least = name, cost
		}
	}
	switch result.Versus[best].Verdict {
	case "better":
		result.Verdict = fmt.Sprintf("%s beats %s, the best baseline", v.model, best)
	case "worse":
		result.Verdict = fmt.Sprintf("%s does not beat the baselines: it is worse than %s", v.model, best)
	default:
		result.Verdict = fmt.Sprintf("%s does not beat the baselines: no difference to %s is shown", v.model, best)
	}
}

func (r validated) show(p *cli.Page) {
	p.Line("%s%s", r.Model, formatSettings(r.Settings))
	t := p.Table("load", "episodes", "interruption (h)", "p50 (h)", "p90 (h)", "overlap (h)", "p90 (h)", "no interruption", "reduction", "cost (h)", "wasted node-hours")
	explain := false // some interval is wider than a day
	add := func(name string, f validation.Figures) {
		i, o := f.InterruptionHours, f.OverlapHours
		t.Add(name, f.Episodes, i.Mean, i.P50, i.P90, o.Mean, o.P90,
			cli.Share(f.ZeroInterruptionShare), (*cli.Share)(f.ReductionVsReactive), f.CostHours.Mean, f.WastedNodeHours)
		explain = explain || wide(i.Mean) || wide(o.Mean) || wide(f.CostHours.Mean)
	}
	add("all", r.Figures)
	for _, load := range []validation.Load{validation.Low, validation.Medium, validation.Heavy} {
		if f := r.ByLoad[load]; f.Episodes > 0 {
			add(string(load), f)
		}
	}
	p.Line("%s in %s of time without overlap", plural.Count(r.Episodes, "episode"), plural.Count(r.Blocks, "span"))
	against := func(name string, v validation.Paired) {
		p.Line("compared with %s: %v, p %.2g: %s", name, wait(v.Difference), v.P, v.Verdict)
		explain = explain || wide(v.Difference)
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
	if explain {
		p.Line("an interval is wider than a day: the results of the %s of time differ that much", plural.Count(r.Blocks, "span"))
	}
}

// formatSettings formats settings by name, as " (name value, ...)".
func formatSettings(settings map[string]any) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		parts = append(parts, fmt.Sprintf("%s %v", name, settings[name]))
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}
