package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/edgeprof/internal/transfer"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/plural"
	"github.com/foretime/foretime/shared/uncertainty"
)

// adapted is the latency of one model on a new device.
type adapted struct {
	Model        string                 `json:"model"`
	Milliseconds uncertainty.Prediction `json:"milliseconds"`
	Measured     bool                   `json:"measured"`
}

// adaptation is the answer of adapt.
type adaptation struct {
	Device string    `json:"device"`
	Next   string    `json:"measure_next"` // "" for none
	Models []adapted `json:"models"`
}

// newAdaptCommand returns adapt, which predicts a new device from a few models measured
// on it.
func newAdaptCommand(env *cli.Env) *cobra.Command {
	var tables []string
	var device, measured string
	var cpuOnly bool
	var out cli.Output
	var seed uint64
	c := &cobra.Command{
		Use:   "adapt --table FILE --name NAME --measured FILE",
		Short: "Predict all models on a new device from a few measured ones",
		Long: `Predict the latency of all models on a new device from a few models that were
measured on it and from a table of latencies of other devices. The measurements
are a CSV file with the columns model and avg_ms, and threads if that is not 1.
Three models are enough; the answer names the one to measure next.`,
		Example: `  edgeprof adapt --table latency.csv --name "my board" --measured three.csv`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			table, err := transfer.ReadTable(tables, cpuOnly)
			if err != nil {
				return err
			}
			if table.Dropped > 0 {
				env.Log.Warnf("%s: ignored %s without a latency above 0", strings.Join(tables, ", "), plural.Count(table.Dropped, "row"))
			}
			config, anchors, err := transfer.ReadMeasured(measured, device, table)
			if err != nil {
				return err
			}
			if odd := table.FindUnusual(config, anchors); odd != "" {
				env.Log.Warnf("%s: %s", measured, odd)
			}
			if slices.ContainsFunc(table.Configs, func(c transfer.Config) bool { return c.Board == device }) {
				env.Log.Warnf("--name %s: the table has a board of this name; its rows are used as those of any other", device)
			}
			m, err := transfer.Learn(cmd.Context(), table, len(anchors), seed)
			if err != nil {
				return fmt.Errorf("%s: %w", strings.Join(tables, ", "), err)
			}
			p := m.PredictMilliseconds(config, anchors)
			next := m.NextModel(anchors)
			rows := make([]adapted, len(p))
			for k := range p {
				rows[k] = adapted{table.Models[k], p[k], slices.Contains(anchors, k)}
			}
			return out.Print(env, adaptation{device, next, rows}, func(p *cli.Page) {
				table := p.Table("model", "latency (ms)", "")
				for _, r := range rows {
					what := "predicted"
					if r.Measured {
						what = "measured"
					}
					table.Add(r.Model, r.Milliseconds, what)
				}
				if next != "" {
					p.Line("%s: measure %[2]s next: it says most about the other models", device, next)
				}
			})
		},
	}
	f := c.Flags()
	f.StringSliceVar(&tables, "table", nil, "CSV `files` of latencies, separated by commas: board, chip, run, threads, powersave, gpu_device, model, avg_ms")
	f.BoolVar(&cpuOnly, "cpu-only", false, "ignore rows of a GPU")
	f.StringVar(&device, "name", "", "name of the new device")
	f.StringVar(&measured, "measured", "", "CSV `file` of measurements on it: model, avg_ms")
	f.Uint64Var(&seed, "seed", 1, "random seed of the folds that intervals are learned from")
	out.Flags(c, adaptation{})
	cli.Require(c, "table", "name", "measured")
	cli.First(c, "table", "name", "measured", "json")
	return c
}
