package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/foretime/foretime/allox-est/internal/backtest"
	"github.com/foretime/foretime/allox-est/internal/jobspec"
	"github.com/foretime/foretime/allox-est/internal/journal"
	"github.com/foretime/foretime/shared/cli"
)

// trials holds the flags of "validate" for a file that lists jobs.
type trials struct {
	env    *cli.Env
	sample sampleFlags
	dir    string
	answer cli.Output
}

func (t *trials) run(ctx context.Context, path string) error {
	e, err := backtest.LoadExperiment(path)
	if err != nil {
		return err
	}
	specs, err := e.Specs()
	if err != nil {
		return err
	}
	if t.dir == "" {
		t.dir = path[:len(path)-len(filepath.Ext(path))]
	}
	if err := os.MkdirAll(t.dir, 0o755); err != nil {
		return err
	}
	var all []backtest.Outcome
	for _, spec := range specs {
		for _, device := range e.Devices {
			outcomes, err := t.compare(ctx, e, spec, device)
			if err != nil {
				return err
			}
			all = append(all, outcomes...)
		}
	}
	for _, o := range all {
		if o.Failed > 0 {
			t.env.Log.Warnf("%s on %s, samples %s, method %s: %d of %d estimates failed: %s", o.Job, o.Device, dashed(o.Samples), o.Method, o.Failed, o.Estimates, o.Reason)
		}
	}
	return t.answer.Print(t.env, all, func(p *cli.Page) { showOutcomes(p, all) })
}

// compare runs one job on a device and scores every method on the runs.
func (t *trials) compare(ctx context.Context, e *backtest.Experiment, spec *jobspec.Spec, device string) ([]backtest.Outcome, error) {
	if spec.Devices[device].Elsewhere() {
		return nil, fmt.Errorf("%s: device %s is on another machine; experiments run on this one", spec.Name, device)
	}
	full, err := t.runs(ctx, spec, device, journal.Full, "full", slices.Repeat([]int{spec.Epochs}, e.Full))
	if err != nil {
		return nil, err
	}
	if len(full) == 0 {
		return nil, fmt.Errorf("%s on %s: no whole run succeeded", spec.Name, device)
	}
	var outcomes []backtest.Outcome
	for _, lengths := range e.Samples {
		sets := make([][]journal.Run, e.Repeats)
		for i := range sets {
			name := fmt.Sprintf("%s.%d", dashed(lengths), i+1)
			if sets[i], err = t.runs(ctx, spec, device, journal.Sample, name, lengths); err != nil {
				return nil, err
			}
		}
		for _, method := range e.Methods {
			o := backtest.Outcome{Job: spec.Name, Device: device, Samples: lengths, Method: method}
			outcomes = append(outcomes, backtest.JudgeSamples(o, spec.Epochs, sets, full))
		}
	}
	return outcomes, nil
}

// runs makes the missing runs of a kind, in a journal of their own, and returns those
// that succeeded.
func (t *trials) runs(ctx context.Context, spec *jobspec.Spec, device, kind, name string, epochs []int) ([]journal.Run, error) {
	path := filepath.Join(t.dir, fmt.Sprintf("%s.%s.%s.jsonl", spec.Name, device, name))
	j, err := journal.Open(path)
	if err != nil {
		return nil, err
	}
	defer j.Close()
	s, done := newSampler(t.env, spec, j)
	defer done()
	if s.Identity, err = t.sample.reuse(ctx, t.env, spec, j, []string{device}); err != nil {
		return nil, err
	}
	if err := s.Lengths(ctx, device, kind, epochs); err != nil {
		return nil, err
	}
	all := j.Of(journal.Key{Job: spec.Hash(device), Device: device}, kind)
	return slices.DeleteFunc(all, func(r journal.Run) bool { return r.Failed() }), nil
}

func dashed(lengths []int) string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(lengths), "[]"), " ", "-")
}

func showOutcomes(p *cli.Page, all []backtest.Outcome) {
	t := p.Table("job", "device", "samples", "method", "estimates", "error", "worst", "CPU error", "covered", "width")
	for _, o := range all {
		row := []any{o.Job, o.Device, dashed(o.Samples), o.Method, o.Estimates - o.Failed}
		if o.Failed == o.Estimates {
			t.Add(append(row, nil, nil, nil, nil, nil)...)
			continue
		}
		t.Add(append(row, cli.Share(o.Error), cli.Share(o.Worst), cli.Share(o.CPU), cli.Share(o.Covered), (*cli.Share)(o.Width))...)
	}
}
