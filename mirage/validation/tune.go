package validation

import (
	"context"
	"math"

	"github.com/foretime/foretime/mirage/chain"
	"github.com/foretime/foretime/mirage/policy"
	"github.com/foretime/foretime/mirage/samples"
	"github.com/foretime/foretime/mirage/simulator"
)

// Leads are the fixed leads that Tune chooses from, in hours.
func Leads() []float64 {
	return []float64{0.5, 1, 1.5, 2, 3, 4, 5, 6, 8, 10, 12, 15, 18, 21, 24, 30, 36, 48}
}

// Quantiles are the quantiles of waits that Tune chooses from.
func Quantiles() []float64 { return []float64{.5, .6, .7, .75, .8, .85, .9, .95, .98} }

// Tune plays the episodes of a plan once for each candidate and returns the
// policy with the least mean cost, the first of equals, and that cost in
// hours.
func Tune(ctx context.Context, w *simulator.Workload, plan samples.Plan, candidates []policy.Policy, c chain.Cost, workers int, progress func()) (policy.Policy, float64, error) {
	var best policy.Policy
	least := math.Inf(1)
	for _, p := range candidates {
		played, err := Play(ctx, w, plan, With(p), workers, progress)
		if err != nil {
			return nil, 0, err
		}
		if m, _ := mean(Costs(played, c)); m < least {
			best, least = p, m
		}
	}
	return best, least, nil
}

// TuningPlan returns episodes spread over a training range, each begun so
// that its successor has room to start within it: the last day and twice the
// service's limit are left out.
func TuningPlan(from, to int64, history int64, s chain.Service, most int) samples.Plan {
	room := max(to-from-2*s.Limit-86400, 1)
	episodes := int(min(int64(most), max(1, room/(3*3600))))
	return samples.Plan{Episodes: episodes, Probes: 2, Interval: max(room/int64(episodes), 1), Start: from, History: history, Service: s}
}
