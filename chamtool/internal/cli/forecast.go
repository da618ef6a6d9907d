package cli

import (
	"fmt"
	"math"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/chamtool/internal/forecast"
	"github.com/foretime/foretime/chamtool/internal/task"
	"github.com/foretime/foretime/shared/chart"
	"github.com/foretime/foretime/shared/cli"
)

// rankForecast holds the loads of a file and their review.
type rankForecast struct {
	File string `json:"file"`
	*forecast.Review
	loads []float64
}

// newForecastCommand returns forecast, which forecasts the load of the next iteration.
func newForecastCommand(env *cli.Env) *cobra.Command {
	var out cli.Output
	c := &cobra.Command{
		Use:   "forecast FILE...",
		Short: "Forecast the load of the next iteration from those before",
		Long: `Forecast the load of each rank's next iteration with an interval, and compare the
forecasts of the iterations so far with simple rules. A FILE is a log of tasks, whose times are
summed by iteration, or a table whose last column is the load in seconds: of one column, with
rows that are numbered by iteration, or with windows of consecutive loads.`,
		Example: "  chamtool forecast logs/chamtool_rank_0.csv --plot loads.svg",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var answer forecasts
			for _, path := range args {
				loads, diagnostics, err := task.ReadLoads(cmd.Context(), path)
				if err != nil {
					return err
				}
				cli.Warn(env, diagnostics)
				review, err := forecast.NewReview(loads)
				if err != nil {
					return fmt.Errorf("%s: %w", path, err)
				}
				answer.Ranks = append(answer.Ranks, rankForecast{path, review, loads})
			}
			if err := out.Draw(func() (chart.Chart, error) { return forecastChart(answer.Ranks[0]), nil }); err != nil {
				return err
			}
			return out.Print(env, answer, func(p *cli.Page) { printForecasts(p, answer.Ranks) })
		},
	}
	out.Flags(c, forecasts{})
	out.PlotFlag(c, "the loads and their forecasts, of the first FILE")
	return c
}

// forecasts is the answer of forecast.
type forecasts struct {
	Ranks []rankForecast `json:"ranks"`
}

func printForecasts(p *cli.Page, ranks []rankForecast) {
	t := p.Table("file", "iterations", "period", "next load (s)", "low (s)", "high (s)")
	for _, r := range ranks {
		low, high := &r.Next.Low, &r.Next.High
		if !r.Next.IsBounded() {
			low, high = nil, nil
		}
		t.Add(r.File, r.Iterations, r.Period, r.Next.Value, low, high)
	}
	t = p.Table("file", "forecast by", "MAPE (%)", "median (%)", "in interval")
	for _, r := range ranks {
		for _, rule := range r.Rules {
			t.Add(r.File, rule.Name, rule.MAPE, rule.MedianAPE, rule.Coverage)
		}
	}
	p.Line("The interval holds nine loads of ten, by the errors of earlier forecasts. It needs 25 loads.")
}

// forecastChart draws the loads of a rank and their forecasts with intervals.
func forecastChart(r rankForecast) chart.Lines {
	loads := chart.Series{Name: "load"}
	forecasts := chart.Series{Name: "forecast"}
	for i, load := range r.loads {
		loads.X = append(loads.X, float64(i))
		loads.Y = append(loads.Y, load)
	}
	for i, p := range r.Forecasts {
		if math.IsInf(p.High, 0) { // the first, without an error to judge by
			continue
		}
		forecasts.X = append(forecasts.X, float64(i+2))
		forecasts.Y = append(forecasts.Y, p.Value)
		forecasts.Low = append(forecasts.Low, p.Low)
		forecasts.High = append(forecasts.High, p.High)
	}
	return chart.Lines{Frame: chart.Frame{Title: "Load per iteration", X: "iteration", Y: "load (s)"}, Series: []chart.Series{loads, forecasts}}
}
