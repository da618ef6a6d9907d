package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/chamtool/internal/forecast"
	"github.com/foretime/foretime/chamtool/internal/perfmodel"
	"github.com/foretime/foretime/chamtool/internal/replay"
	"github.com/foretime/foretime/chamtool/internal/task"
	"github.com/foretime/foretime/shared/cli"
)

// newEvalCommand returns eval, which learns from one part of logs and predicts the rest.
func newEvalCommand(env *cli.Env) *cobra.Command {
	var format, model string
	var split replay.Split
	var recursive bool
	var out cli.Output
	c := &cobra.Command{
		Use:     "eval --format mxm|ar|perm|csv FILE...",
		Example: "  chamtool eval chamtool_logfile_rank_[0-3].csv --train-fraction 0.3",
		Short:   "Learn from one part of logs and predict the rest",
		Long: `Learn from one part of logs and predict the rest.

mxm and csv logs contain task runs: the models learn from the first fraction or
rows of each file, or from whole files, and predict the rest. ar and perm logs
contain iteration loads: each file is one series, which is forecast one step ahead
or, with --recursive, from its own forecasts.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			given := slices.DeleteFunc([]string{"train-fraction", "train-rows", "train-files"}, func(name string) bool { return !cmd.Flags().Changed(name) })
			if len(given) > 1 {
				return cli.Usagef("give one of --train-fraction, --train-rows and --train-files")
			} else if len(given) == 1 && given[0] != "train-fraction" {
				split.Fraction = 0
			}
			logs, err := loadLogs(cmd.Context(), env, slices.Concat(args, missing(split.Files, args)), format)
			if err != nil {
				return err
			}
			result, err := evaluate(cmd.Context(), logs, split, model, recursive)
			if err != nil {
				return err
			}
			cli.Warn(env, result.Warnings)
			return out.Print(env, result, func(p *cli.Page) { resultTable(p, result) })
		},
	}
	flags := c.Flags()
	flags.StringVar(&format, "format", "auto", "file format: auto, csv, parquet, mxm, ar or perm, each also compressed with gzip")
	flags.Float64Var(&split.Fraction, "train-fraction", 0.3, "learn from this fraction of each file, from its beginning")
	flags.IntVar(&split.Rows, "train-rows", 0, "learn from this number of rows of each file, from its beginning")
	flags.StringSliceVar(&split.Files, "train-files", nil, "learn from these files and predict the others")
	flags.StringVar(&model, "model", "auto", "model: "+strings.Join(perfmodel.Names(), ", ")+"; for iteration loads: "+strings.Join(forecast.Names(), ", "))
	flags.BoolVar(&recursive, "recursive", false, "forecast the whole rest from the first part only")
	out.Flags(c)
	cli.First(c, "train-fraction", "train-rows", "train-files", "model", "json")
	return c
}

func evaluate(ctx context.Context, logs []*task.Log, split replay.Split, model string, recursive bool) (*replay.Result, error) {
	for _, l := range logs[1:] {
		if l.Format != logs[0].Format {
			return nil, cli.Usagef("%s has the format %s, %s has %s: evaluate them separately", logs[0].Name, logs[0].Format, l.Name, l.Format)
		}
	}
	if f := logs[0].Format; f == task.FormatAR || f == task.FormatPerm {
		kind, err := forecast.ParseKind(model)
		if err != nil {
			return nil, cli.Usagef("--model: for iteration loads: %w", err)
		}
		return replay.EvaluateLoads(logs, split, forecast.Options{Kind: kind}, recursive)
	}
	if recursive {
		return nil, cli.Usagef("--recursive: only for iteration loads (--format ar or perm)")
	}
	options, err := modelOptions(model)
	if err != nil {
		return nil, err
	}
	return replay.EvaluateTasks(ctx, logs, split, options)
}

// modelOptions returns the options of a task model named on the command line.
func modelOptions(model string) (perfmodel.Options, error) {
	if err := perfmodel.Check(model); err != nil {
		return perfmodel.Options{}, cli.Usagef("--model: %w", err)
	}
	return perfmodel.Options{Serve: model}, nil
}

// missing returns the names that others does not contain.
func missing(names, others []string) (out []string) {
	for _, n := range names {
		if !slices.Contains(others, n) {
			out = append(out, n)
		}
	}
	return out
}

// loadLogs reads files and warns of lines that cannot be used.
func loadLogs(ctx context.Context, env *cli.Env, paths []string, format string) ([]*task.Log, error) {
	f, err := task.ParseFormat(format)
	if err != nil {
		return nil, cli.Usagef("--format: %w", err)
	}
	if len(paths) == 0 {
		return nil, cli.Usagef("no file given")
	}
	var logs []*task.Log
	for _, path := range paths {
		l, err := task.LoadLog(ctx, path, f)
		if err != nil {
			return nil, err
		}
		cli.Warn(env, l.Diagnostics)
		if l.Counts.Dropped > 0 {
			env.Log.Warnf("%s: %s", path, l.Counts)
		}
		logs = append(logs, l)
	}
	return logs, nil
}

func resultTable(p *cli.Page, r *replay.Result) {
	t := p.Table("measure", "value", "unit")
	t.Add("learned from", r.Train, "rows")
	t.Add("predicted", r.Test, "rows")
	t.Add("model", r.Model, "")
	t.Add("MAE", r.MAE, "s")
	t.Add("MAPE", r.MAPE, "%")
	t.Add("median APE", r.MedianAPE, "%")
	t.Add("WAPE", r.WAPE, "%")
	t.Add("R2", r.R2, "")
	t.Add("Spearman", r.Spearman, "")
	t.Add("inside the 90 % interval", r.Covered, "%")
	t.Add("unseen sizes", r.Unseen.Test, "rows")
	t.Add("MAPE, unseen sizes", r.Unseen.MAPE, "%")
}
