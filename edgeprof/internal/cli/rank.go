package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/edgeprof/internal/placement"
	"github.com/foretime/foretime/edgeprof/internal/prediction"
	"github.com/foretime/foretime/shared/cli"
)

// newRankCommand returns rank, which ranks devices for a model. Predictions for this
// machine go into the record, where the command time adds the outcome.
func newRankCommand(env *cli.Env, record *cli.Record) *cobra.Command {
	var calibration string
	with := running{threads: 1}
	source := newSourcing(env.Root)
	var sizes, values []string
	var out cli.Output
	settings := cli.NewSettings(&source.settings)
	c := &cobra.Command{
		Use:     "rank MODEL.onnx",
		Example: "  edgeprof rank resnet.onnx --source file:boards.json",
		Short:   "Rank devices by the predicted time of one inference",
		Args:    cobra.ExactArgs(1),
		RunE: piped(func(cmd *cobra.Command, args []string) error {
			if err := settings.Load(); err != nil {
				return err
			}
			from, err := source.devices()
			if err != nil {
				return err
			}
			a, err := analyzed(args[0], sizes, values...)
			if err != nil {
				return err
			}
			devices, excluded, err := from.Devices(cmd.Context())
			if err != nil {
				return err
			}
			var predictor prediction.Predictor
			if source.name == "local" {
				predictor, err = here(cmd.Context(), env, calibration, &with, &devices[0])
			} else {
				predictor, err = elsewhere(calibration)
			}
			if err != nil {
				return err
			}
			r, err := predictor.On(cmd.Context(), devices, excluded).Rank(a)
			switch {
			case errors.Is(err, placement.ErrNoDevice):
				return fmt.Errorf("--source %s: %w", source.name, err)
			case err != nil:
				return fmt.Errorf("%s: %w", args[0], err)
			}
			if source.name == "local" {
				c := &r.Candidates[0]
				if with.installed(cmd.Context()) != nil {
					c.Reasons = append(c.Reasons, "ONNX Runtime is not installed on this machine")
				}
				if c.Seconds.Bounded() {
					c.Seconds = record.Predict("rank", recordKey(args[0]), c.Seconds)
					c.Seconds.Low = max(0, c.Seconds.Low) // however wide earlier outcomes made it
				}
			}
			var warnings []string
			err = out.Print(env, r, func(p *cli.Page) {
				unknowns(p, a)
				ranking(p, r)
				warnings = others(a, r.Warnings)
				record.Show(p, "rank")
			})
			cli.Warn(env, warnings) // after the assumptions
			return err
		}),
	}
	source.flags(c, "local", "")
	c.Flags().StringVar(&calibration, "calibration", "", "rates for devices without their own (default: those of edgeprof calibrate, or the built-in ones)")
	dimFlag(c, &sizes)
	sizeFlag(c, &values)
	with.ortLibraryFlag(c)
	settings.Flags(c)
	out.Flags(c)
	cli.First(c, "source", "calibration", "dim", "json")
	return c
}

// elsewhere returns the predictor of machines that are not this one.
func elsewhere(calibration string) (prediction.Predictor, error) {
	catalog := newCatalog()
	rates, err := catalog.Rates(calibration)
	if err != nil {
		return nil, err
	}
	return prediction.NewCalibrated(rates, catalog), nil
}

// recordKey returns the record's key of a model on this machine: its absolute path.
func recordKey(file string) string {
	if path, err := filepath.Abs(file); err == nil {
		return path
	}
	return file
}

func ranking(p *cli.Page, r *placement.Ranking) {
	table := p.Table("#", "node", "device", "predicted ms", "load")
	table.Widths = []int{4, 20, 20, 18, 9} // 80 columns, with the blanks between
	places := r.Ties()
	for i, c := range r.Candidates {
		place, load := strconv.Itoa(places[i]), fmt.Sprintf("%.0f %%", c.CPUPercent)
		if i > 0 && places[i-1] == places[i] || i+1 < len(places) && places[i+1] == places[i] {
			place += " ="
		}
		if c.Saturated {
			load = "saturated"
		}
		table.Add(place, c.Node, c.Model, bound(c.Seconds.Times(1000)), load)
	}
	if n := len(r.Candidates); n > 1 && places[1] == 1 {
		p.Line("1 =: these intervals overlap, so any of them may be the fastest")
	}
	for _, c := range r.Candidates {
		p.Line("%s: %s", c.Node, strings.Join(c.Reasons, "; "))
	}
	for _, e := range r.Excluded {
		p.Line("excluded: %s: %s", e.Node, e.Reason)
	}
}
