package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/chamtool/internal/perfmodel"
	"github.com/foretime/foretime/chamtool/internal/replay"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/plural"
)

// newReplayCommand returns replay, which predicts the tasks of logs as a running program
// would.
func newReplayCommand(env *cli.Env) *cobra.Command {
	var format, model string
	var out cli.Output
	c := &cobra.Command{
		Use:     "replay FILE...",
		Short:   "Predict every task of logs before learning from it, as in a running program",
		Example: "  chamtool replay logs/chamtool_rank_*.csv",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			options, err := modelOptions(model)
			if err != nil {
				return err
			}
			logs, err := loadLogs(cmd.Context(), env, args, format)
			if err != nil {
				return err
			}
			r, err := replay.Run(cmd.Context(), logs, replay.Options{Model: options, Now: time.Now})
			if err != nil {
				return err
			}
			return out.Print(env, r, func(p *cli.Page) { replayed(p, r) })
		},
	}
	flags := c.Flags()
	flags.StringVar(&format, "format", "auto", "file format: auto, csv, parquet or mxm, each also compressed with gzip")
	cli.Values(c, "format", "auto", "csv", "parquet", "mxm")
	flags.StringVar(&model, "model", "auto", "model: "+strings.Join(perfmodel.Names(), ", "))
	cli.Values(c, "model", perfmodel.Names()...)
	out.Flags(c)
	return c
}

func replayed(p *cli.Page, r *replay.Replayed) {
	resultTable(p, &r.Result)
	t := p.Table("predicted by", "MAPE %", "median %", "WAPE %")
	t.Add(r.Model, r.MAPE, r.MedianAPE, r.WAPE)
	for _, name := range slices.Sorted(maps.Keys(r.Baselines)) { // simple rules on the same tasks
		b := r.Baselines[name]
		t.Add(name, b.MAPE, b.MedianAPE, b.WAPE)
	}
	p.Line("%s, %.0f ns per event", plural.Count(r.Fits, "fit"), r.NsPerEvent)
	t = p.Table("tasks seen", "predicted", "MAPE %", "median %")
	for _, c := range r.Curve {
		t.Add(fmt.Sprintf("%d to %d", c.From, c.To), c.Test, c.MAPE, c.MedianAPE)
	}
}
