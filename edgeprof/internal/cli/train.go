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
)

// newTrainCommand learns from collected measurements.
func newTrainCommand(env *cli.Env) *cobra.Command {
	var data, out, cv, plots, settings string
	var page cli.Output
	c := &cobra.Command{
		Use:   "train",
		Short: "Learn to predict times from collected measurements, and say how well that works",
		Long: `Learn to predict times from collected measurements, and say how well that works.

Predictions are judged on what is left out: every family of models in turn, every
device (but for its operator chains), or every tenth of the rows, where rows of
the same model stay in. The model that is saved has then learnt from all rows.`,
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
				p.Line("%s: learnt from %d rows of %d models, SHA-256 %s", out, report.Rows, report.Models, m.Hash)
			})
		},
	}
	f := c.Flags()
	f.StringVar(&data, "data", "", "folder of collected files, or one of them")
	f.StringVar(&out, "out", "model.json", "model file")
	cli.OutputFile(c, "out")
	f.StringVar(&cv, "cv", string(profiler.ByFamily), "what is left out to judge: family, device or row")
	cli.Values(c, "cv", "family", "device", "row")
	f.StringVar(&plots, "plots", "", "folder for plots of the judgement (default: none)")
	f.StringVar(&settings, "calibrations", "", "folder for the rates of each setting, to rank with (default: none)")
	page.Flags(c)
	cli.Require(c, "data")
	cli.First(c, "data", "out", "cv", "plots", "json")
	return c
}

// writeCalibrations writes what the model knows of each setting as rank and
// serve read it.
func writeCalibrations(dir string, m *profiler.Model) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, c := range m.Settings {
		if err := file.WriteJSON(filepath.Join(dir, c.Facts.Setting+".json"), c); err != nil {
			return err
		}
	}
	return nil
}

// readMeasurements reads rows, and logs those that cannot be used.
func readMeasurements(ctx context.Context, env *cli.Env, path string) (*measurement.Data, error) {
	d, err := measurement.ReadDir(ctx, path)
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
