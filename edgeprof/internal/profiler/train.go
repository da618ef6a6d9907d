package profiler

import (
	"cmp"
	"context"
	"slices"

	"github.com/foretime/foretime/edgeprof/internal/measurement"
	"github.com/foretime/foretime/edgeprof/internal/onnx"
)

// bySetting parts cases, and names the settings in order.
func bySetting(cases []Case) (map[string][]Case, []string) {
	parts := map[string][]Case{}
	var names []string
	for _, c := range cases {
		if parts[c.Setting] == nil {
			names = append(names, c.Setting)
		}
		parts[c.Setting] = append(parts[c.Setting], c)
	}
	slices.Sort(names)
	return parts, names
}

// learn fits a model to cases: the rates of each setting, trees that refine
// them, and trees on whole models. Intervals are not known yet.
func learn(ctx context.Context, cases []Case, rounds int) (*Model, error) {
	m := &Model{}
	rows := trainingRows(cases)
	var err error
	if m.Whole, err = learnWhole(ctx, rows); err != nil {
		return nil, err
	}
	withKernels := slices.DeleteFunc(slices.Clone(cases), func(c Case) bool { return !c.timed() })
	parts, names := bySetting(withKernels)
	if len(names) == 0 {
		return m, nil
	}
	rates := map[string]map[onnx.Class]Rates{}
	for _, name := range names {
		facts := parts[name][0].facts()
		rates[name] = ratesFor(parts[name], packedFrom(&facts))
	}
	m.Kernels = map[string]*KernelTrees{}
	for _, name := range names {
		runtime := parts[name][0].Runtime
		if m.Kernels[runtime] == nil {
			own := slices.DeleteFunc(slices.Clone(withKernels), func(c Case) bool { return c.Runtime != runtime })
			if m.Kernels[runtime], err = learnTrees(ctx, own, rates, rounds); err != nil {
				return nil, err
			}
		}
		m.Settings = append(m.Settings, fit(parts[name], parts[name][0].facts(), m.Kernels[runtime], 1))
	}
	return m, nil
}

// timed reports whether a kernel of the case has a time.
func (c *Case) timed() bool {
	return slices.ContainsFunc(c.Kernels, func(k measurement.Kernel) bool { return k.Seconds != nil && *k.Seconds > 0 })
}

// facts returns the machine's data in the case's rows.
func (c *Case) facts() Facts {
	f := Facts{Setting: c.Setting, Runtime: c.Runtime, Threads: c.Threads, Quota: c.Quota, Products: Products(c.Runtime)}
	if len(c.Rows) > 0 {
		r := &c.Rows[len(c.Rows)-1]
		f.UUID, f.Device, f.Processor, f.Cores, f.MaxMHz, f.When = r.UUID, r.DeviceModel, r.Processor, int(known(r.Cores, 0)), known(r.MaxMHz, 0), r.End
	}
	return f
}

// trainingRows returns the rows for trees on whole models: if kernels were measured, one row
// for each case with its shortest time; else every row, since the original collector draws
// another load for each.
func trainingRows(cases []Case) []measurement.Row {
	var rows []measurement.Row
	for _, c := range cases {
		if len(c.Kernels) > 0 {
			row := c.Rows[0]
			row.Time = measurement.NewSeconds(c.Seconds)
			rows = append(rows, row)
			continue
		}
		rows = append(rows, c.Rows...)
	}
	return rows
}

// Options of training. The zero value works.
type Options struct {
	Validation Validation // ByFamily
	Rounds     int        // trees that refine the rates of kernels: 300
}

// Train judges how well such data predict what is left out of them, by the
// validation that is asked for, and then learns from all of it. The error
// matches [ErrTooFew] or [ErrValidation], or is one of the trees'.
func Train(ctx context.Context, d *measurement.Data, o Options) (*Model, *Report, error) {
	v, rounds := cmp.Or(o.Validation, ByFamily), cmp.Or(o.Rounds, 300)
	cases := Cases(d)
	byFamily, err := judge(ctx, cases, ByFamily, rounds)
	if err != nil && v == ByFamily {
		return nil, nil, err
	}
	asked := byFamily
	if v != ByFamily {
		if asked, err = judge(ctx, cases, v, rounds); err != nil {
			return nil, nil, err
		}
	}
	report, err := asked.report(d, v)
	if err != nil {
		return nil, nil, err
	}
	m, err := learn(ctx, cases, rounds)
	if err != nil {
		return nil, nil, err
	}
	bounds := byFamily
	if bounds == nil { // too few families: the asked ones must do
		bounds = asked
	}
	m.bound(bounds)
	m.Facts = Training{
		Rows: len(d.Rows), Models: report.Models, Families: report.Families, Devices: report.Devices, Kernels: len(d.Kernels), Validation: string(v), MAPE: report.Methods[report.Method].MAPE,
	}
	return m, report, nil
}

// bound gives every setting the interval of its errors on what was left out, or,
// with too few of its own, of all settings' errors.
func (m *Model) bound(j *judgement) {
	var all []Error
	own := map[string][]Error{}
	for i, t := range j.tests {
		c := &j.cases[t.of]
		if p := j.predicted[MethodKernels]; p != nil && p[i] > 0 && t.actual > 0 {
			e := Error{Model: c.Model, Family: c.Family, Measured: t.actual, Predicted: p[i]}
			own[c.Setting] = append(own[c.Setting], e)
			all = append(all, e)
		}
	}
	for _, c := range m.Settings {
		c.Errors = own[c.Facts.Setting]
		if len(c.Errors) < FewestModels {
			c.Errors = all
		}
		c.bound()
	}
	var whole []Error
	for i, p := range j.predicted[MethodWhole] {
		if p > 0 && j.tests[i].actual > 0 {
			whole = append(whole, Error{Measured: j.tests[i].actual, Predicted: p})
		}
	}
	m.Whole.band = bandOf(whole)
}

// FewestModels is the number of models whose errors an interval of [Level] needs.
const FewestModels = 19
