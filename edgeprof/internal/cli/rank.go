package cli

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/edgeprof/internal/device"
	"github.com/foretime/foretime/edgeprof/internal/placement"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/plural"
)

// newRankCommand returns rank, which ranks devices for a model. Predictions for this
// machine go into the record, where the command time adds the outcome.
func newRankCommand(env *cli.Env, record *cli.Record) *cobra.Command {
	var calibration string
	var with running
	source := newSourcing(env.Root)
	var out cli.Output
	settings := cli.NewSettings(&source.settings)
	c := &cobra.Command{
		Use:     "rank MODEL.onnx",
		Example: "  edgeprof rank resnet.onnx --source file:boards.json",
		Short:   "Rank devices by the predicted time of one inference",
		Long: `Rank devices by the predicted time of one inference. If ONNX Runtime is installed,
the model runs here for two seconds, or up to 15 if it is slow: its time on this
machine is measured, and its kernels' times on other devices follow from these by the
devices' rates.`,
		Args: cobra.ExactArgs(1),
		RunE: endQuietly(func(cmd *cobra.Command, args []string) error {
			if err := settings.Load(); err != nil {
				return err
			}
			from, err := source.devices()
			if err != nil {
				return err
			}
			a, err := analyzeFile(args[0], with.sizes, with.values...)
			if err != nil {
				return err
			}
			devices, excluded, err := from.Devices(cmd.Context())
			if err != nil {
				return err
			}
			local := source.name == "local"
			machine := &device.Device{}
			if local {
				machine = &devices[0]
			} else if *machine, err = thisMachine(cmd.Context(), env.Root); err != nil {
				return err
			}
			predictor, profiled, err := predictorFor(cmd.Context(), env, &with, args[0], a, machine, calibration, local)
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
			if first := &r.Candidates[0]; local && first.Seconds.IsBounded() {
				first.Seconds = record.Predict("rank", with.recordKey(args[0], first.Threads), first.Seconds)
				first.Seconds.Low = max(0, first.Seconds.Low) // however wide earlier outcomes made it
			}
			for i := range r.Candidates {
				r.Candidates[i].Reasons = append(r.Candidates[i].Reasons, profiled.String())
			}
			err = out.Print(env, r, func(p *cli.Page) {
				p.Line("%s", strings.Join(append([]string{threadsLine(r)}, unknowns(a, r.Warnings, profiled.profile != nil)...), "; "))
				ranking(p, r, env.Verbose())
				record.Show(p, "rank")
			})
			warnFirst(env, others(a, r.Warnings))
			return err
		}),
	}
	source.flags(c, "local", "")
	c.Flags().StringVar(&calibration, "calibration", "", "rates for devices without their own (default: those of edgeprof calibrate, or the built-in ones)")
	with.threadFlags(c)
	sizeFlag(c, &with.values)
	with.providerFlag(c)
	with.ortLibraryFlag(c)
	settings.Flags(c)
	out.Flags(c, placement.Ranking{})
	cli.First(c, "source", "threads", "dim", "json")
	return c
}

// threadsLine says with how many threads an inference runs on the devices.
func threadsLine(r *placement.Ranking) string {
	least, most := math.MaxInt, 0
	for _, c := range r.Candidates {
		least = min(least, c.Threads)
		most = max(most, c.Threads)
	}
	if least == most {
		return "one inference with " + plural.Count(most, "thread")
	}
	return fmt.Sprintf("one inference with %d to %d threads, at most one for each core", least, most)
}

// warnFirst logs the first of some warnings, and all with --verbose.
func warnFirst(env *cli.Env, warnings []string) {
	if len(warnings) > 1 && !env.Verbose() {
		env.Log.Warnf("%s (and %d more; --verbose lists them)", warnings[0], len(warnings)-1)
		return
	}
	cli.Warn(env, warnings)
}

// recordKey returns the record's key of a model on this machine: its absolute path, the
// number of threads and the provider.
func (r *running) recordKey(file string, threads int) string {
	if path, err := filepath.Abs(file); err == nil {
		file = path
	}
	key := fmt.Sprintf("%s, threads: %d", file, threads)
	if !r.usesCPU() {
		key += ", " + r.provider
	}
	return key
}

// ranking fills a page with the ranking; verbose is for the reasons of every device instead
// of the first.
func ranking(p *cli.Page, r *placement.Ranking, verbose bool) {
	table := p.Table("#", "node", "device", "threads", "predicted (ms)", "load")
	table.Widths = []int{4, 16, 18, 7, 18, 9} // 80 columns, with the blanks between
	places := r.Ties()
	for i, c := range r.Candidates {
		place, load := strconv.Itoa(places[i]), fmt.Sprintf("%.0f %%", c.CPUPercent)
		if i > 0 && places[i-1] == places[i] || i+1 < len(places) && places[i+1] == places[i] {
			place += " ="
		}
		if c.Saturated {
			load = "saturated"
		}
		table.Add(place, c.Node, c.Model, c.Threads, bound(c.Seconds.Times(1000)), load)
	}
	if n := len(r.Candidates); n > 1 && places[1] == 1 {
		p.Line("1 =: these intervals overlap, so any of them may be the fastest")
	}
	explained := r.Candidates
	if !verbose {
		explained = explained[:1]
	}
	for _, c := range explained {
		p.Line("%s: %s", c.Node, strings.Join(c.Reasons, "; "))
	}
	for _, e := range r.Excluded {
		p.Line("excluded: %s: %s", e.Node, e.Reason)
	}
}
