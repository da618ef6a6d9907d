package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/edgeprof/internal/transfer"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/file"
	"github.com/foretime/foretime/shared/plural"
)

// newTransferCommand returns transfer, which evaluates adapt on known devices.
func newTransferCommand(env *cli.Env) *cobra.Command {
	var tables []string
	var leaveOut, judge string
	var options transfer.Options
	var cpuOnly bool
	var out cli.Output
	c := &cobra.Command{
		Use:     "transfer",
		Example: "  edgeprof transfer --table latency.csv --anchors 3",
		Short:   "Evaluate how well a few measured models predict the others on a new device",
		Long: `Evaluate how well a few measured models predict the others on a new device. Each
chip is left out of the table in turn, with all its boards, and each of its
configurations (run, threads, power, processor) is predicted from a few of its own
measurements, the anchors. To predict your own device, use adapt.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if leaveOut != "chip" {
				return cli.Usagef("--leave-out %s: want chip", leaveOut)
			}
			if options.Anchors < 1 {
				return cli.Usagef("--anchors %d: want 1 or more", options.Anchors)
			}
			table, err := readLatencies(env, tables, cpuOnly)
			if err != nil {
				return err
			}
			if judge != "" {
				if options.Chips, err = lines(judge); err != nil {
					return err
				}
			}
			chips := len(options.Chips)
			if judge == "" {
				chips = len(table.Chips())
			}
			bar := env.Progress("transfer", int64(chips))
			options.Done = func() { bar.Add(1) }
			judged, err := transfer.Judge(cmd.Context(), table, options)
			bar.Done()
			if err != nil {
				return fmt.Errorf("%s: %w", strings.Join(tables, ", "), err)
			}
			return out.Print(env, judged, func(p *cli.Page) { judgedTable(p, judged) })
		},
	}
	f := c.Flags()
	latencyFlags(c, &tables, &cpuOnly)
	f.IntVar(&options.Anchors, "anchors", 3, "measured models per configuration")
	f.StringVar(&leaveOut, "leave-out", "chip", "what is left out at a time: chip")
	cli.Values(c, "leave-out", "chip")
	f.StringVar(&judge, "judge", "", "file with the chips to evaluate, one per line (default: all)")
	f.Uint64Var(&options.Seed, "seed", 1, "random seed of the folds that intervals are learned from")
	out.Flags(c)
	cli.Require(c, "table")
	cli.First(c, "table", "anchors", "cpu-only", "json")
	return c
}

// latencyFlags adds the flags of the table of latencies.
func latencyFlags(c *cobra.Command, tables *[]string, cpuOnly *bool) {
	f := c.Flags()
	f.StringSliceVar(tables, "table", nil, "CSV files of latencies, separated by commas: board, chip, run, threads, powersave, gpu_device, model, avg_ms")
	f.BoolVar(cpuOnly, "cpu-only", false, "ignore rows of a GPU")
}

// lines returns the lines of a file that are not empty.
func lines(path string) ([]string, error) {
	text, err := file.ReadAll(path)
	out := []string{}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" {
			out = append(out, line)
		}
	}
	return out, err
}

func judgedTable(p *cli.Page, j *transfer.Evaluation) {
	p.Line("%s of %s left out, %s each", plural.Count(j.Configurations, "configuration"), plural.Count(j.Chips, "chip"), plural.Count(j.Anchors, "anchor"))
	table := p.Table("models", "prediction", "latencies", "within 10 %", "within 25 %", "median error", "inside 90 % intervals")
	add := func(models, name string, s transfer.Scores) {
		table.Add(models, name, s.Predictions, cli.Share(s.Within10), cli.Share(s.Within25), cli.Share(s.MedianAPE), share(s.Coverage))
	}
	for _, part := range []struct {
		name string
		of   *transfer.Evaluation
	}{{"single precision", j}, {"int8", j.Int8}} {
		if part.of != nil {
			add(part.name, "ridge, nearest runs, factors", part.of.Scores)
			add(part.name, "baseline: nearest run", part.of.Baselines[transfer.NearestRun])
		}
	}
	fastest := p.Table("boards", "rule", "decisions", "fastest chosen", "regret")
	for _, of := range j.Fastest {
		for _, rule := range []struct{ name, of string }{
			{"prediction", transfer.ByPrediction}, {"baseline: nearest run", transfer.NearestRun},
			{"baseline: best constant board", transfer.BestConstant},
		} {
			score := of.Rules[rule.of]
			fastest.Add(of.Boards, rule.name, of.Decisions, cli.Share(score.Fastest), cli.Share(score.Regret))
		}
	}
	if j.MeanSpearman != nil {
		p.Line("mean Spearman of a configuration's models: %.3f", *j.MeanSpearman)
	}
}
