package cli

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/edgeprof/placement"
	"github.com/foretime/foretime/edgeprof/profiler"
	"github.com/foretime/foretime/shared/cli"
)

// newRankCommand ranks devices for a model. What it predicts for this machine is
// kept in the record until time measures it.
func newRankCommand(env *cli.Env, record *cli.Record) *cobra.Command {
	var calibration, runtime string
	var source sourcing
	var sizes []string
	var asJSON bool
	c := &cobra.Command{
		Use:   "rank MODEL.onnx",
		Short: "Rank devices by the predicted time of one inference",
		Args:  cobra.ExactArgs(1),
		RunE: piped(func(cmd *cobra.Command, args []string) error {
			from, err := source.devices()
			if err != nil {
				return err
			}
			a, err := analyzed(args[0], sizes)
			if err != nil {
				return err
			}
			devices, excluded, err := from.Devices(cmd.Context())
			if err != nil {
				return err
			}
			estimate, err := placement.Graph(a, devices, func(i int) (*profiler.Calibration, error) {
				return ratesFor(cmp.Or(devices[i].Calibration, calibration), runtime, devices[i])
			})
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			r, err := placement.Rank(devices, excluded, estimate)
			if err != nil {
				return fmt.Errorf("--source %s: %w", source.name, err)
			}
			if source.name == "local" {
				for i := range r.Candidates {
					c := &r.Candidates[i]
					c.Seconds = record.Predict("rank", recordKey(args[0], c.Runtime), c.Seconds)
				}
			}
			if asJSON {
				return env.WriteJSON(r)
			}
			if err := ranking(env, r); err != nil {
				return err
			}
			var p cli.Page
			record.Show(&p, "rank")
			_, err = p.WriteTo(env.Stdout)
			return err
		}),
	}
	source.flags(c, "local", "")
	c.Flags().StringVar(&calibration, "calibration", "", "rates for devices that name none (default: those of edgeprof calibrate, or built in)")
	dimFlag(c, &sizes)
	c.Flags().StringVar(&runtime, "runtime", "", "run time whose times are predicted: go or ort (default: that of each device's rates)")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// recordKey is of a model on this machine, whatever folder names it.
func recordKey(file, runtime string) string {
	if path, err := filepath.Abs(file); err == nil {
		file = path
	}
	return file + " " + runtime
}

func ranking(env *cli.Env, r *placement.Ranking) error {
	table := cli.Table{Header: []string{"node", "device", "run time", "predicted ms", "low", "high", "why"}}
	ms := func(s float64) string { return fmt.Sprintf("%.3g", 1000*s) }
	for _, c := range r.Candidates {
		table.Add(c.Node, c.Model, c.Runtime, ms(c.Seconds.Value), ms(c.Seconds.Low), ms(c.Seconds.High), strings.Join(c.Reasons, "; "))
	}
	if _, err := table.WriteTo(env.Stdout); err != nil {
		return err
	}
	for _, e := range r.Excluded {
		if _, err := fmt.Fprintf(env.Stdout, "excluded: %s: %s\n", e.Node, e.Reason); err != nil {
			return err
		}
	}
	for _, w := range r.Warnings {
		env.Log.Warn(w)
	}
	return nil
}
