package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/chamtool/perfmodel"
	"github.com/foretime/foretime/chamtool/replay"
	"github.com/foretime/foretime/chamtool/task"
	"github.com/foretime/foretime/shared/cli"
)

func newReplayCommand(env *cli.Env) *cobra.Command {
	var format, model string
	var asJSON bool
	c := &cobra.Command{
		Use:   "replay FILE...",
		Short: "Feed logs through the online path: every task predicted before it is learned",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			f, err := task.ParseFormat(format)
			if err != nil {
				return cli.Usagef("--format: %w", err)
			}
			options, err := modelOptions(model)
			if err != nil {
				return err
			}
			logs, err := loadLogs(env, args, f)
			if err != nil {
				return err
			}
			r, err := replay.Run(cmd.Context(), logs, replay.Options{Model: options, Now: time.Now})
			if err != nil {
				return err
			}
			if asJSON {
				return env.WriteJSON(r)
			}
			if err := resultTable(env, &r.Result); err != nil {
				return err
			}
			if err := baselineTable(env, r); err != nil {
				return err
			}
			fmt.Fprintf(env.Stdout, "\n%d fits, %d drifts, %.0f ns an event\n\n", r.Fits, r.Drifts, r.NsPerEvent)
			t := cli.Table{Header: []string{"tasks seen", "judged", "MAPE %", "median %"}}
			for _, p := range r.Curve {
				t.Add(fmt.Sprintf("%d to %d", p.From, p.To), p.Test, figure(p.MAPE), figure(p.MedianAPE))
			}
			_, err = t.WriteTo(env.Stdout)
			return err
		},
	}
	flags := c.Flags()
	flags.StringVar(&format, "format", "auto", "format of the files: auto, csv, parquet or mxm, packed by gzip or not")
	flags.StringVar(&model, "model", "auto", strings.Join(perfmodel.Names(), ", "))
	flags.BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// baselineTable is what plain rules came to on the same tasks.
func baselineTable(env *cli.Env, r *replay.Replayed) error {
	fmt.Fprintln(env.Stdout)
	t := cli.Table{Header: []string{"predicted by", "MAPE %", "median %", "WAPE %"}}
	t.Add(r.Model, figure(r.MAPE), figure(r.MedianAPE), figure(r.WAPE))
	for _, name := range slices.Sorted(maps.Keys(r.Baselines)) {
		b := r.Baselines[name]
		t.Add(name, figure(b.MAPE), figure(b.MedianAPE), figure(b.WAPE))
	}
	_, err := t.WriteTo(env.Stdout)
	return err
}
