package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/foretime/foretime/edgeprof/internal/profiler"
	"github.com/foretime/foretime/shared/chart"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/plural"
)

// reported prints an evaluation as a table.
func reported(p *cli.Page, r *profiler.Report) {
	p.Line("%s, %s of %s on %s; left out: %s", plural.Count(r.Rows, "row"), plural.Count(r.Models, "model"), plural.Count(r.Families, "family"), plural.Count(r.Devices, "device"), r.Validation)
	table := p.Table("prediction", "MAPE", "within 5 %", "within 10 %", "Spearman", "fastest device", "regret", "MAE ms", "RMSE ms", "R2")
	add := func(name string, s profiler.Scores) {
		table.Add(name, share(s.MAPE), share(s.Within5), share(s.Within10), s.Spearman, share(s.Top1), share(s.Regret), milli(s.MAE), milli(s.RMSE), s.R2)
	}
	for _, name := range []string{profiler.MethodKernels, profiler.MethodRates, profiler.MethodWhole} {
		if s, ok := r.Methods[name]; ok {
			add(name, s)
		}
	}
	for _, name := range []string{profiler.BaselineRoofline, profiler.BaselineNearest} {
		if s, ok := r.Baselines[name]; ok {
			add("baseline: "+strings.ReplaceAll(name, "_", " "), s)
		}
	}
	for _, line := range []struct {
		text  string
		value *float64
	}{
		{"repeated measurements within 10 % of each other:", r.Ceiling}, {"measured times inside intervals from other families:", r.Coverage}, {"share of models for which the most frequent winner is fastest:", r.MostFastest},
	} {
		if line.value != nil {
			p.Line("%s %s", line.text, cli.Text(share(line.value)))
		}
	}
}

// share converts a fraction for printing; nil is unknown.
func share(v *float64) *cli.Share { return (*cli.Share)(v) }

// milli converts seconds to milliseconds; nil is unknown.
func milli(v *float64) *float64 {
	if v == nil {
		return nil
	}
	m := 1000 * *v
	return &m
}

// plotReport draws predicted against measured times.
func plotReport(dir string, r *profiler.Report) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	var series []chart.Series
	at := map[string]int{}
	for _, t := range r.Tested {
		if !(t.Actual > 0) {
			continue
		}
		i, ok := at[t.Setting]
		if !ok {
			i = len(series)
			at[t.Setting], series = i, append(series, chart.Series{Name: t.Setting})
		}
		series[i].X, series[i].Y = append(series[i].X, 1000*t.Actual), append(series[i].Y, 1000*t.Predicted)
	}
	return chart.Save(filepath.Join(dir, "predicted.svg"), chart.Scatter{
		Frame: chart.Frame{Title: fmt.Sprintf("Left out by %s", r.Validation), X: "measured, ms", Y: "predicted, ms", LogX: true, LogY: true}, Series: series, Identity: true,
	})
}
