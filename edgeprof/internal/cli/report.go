package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/foretime/foretime/edgeprof/profiler"
	"github.com/foretime/foretime/shared/chart"
	"github.com/foretime/foretime/shared/cli"
)

// printReport prints a judgement as a table.
func printReport(env *cli.Env, r *profiler.Report) error {
	if _, err := fmt.Fprintf(env.Stdout, "%d rows, %d models of %d families on %d devices; left out: %s\n\n", r.Rows, r.Models, r.Families, r.Devices, r.Validation); err != nil {
		return err
	}
	table := cli.Table{Header: []string{"prediction", "MAPE %", "within 5 %", "within 10 %", "Spearman", "fastest device %", "regret %", "MAE ms", "RMSE ms", "R2"}}
	add := func(name string, s profiler.Scores) {
		cell := func(v *float64, scale float64, format string) string {
			if v == nil {
				return ""
			}
			return fmt.Sprintf(format, scale**v)
		}
		table.Add(name, cell(s.MAPE, 100, "%.1f"), cell(s.Within5, 100, "%.1f"), cell(s.Within10, 100, "%.1f"), cell(s.Spearman, 1, "%.3f"),
			cell(s.Top1, 100, "%.1f"), cell(s.Regret, 100, "%.2f"), cell(s.MAE, 1000, "%.3g"), cell(s.RMSE, 1000, "%.3g"), cell(s.R2, 1, "%.3f"))
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
	if _, err := table.WriteTo(env.Stdout); err != nil {
		return err
	}
	for _, line := range []struct {
		text  string
		value *float64
	}{
		{"a repeat of the same measurement is within 10 % in", r.Ceiling}, {"intervals from other families hold the truth in", r.Coverage}, {"the device that is fastest most often is so in", r.MostFastest},
	} {
		if line.value != nil {
			if _, err := fmt.Fprintf(env.Stdout, "%s %.1f %%\n", line.text, 100**line.value); err != nil {
				return err
			}
		}
	}
	return nil
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
