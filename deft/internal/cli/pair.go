package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/deft/internal/pair"
	"github.com/foretime/foretime/deft/internal/report"
	"github.com/foretime/foretime/deft/internal/trial"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/uncertainty"
)

// newPairCommand returns pair, which predicts the speed of two programs that share a
// device.
func newPairCommand(env *cli.Env) *cobra.Command {
	var table, alone, device, leave string
	var answer cli.Output
	c := &cobra.Command{
		Use:   "pair --alone FILE.json A B",
		Short: "Predict the speed of two programs that share a device",
		Long: `Predict the speed of two programs that share a device, relative to their speed alone.

--alone simulates the pair from each program's solo run (alone.json, written by deft
alone). --table predicts from measured pairs, a CSV file with the columns
` + pair.Columns + `.
The third and fourth are the speeds of model alone and next to other, in the same
unit; larger is faster. A program without measurements is predicted from programs
whose names differ only in numbers, such as the batch size.

--leave-out model predicts every measured pair without the rows of one of its
programs and compares the predictions with the measurements.`,
		Example: `  deft pair --alone out/alone.json model_A model_B
  deft pair --table pairs.csv "ResNet-18 (batch size 48)" "LM (batch size 20)"
  deft pair --table pairs.csv --leave-out model`,
		Args: cobra.MatchAll(cobra.MaximumNArgs(2), func(_ *cobra.Command, args []string) error {
			if len(args) == 1 {
				return cli.Usagef("%s: want two programs", args[0])
			}
			return nil
		}),
		RunE: func(cmd *cobra.Command, args []string) error {
			if (leave == "") == (len(args) == 0) || leave != "" && leave != "model" {
				return cli.Usagef("want two programs, or --leave-out model")
			}
			if alone != "" {
				if leave != "" || device != "" {
					return cli.Usagef("--alone: --leave-out and --device need --table")
				}
				return predictAlone(cmd.Context(), env, &answer, alone, args[0], args[1])
			}
			rows, diagnostics, err := pair.Load(table)
			if err != nil {
				return err
			}
			cli.Warn(env, diagnostics)
			if leave != "" {
				return judgePairs(env, &answer, rows)
			}
			return predictPair(env, &answer, pair.Of(rows, device), args[0], args[1])
		},
	}
	f := c.Flags()
	f.StringVar(&alone, "alone", "", "JSON file of deft alone: each program's solo run")
	f.StringVar(&table, "table", "", "CSV file of measured pairs")
	f.StringVar(&device, "device", "", "device, if the table has several")
	f.StringVar(&leave, "leave-out", "", "model: predict each measured pair without the rows of one of its programs")
	answer.Flags(c)
	c.MarkFlagsOneRequired("alone", "table")
	c.MarkFlagsMutuallyExclusive("alone", "table")
	return c
}

// slowed is the speed of a program next to another, relative to its speed alone.
type slowed struct {
	Model    string                 `json:"model"`
	Other    string                 `json:"other"`
	Speed    uncertainty.Prediction `json:"speed"`
	Relative bool                   `json:"relatives"`
}

func predictAlone(ctx context.Context, env *cli.Env, answer *cli.Output, path, a, b string) error {
	run, err := report.Load(path)
	if err != nil {
		return err
	}
	speeds, err := trial.Beside(ctx, run, a, b)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	const doubt = "; interference on the host (CPU) is not included"
	return printSlowed(env, answer, []slowed{{a, b, speeds[0], false}, {b, a, speeds[1], false}}, doubt)
}

func predictPair(env *cli.Env, answer *cli.Output, rows []pair.Row, a, b string) error {
	m, err := pair.Fit(rows)
	if err != nil {
		return err
	}
	var both []slowed
	for _, p := range [][2]string{{a, b}, {b, a}} {
		speed, relatives := m.Predict(p[0], p[1])
		both = append(both, slowed{p[0], p[1], speed, relatives})
	}
	return printSlowed(env, answer, both, "")
}

func printSlowed(env *cli.Env, answer *cli.Output, both []slowed, doubt string) error {
	return answer.Print(env, both, func(page *cli.Page) {
		t := page.Table("program", "next to", "relative speed", "low", "high")
		for _, s := range both {
			t.Add(s.Model, s.Other, s.Speed.Value, s.Speed.Low, s.Speed.High)
		}
		page.Line("%.0f %% intervals%s", 100*pair.Level, doubt)
	})
}

func judgePairs(env *cli.Env, answer *cli.Output, rows []pair.Row) error {
	scores, cases, err := pair.Judge(rows)
	if len(scores) == 0 && err != nil {
		return err
	}
	if err != nil {
		cli.Warn(env, []error{err})
	}
	if scores == nil {
		return errors.New("no measured pairs")
	}
	result := struct {
		Level   float64      `json:"level"`
		Devices []pair.Score `json:"devices"`
		Pairs   []pair.Case  `json:"pairs"`
	}{pair.Level, scores, cases}
	return answer.Print(env, result, func(page *cli.Page) {
		t := page.Table("device", "predictions", "programs", "median error", "in interval", "median width", "half", "partner's mean")
		for _, s := range scores {
			t.Add(s.Device, s.Cases, s.Models, s.Error, cli.Share(s.Held), s.Width, s.Half, s.Partner)
		}
		page.Line("errors of the relative speed; half: predicts half speed for each program; partner's mean: the mean next to that partner")
	})
}
