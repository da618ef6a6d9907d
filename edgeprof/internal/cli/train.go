package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/edgeprof/internal/measurement"
	"github.com/foretime/foretime/edgeprof/internal/profiler"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/file"
	"github.com/foretime/foretime/shared/plural"
)

// newTrainCommand returns train, which fits a model to collected measurements.
func newTrainCommand(env *cli.Env) *cobra.Command {
	var data, out, cv, plots, settings string
	var page cli.Output
	c := &cobra.Command{
		Use:   "train",
		Short: "Fit a model to collected measurements and evaluate it",
		Long: `Fit a model to collected measurements and evaluate it.

It is evaluated by cross-validation: each family of models is left out in turn,
or each device (its operator chains stay in), or each tenth of the rows (other
rows of the same model stay in). The saved model is fitted to all rows.`,
		Example: `  edgeprof train --data rows --out model.json`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			d, err := readMeasurements(cmd.Context(), env, data)
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
			if err := env.Output(calibrationFiles(settings, m)...); err != nil {
				return err
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
			return page.Print(env, report, func(p *cli.Page) {
				reported(p, report)
				p.Line("%s: fitted to %s of %s, SHA-256 %s", out, plural.Count(report.Rows, "row"), plural.Count(report.Models, "model"), m.Hash)
			})
		},
	}
	f := c.Flags()
	f.StringVar(&data, "data", "", "directory of collected files, or one file")
	f.StringVar(&out, "out", "model.json", "model file to write")
	cli.OutputFile(c, "out")
	f.StringVar(&cv, "cv", string(profiler.ByFamily), "what cross-validation leaves out: family, device or row")
	cli.Values(c, "cv", "family", "device", "row")
	f.StringVar(&plots, "plots", "", "directory for plots of the evaluation (default: none)")
	f.StringVar(&settings, "calibrations", "", "directory for the rates of each setting, for rank and serve (default: none)")
	page.Flags(c)
	cli.Require(c, "data")
	cli.First(c, "data", "out", "cv", "plots", "json")
	return c
}

// calibrationFiles returns the files of writeCalibrations; none without a directory.
func calibrationFiles(dir string, m *profiler.Model) (files []string) {
	for _, c := range m.Settings {
		if dir != "" {
			files = append(files, filepath.Join(dir, c.Facts.Setting+".json"))
		}
	}
	return files
}

// writeCalibrations writes the model's rates of each setting, in the format that rank
// and serve read.
func writeCalibrations(dir string, m *profiler.Model) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for i, path := range calibrationFiles(dir, m) {
		if err := file.WriteJSON(path, m.Settings[i]); err != nil {
			return err
		}
	}
	return nil
}

// readMeasurements reads rows and warns of those that cannot be used.
func readMeasurements(ctx context.Context, env *cli.Env, path string) (*measurement.Data, error) {
	d, err := measurement.ReadDir(ctx, path)
	if err != nil {
		return nil, err
	}
	for _, bad := range d.Diagnostics {
		env.Log.Warn(bad)
	}
	if d.Missing > 0 {
		env.Log.Warnf("%s: ignored %s without a time", path, plural.Count(d.Missing, "row"))
	}
	return d, nil
}
