package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/edgeprof/internal/measurement"
	"github.com/foretime/foretime/edgeprof/internal/profiler"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/file"
	"github.com/foretime/foretime/shared/plural"
)

// newTrainCommand returns train, which fits a model to collected measurements.
func newTrainCommand(env *cli.Env) *cobra.Command {
	var data, out, cv string
	var page cli.Output
	c := &cobra.Command{
		Use:   "train --data DIR",
		Short: "Fit a model to collected measurements and evaluate it",
		Long: `Fit a model to collected measurements and evaluate it.

It is evaluated by cross-validation: each family of models is left out in turn,
or each device, or each tenth of the rows (other rows of the same model stay in).
The saved model is fitted to all rows.`,
		Example: `  edgeprof train --data rows --out model.json`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			d, err := readMeasurements(cmd.Context(), env, data)
			if err != nil {
				return err
			}
			m, report, err := profiler.Train(cmd.Context(), d, profiler.Validation(cv))
			if errors.Is(err, profiler.ErrValidation) {
				return &cli.UsageError{Err: fmt.Errorf("--cv: %w", err)}
			}
			if err != nil {
				return fmt.Errorf("%s: %w", data, err)
			}
			if err := file.Write(out, m.Write); err != nil {
				return err
			}
			return page.Print(env, report, func(p *cli.Page) {
				p.Line("%s, %s of %s on %s; left out: %s", plural.Count(report.Rows, "row"), plural.Count(report.Models, "model"), plural.Count(report.Families, "family"), plural.Count(report.Devices, "device"), report.Validation)
				table := p.Table("MAPE", "within 5 %", "within 10 %", "Spearman", "fastest device", "regret", "MAE (ms)", "RMSE (ms)", "R2")
				table.Add(share(report.MAPE), share(report.Within5), share(report.Within10), report.Spearman, share(report.Top1), share(report.Regret), milli(report.MAE), milli(report.RMSE), report.R2)
				p.Line("%s: fitted to %s of %s, SHA-256 %s", out, plural.Count(report.Rows, "row"), plural.Count(report.Models, "model"), m.Hash)
			})
		},
	}
	f := c.Flags()
	f.StringVar(&data, "data", "", "directory of collected files, or one `file`")
	f.StringVar(&out, "out", "model.json", "model file to write")
	cli.OutputFile(c, "out")
	f.StringVar(&cv, "cv", string(profiler.ByFamily), "what cross-validation leaves out: family, device or row")
	cli.Values(c, "cv", "family", "device", "row")
	page.Flags(c, profiler.Report{})
	cli.Require(c, "data")
	cli.First(c, "data", "out", "cv", "json")
	return c
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

// readFirstLine returns the first line of a file.
func readFirstLine(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	line, err := bufio.NewReader(f).ReadString('\n')
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return line, err
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
	for _, file := range d.Files {
		header, err := readFirstLine(file)
		if err != nil {
			return nil, err
		}
		if strings.Contains(header, "gpu_usage_percent") {
			env.Log.Warnf("%s: gpu_usage_percent is not used: models of counts are for the CPU", file)
		}
	}
	if d.Missing > 0 {
		env.Log.Warnf("%s: ignored %s without a time", path, plural.Count(d.Missing, "row"))
	}
	return d, nil
}
