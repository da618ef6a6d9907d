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

// newPairCommand predicts what two programs pay beside each other.
func newPairCommand(env *cli.Env) *cobra.Command {
	var table, alone, device, leave string
	var answer cli.Output
	c := &cobra.Command{
		Use:   "pair --alone FILE.json A B",
		Short: "Predict what each of two programs pays beside the other",
		Long: `Predict what each of two programs pays beside the other on one device.

With --alone it is told from what each did by itself (the alone.json of deft alone),
on the virtual clock. With --table it is told from pairs that were measured: the
columns model, other, alone and beside (the speeds of model alone and beside the
other, in one unit, larger is faster) and, of several devices, device. A program
that was never measured is told by those whose names differ from its own in numbers
alone, as a batch size.

With --leave-out model every measured pair is predicted from the pairs that one of
its programs is not in, and held against what was measured.`,
		Example: `  deft pair --alone out/alone.json model_A model_B
  deft pair --table pairs.csv "ResNet-18 (batch size 48)" "LM (batch size 20)"
  deft pair --table pairs.csv --leave-out model`,
		Args: cobra.MatchAll(cobra.MaximumNArgs(2), func(_ *cobra.Command, args []string) error {
			if len(args) == 1 {
				return cli.Usagef("%s: beside which program?", args[0])
			}
			return nil
		}),
		RunE: func(cmd *cobra.Command, args []string) error {
			if (leave == "") == (len(args) == 0) || leave != "" && leave != "model" {
				return cli.Usagef("want two programs, or --leave-out model")
			}
			if alone != "" {
				if leave != "" || device != "" {
					return cli.Usagef("--alone: --leave-out and --device are of a --table")
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
	f.StringVar(&alone, "alone", "", "a run in which each program was by itself, JSON")
	f.StringVar(&table, "table", "", "measured pairs, CSV")
	f.StringVar(&device, "device", "", "the device, where the table has several")
	f.StringVar(&leave, "leave-out", "", "model: predict each measured pair without one of its programs")
	answer.Flags(c)
	c.MarkFlagsOneRequired("alone", "table")
	c.MarkFlagsMutuallyExclusive("alone", "table")
	return c
}

// slowed is what a program has of its speed beside another.
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
	const doubt = "; what programs take from each other on their host is not in them"
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
		t := page.Table("program", "beside", "of its speed alone", "low", "high")
		for _, s := range both {
			t.Add(s.Model, s.Other, s.Speed.Value, s.Speed.Low, s.Speed.High)
		}
		page.Line("intervals of %.0f %%%s", 100*pair.Level, doubt)
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
		return errors.New("no pairs")
	}
	result := struct {
		Level   float64      `json:"level"`
		Devices []pair.Score `json:"devices"`
		Pairs   []pair.Case  `json:"pairs"`
	}{pair.Level, scores, cases}
	return answer.Print(env, result, func(page *cli.Page) {
		t := page.Table("device", "predictions", "programs", "median error", "held", "median width", "half", "partner's mean")
		for _, s := range scores {
			t.Add(s.Device, s.Cases, s.Models, s.Error, cli.Share(s.Held), s.Width, s.Half, s.Partner)
		}
		page.Line("errors are of the relative speed; half: each program at half its speed")
	})
}
