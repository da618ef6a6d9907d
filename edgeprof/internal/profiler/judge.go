package profiler

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/foretime/foretime/edgeprof/internal/measurement"
	"github.com/foretime/foretime/shared/regression"
)

// Validation names what predictions are judged by: what is left out of the training.
type Validation string

// The validations.
const (
	ByFamily Validation = "family" // all models of a family, everywhere
	ByDevice Validation = "device" // a device, but for its operator chains
	ByRow    Validation = "row"    // a tenth of the rows, as the original has it: rows of the same model stay
)

// The methods of prediction.
const (
	MethodKernels = "kernels"      // rates and trees, kernel by kernel
	MethodRates   = "rates"        // rates alone
	MethodWhole   = "whole_models" // trees on counts of the whole model
)

// test is one measurement that a prediction is held against.
type test struct {
	of     int // case
	actual float64
}

// judgement holds the predictions for the cases that were left out.
type judgement struct {
	cases     []Case
	tests     []test
	predicted map[string][]float64 // by method or baseline; NaN for none
}

// fold is one round of a validation.
type fold struct {
	train []Case
	tests []test
}

// judge leaves out each part in turn.
func judge(ctx context.Context, cases []Case, v Validation, rounds int) (*judgement, error) {
	folds, err := foldsOf(ctx, cases, v)
	if err != nil {
		return nil, err
	}
	j := &judgement{cases: cases, predicted: map[string][]float64{}}
	for _, f := range folds {
		if err := j.add(ctx, f, rounds); err != nil {
			return nil, err
		}
	}
	j.drop()
	return j, nil
}

// drop takes away the methods without any answer.
func (j *judgement) drop() {
	for name, p := range j.predicted {
		if !slices.ContainsFunc(p, func(v float64) bool { return v > 0 }) {
			delete(j.predicted, name)
		}
	}
}

func (j *judgement) add(ctx context.Context, f fold, rounds int) error {
	m, err := learn(ctx, f.train, rounds)
	if err != nil {
		return err
	}
	plain := map[string]*Calibration{}
	for _, c := range m.Settings {
		var own []Case
		for _, t := range f.train {
			if t.Setting == c.Facts.Setting {
				own = append(own, t)
			}
		}
		plain[c.Facts.Setting] = fit(own, c.Facts, nil, 0)
	}
	baselines := map[string]baseline{BaselineNearest: nearest(f.train), BaselineRoofline: roofline(f.train)}
	for _, t := range f.tests {
		c := &j.cases[t.of]
		j.tests = append(j.tests, t)
		put := func(name string, v float64) { j.predicted[name] = append(j.predicted[name], v) }
		kernels, rates := math.NaN(), math.NaN()
		if s := m.setting(c.Setting); s != nil && len(c.Kernels) > 0 {
			kernels, rates = s.idle(c.Kernels), plain[c.Setting].idle(c.Kernels)
		}
		put(MethodKernels, kernels)
		put(MethodRates, rates)
		whole, err := m.Whole.seconds(&c.Rows[0])
		if err != nil {
			return err
		}
		put(MethodWhole, whole)
		for name, predict := range baselines {
			put(name, predict(c))
		}
	}
	return nil
}

// foldsOf deals the cases out.
func foldsOf(ctx context.Context, cases []Case, v Validation) ([]fold, error) {
	switch v {
	case ByFamily:
		return groups(cases, families(cases), func(c *Case) string { return c.Family }, "families")
	case ByDevice:
		_, names := bySetting(cases)
		return groups(cases, names, func(c *Case) string { return c.Setting }, "devices")
	case ByRow:
		return rowFolds(ctx, cases)
	}
	return nil, fmt.Errorf("%w %q: want family, device or row", ErrValidation, v)
}

// groups leaves out one group at a time. Operator chains stay: they calibrate a new device.
func groups(cases []Case, names []string, group func(*Case) string, what string) ([]fold, error) {
	if len(names) < 2 {
		return nil, fmt.Errorf("%w: %d %s, want 2 or more; to leave out rows instead, use --cv row", ErrTooFew, len(names), what)
	}
	var folds []fold
	for _, name := range names {
		var f fold
		for i := range cases {
			c := &cases[i]
			switch {
			case c.Family == Operators || group(c) != name:
				f.train = append(f.train, *c)
			case c.timed():
				f.tests = append(f.tests, test{i, c.Seconds})
			default:
				f.tests = append(f.tests, c.rowTests(i)...)
			}
		}
		folds = append(folds, f)
	}
	return folds, nil
}

// rowTests makes a case of its own of every row: their loads differ.
func (c *Case) rowTests(i int) []test {
	tests := make([]test, len(c.Rows))
	for k := range tests {
		tests[k] = test{of: i, actual: c.Rows[k].Time.Value}
	}
	return tests
}

// rowFolds deals out the rows in ten folds.
func rowFolds(ctx context.Context, cases []Case) ([]fold, error) {
	type place struct{ of, row int }
	var places []place
	for i := range cases {
		if cases[i].Family == Operators {
			continue
		}
		for r := range cases[i].Rows {
			places = append(places, place{i, r})
		}
	}
	parts, err := regression.RowFolds(len(places), min(10, len(places)), 42)
	if err != nil {
		return nil, err
	}
	var folds []fold
	for _, p := range parts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var f fold
		out := map[place]bool{}
		for _, i := range p.Test {
			out[places[i]] = true
			f.tests = append(f.tests, test{places[i].of, cases[places[i].of].Rows[places[i].row].Time.Value})
		}
		for i := range cases {
			if c, ok := cases[i].keep(func(r int) bool { return !out[place{i, r}] }); ok {
				f.train = append(f.train, c)
			}
		}
		folds = append(folds, f)
	}
	return folds, nil
}

// keep is a case with some of its rows; false when none is left.
func (c Case) keep(row func(int) bool) (Case, bool) {
	all := c.Rows
	c.Rows, c.Seconds = nil, math.Inf(1)
	for r := range all {
		if row(r) {
			c.Rows = append(c.Rows, all[r])
			c.Seconds = min(c.Seconds, all[r].Time.Value)
		}
	}
	if c.Runtime == "ort" {
		c.Kernels = scaled(c.Kernels, c.Seconds)
	}
	return c, len(c.Rows) > 0
}

// scaled makes kernels sum to another time.
func scaled(kernels []measurement.Kernel, seconds float64) []measurement.Kernel {
	out := slices.Clone(kernels)
	sum := 0.0
	for _, k := range out {
		sum += known(k.Seconds, 0)
	}
	for i := range out {
		if k := &out[i]; k.Seconds != nil && sum > 0 && !math.IsInf(seconds, 0) {
			t := *k.Seconds * seconds / sum
			k.Seconds = &t
		}
	}
	return out
}
