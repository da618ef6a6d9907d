package cli

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/edgeprof/collection"
	"github.com/foretime/foretime/edgeprof/profiler"
	"github.com/foretime/foretime/shared/chart"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/dataset"
	"github.com/foretime/foretime/shared/file"
)

// newTrainCommand learns from collected measurements.
func newTrainCommand(env *cli.Env) *cobra.Command {
	var data, out, cv, plots, settings string
	var asJSON bool
	c := &cobra.Command{
		Use:   "train",
		Short: "Learn to predict times from collected measurements, and say how well that works",
		Long: `Learn to predict times from collected measurements, and say how well that works.

Predictions are judged on what is left out: every family of models in turn, every
device (but for its operator chains), or every tenth of the rows, where rows of
the same model stay in. The model that is saved has then learnt from all rows.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			d, err := readMeasurements(env, data)
			if err != nil {
				return err
			}
			m, report, err := profiler.Train(cmd.Context(), d, profiler.Options{Validation: profiler.Validation(cv)})
			if errors.Is(err, profiler.ErrValidation) {
				return &cli.UsageError{Err: fmt.Errorf("--cv: %w", err)}
			}
			if err != nil {
				return fmt.Errorf("%s: %w", data, err)
			}
			if err := file.Write(out, m.Write); err != nil {
				return err
			}
			if plots != "" {
				if err := plotReport(plots, report); err != nil {
					return err
				}
			}
			if settings != "" {
				if err := writeCalibrations(settings, m); err != nil {
					return err
				}
			}
			if asJSON {
				return env.WriteJSON(report)
			}
			if err := printReport(env, report); err != nil {
				return err
			}
			_, err = fmt.Fprintf(env.Stdout, "\n%s: learnt from %d rows of %d models, SHA-256 %s\n", out, report.Rows, report.Models, m.Hash)
			return err
		},
	}
	f := c.Flags()
	f.StringVar(&data, "data", "", "folder of collected files, or one of them")
	f.StringVar(&out, "out", "model.json", "model file")
	f.StringVar(&cv, "cv", string(profiler.ByFamily), "what is left out to judge: family, device or row")
	f.StringVar(&plots, "plots", "", "folder for plots of the judgement (default: none)")
	f.StringVar(&settings, "calibrations", "", "folder for the rates of each setting, to rank with (default: none)")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	require(c, "data")
	return c
}

// writeCalibrations writes what the model knows of each setting as rank and
// serve read it.
func writeCalibrations(dir string, m *profiler.Model) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, c := range m.Settings {
		if err := writeCalibration(filepath.Join(dir, c.Facts.Setting+".json"), c); err != nil {
			return err
		}
	}
	return nil
}

// readMeasurements reads rows, and logs those that cannot be used.
func readMeasurements(env *cli.Env, path string) (*collection.Data, error) {
	d, err := collection.ReadDir(path)
	if err != nil {
		return nil, err
	}
	for _, bad := range d.Diagnostics {
		env.Log.Warn(bad)
	}
	if d.Missing > 0 {
		env.Log.Warnf("%s: %d rows without a time are left out", path, d.Missing)
	}
	return d, nil
}

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
	for _, name := range []string{profiler.BaselineNearest, profiler.BaselineRoofline, profiler.BaselineMean, profiler.BaselineMajority} {
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

// plotReport draws predicted against measured times, and how often each method
// is within 10 %.
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
	var names []string
	var shares []float64
	for _, group := range []map[string]profiler.Scores{r.Methods, r.Baselines} {
		for _, name := range []string{
			profiler.MethodKernels, profiler.MethodRates, profiler.MethodWhole, profiler.BaselineNearest, profiler.BaselineRoofline, profiler.BaselineMean,
		} {
			if s, ok := group[name]; ok && s.Within10 != nil {
				names, shares = append(names, strings.ReplaceAll(name, "_", " ")), append(shares, 100**s.Within10)
			}
		}
	}
	if r.Ceiling != nil {
		names, shares = append(names, "a repeat"), append(shares, 100**r.Ceiling)
	}
	return errors.Join(
		chart.Save(filepath.Join(dir, "predicted.svg"), chart.Scatter{
			Frame: chart.Frame{Title: fmt.Sprintf("Left out by %s", r.Validation), X: "measured, ms", Y: "predicted, ms", LogX: true, LogY: true}, Series: series, Identity: true,
		}),
		chart.Save(filepath.Join(dir, "within10.svg"), chart.Bars{
			Frame: chart.Frame{Title: "Predictions within 10 %", Y: "% of left-out measurements"}, Groups: names, Bars: []chart.Bar{{Name: "within 10 %", Values: shares}},
		}),
	)
}

// newEvalCommand holds a trained model against measurements.
func newEvalCommand(env *cli.Env) *cobra.Command {
	var model, data, plots string
	var asJSON bool
	c := &cobra.Command{
		Use:   "eval",
		Short: "Hold a trained model against collected measurements that it has not seen",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			m, err := readTrained(model)
			if err != nil {
				return err
			}
			d, err := readMeasurements(env, data)
			if err != nil {
				return err
			}
			report, err := m.Evaluate(d)
			if err != nil {
				return fmt.Errorf("%s: %w", data, err)
			}
			if plots != "" {
				if err := plotReport(plots, report); err != nil {
					return err
				}
			}
			if asJSON {
				return env.WriteJSON(report)
			}
			return printReport(env, report)
		},
	}
	f := c.Flags()
	f.StringVar(&model, "model", "", "model file, from train")
	f.StringVar(&data, "data", "", "folder of collected files, or one of them")
	f.StringVar(&plots, "plots", "", "folder for plots (default: none)")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	require(c, "model", "data")
	return c
}

func readTrained(path string) (*profiler.Model, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m, err := profiler.ReadModel(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// newPredictCommand predicts each row of a file of measurements.
func newPredictCommand(env *cli.Env) *cobra.Command {
	var model, data, out string
	c := &cobra.Command{
		Use:   "predict",
		Short: "Predict the time of each row of a collected file",
		Long: `Predict the time of each row of a collected file: its columns come back with
prediction, low and high, in seconds. Where MODEL.kernels.csv lies beside the file,
and the row's setting was trained on, the prediction is by kernels, else by counts.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			m, err := readTrained(model)
			if err != nil {
				return err
			}
			return predictFile(env, m, data, out)
		},
	}
	f := c.Flags()
	f.StringVar(&model, "model", "", "model file, from train")
	f.StringVar(&data, "data", "", "collected file")
	f.StringVar(&out, "out", "pred.csv", "file with the same columns and prediction, low and high")
	require(c, "model", "data")
	return c
}

func predictFile(env *cli.Env, m *profiler.Model, data, out string) error {
	text, err := readText(data)
	if err != nil {
		return err
	}
	table, err := dataset.Load[collection.Row](data, dataset.Options{})
	if err != nil {
		return err
	}
	if len(table.Diagnostics) > 0 {
		return table.Diagnostics[0] // a row left out would shift the others
	}
	if len(table.Rows) != len(text)-1 {
		return fmt.Errorf("%s: %d rows in %d lines", data, len(table.Rows), len(text)-1)
	}
	kernels, err := readKernels(strings.TrimSuffix(data, ".csv") + ".kernels.csv")
	if err != nil {
		return err
	}
	text[0] = append(text[0], "prediction", "low", "high")
	warned := map[string]bool{}
	for i := range table.Rows {
		row := table.Rows[i].Completed()
		a, err := m.PredictRow(&row, kernels[[2]string{row.ModelName, row.Setting}])
		if err != nil {
			return fmt.Errorf("%s: row %d: %w", data, i+1, err)
		}
		for _, w := range a.Warnings {
			if line := strings.TrimPrefix(fmt.Sprintf("%s: %v", row.ModelName, w), ": "); !warned[line] {
				warned[line] = true
				env.Log.Warn(line)
			}
		}
		for _, v := range []float64{a.Seconds.Value, a.Seconds.Low, a.Seconds.High} {
			text[i+1] = append(text[i+1], strconv.FormatFloat(v, 'g', -1, 64))
		}
	}
	return file.Write(out, func(w io.Writer) error { return csv.NewWriter(w).WriteAll(text) })
}

func readText(path string) ([][]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := csv.NewReader(f).ReadAll()
	if err == nil && len(text) == 0 {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return text, nil
}

// readKernels reads the kernels of models by model and setting, those of the
// first round; a file that is not there has none.
func readKernels(path string) (map[[2]string][]collection.KernelRow, error) {
	table, err := dataset.Load[collection.KernelRow](path, dataset.Options{})
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	kernels := map[[2]string][]collection.KernelRow{}
	for _, k := range table.Rows {
		if k.Round == 0 {
			key := [2]string{k.ModelName, k.Setting}
			kernels[key] = append(kernels[key], k)
		}
	}
	return kernels, nil
}
