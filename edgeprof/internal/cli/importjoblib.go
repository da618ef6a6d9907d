package cli

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/edgeprof/joblib"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/file"
)

// newImportJoblibCommand turns a model file of the original profiler into
// XGBoost's own format.
func newImportJoblibCommand(env *cli.Env) *cobra.Command {
	var out string
	var asJSON bool
	c := &cobra.Command{
		Use:    "import-joblib FILE.joblib",
		Hidden: true,
		Short:  "Read a model of the original profiler, without unpickling it, and save its booster",
		Long: `Read a model of the original profiler, without unpickling it, and save its booster
in XGBoost's JSON. The booster that is saved takes features as they were measured:
the scaling is in its thresholds. Devices are columns of 0 and 1, such as
device_jetson. boost-predict applies it.`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			f, err := os.Open(args[0])
			if err != nil {
				return err
			}
			defer f.Close()
			p, err := joblib.Read(f)
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			if err := file.Write(out, p.Booster.WriteJSON); err != nil {
				return err
			}
			if asJSON {
				return env.WriteJSON(map[string]any{"trees": p.Booster.Trees(), "features": p.Booster.Names(), "scaled": p.Columns, "devices": p.Devices})
			}
			table := cli.Table{Header: []string{"feature", "center", "scale"}}
			for _, col := range p.Columns {
				table.Add(col.Name, col.Center, col.Scale)
			}
			if _, err := table.WriteTo(env.Stdout); err != nil {
				return err
			}
			_, err = fmt.Fprintf(env.Stdout, "\n%s: %d trees on %d features\n", out, p.Booster.Trees(), p.Booster.Features())
			return err
		},
	}
	c.Flags().StringVar(&out, "out", "model.json", "model file, XGBoost's JSON")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}
