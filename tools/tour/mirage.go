package tour

import (
	"context"
	"fmt"
)

// pairs is what became of the service pairs that a way of deciding was judged
// by.
type pairs struct {
	Interruption struct{ Mean, P90 float64 } `json:"interruption_hours"`
	Overlap      struct{ Mean float64 }      `json:"overlap_hours"`
	None         float64                     `json:"zero_interruption_share"`
}

// mirage makes two months of a batch queue's log, learns on the first when a
// successor should be submitted, and judges that on the second, beside
// submitting at the end.
func mirage(ctx context.Context, s *Stage) (Chapter, error) {
	queue := []string{"month.log", "--nodes", "75", "--user-limit", "8"}
	learn := append([]string{"generate"}, queue...)
	judge := append([]string{"validate"}, queue...)
	judge = append(judge, "--episodes", "60", "--interval", "6h", "--start", "2023-02-08", "--json", "--model")
	for _, args := range [][]string{
		{"trace", "synth", "--days", "60", "--seed", "1", "--out", "month.log"},
		append(learn, "--episodes", "150", "--interval", "4h", "--start", "2023-01-08", "--history", "7d", "--out", "samples"),
		{"train", "samples", "--model", "boost", "--forecast", "--until", "2023-02-08", "--out", "boost.json"},
	} {
		if _, err := s.run(ctx, "mirage", args...); err != nil {
			return Chapter{}, err
		}
	}
	var reactive, boost pairs
	if err := s.runJSON(ctx, &reactive, "mirage", append(judge, "reactive")...); err != nil {
		return Chapter{}, err
	}
	if err := s.runJSON(ctx, &boost, "mirage", append(judge, "boost.json", "--plots", "plots")...); err != nil {
		return Chapter{}, err
	}
	return Chapter{
		Title:    "A service on a synthetic batch queue: a month to learn when to submit the successor, 60 service pairs of the next to judge it",
		Commands: *s.commands,
		Measures: []Measure{
			{"interruption, submitting at the end", reactive.Interruption.Mean, "h", fmt.Sprintf("mean of 60; 90 %% below %s h", number(reactive.Interruption.P90))},
			{"interruption, boosted trees", boost.Interruption.Mean, "h", fmt.Sprintf("%s %% without any", number(100*boost.None))},
			{"overlap, boosted trees", boost.Overlap.Mean, "h", "nodes held twice, the price"},
		},
		Plots: []string{"mirage/plots/interruption-cdf.svg"},
	}, nil
}
