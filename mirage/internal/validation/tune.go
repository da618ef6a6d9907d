package validation

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/foretime/foretime/mirage/internal/chain"
	"github.com/foretime/foretime/mirage/internal/policy"
	"github.com/foretime/foretime/mirage/internal/samples"
)

// Tune plays the episodes with all candidates and returns which of each group has the
// least mean cost, the first of equals, and that cost in hours.
func (e Episodes) Tune(ctx context.Context, groups [][]policy.Policy, c chain.Cost) (best []int, hours []float64, err error) {
	played, err := e.Play(ctx, With(slices.Concat(groups...)...))
	if err != nil {
		return nil, nil, err
	}
	best, hours = make([]int, len(groups)), make([]float64, len(groups))
	for g, candidates := range groups {
		hours[g] = math.Inf(1)
		for i := range candidates {
			if m := stat.Mean(Costs(played[i], c), nil); m < hours[g] {
				best[g], hours[g] = i, m
			}
		}
		played = played[len(candidates):]
	}
	return best, hours, nil
}

// TuningPlan returns episodes spread over a training range, each begun so
// that its successor has room to start within it: the last day and twice the
// service's limit are left out.
func TuningPlan(from, to int64, history int64, s chain.Service, most int) samples.Plan {
	room := max(to-from-2*s.Limit-86400, 1)
	episodes := int(min(int64(most), max(1, room/(3*3600))))
	return samples.Plan{Episodes: episodes, Probes: 2, Interval: max(room/int64(episodes), 1), Start: from, History: history, Service: s}
}
