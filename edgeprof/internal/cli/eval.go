package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/edgeprof/internal/profiler"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/file"
)

// newEvalCommand returns eval, which compares a trained model with measurements.
func newEvalCommand(env *cli.Env) *cobra.Command {
	var model, data, plots string
	var out cli.Output
	c := &cobra.Command{
		Use:     "eval",
		Short:   "Compare a trained model with collected measurements that it has not seen",
		Example: "  edgeprof eval --model model.json --data rows.csv",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			m, err := readTrained(model)
			if err != nil {
				return err
			}
			d, err := readMeasurements(cmd.Context(), env, data)
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
			return out.Print(env, report, func(p *cli.Page) { reported(p, report) })
		},
	}
	f := c.Flags()
	f.StringVar(&model, "model", "", "model file written by train")
	f.StringVar(&data, "data", "", "directory of collected files, or one file")
	f.StringVar(&plots, "plots", "", "directory for plots (default: none)")
	out.Flags(c)
	cli.Require(c, "model", "data")
	return c
}

func readTrained(path string) (*profiler.Model, error) {
	f, err := file.Open(path)
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
