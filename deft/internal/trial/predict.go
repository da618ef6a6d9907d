package trial

import (
	"context"
	"time"

	"github.com/foretime/foretime/deft/internal/experiment"
	"github.com/foretime/foretime/deft/internal/simulator"
	"github.com/foretime/foretime/shared/stats"
	"github.com/foretime/foretime/shared/uncertainty"
)

// assumedHosts holds the cost of a synchronization point on the host and the policy's
// reaction time, for a host that polls, one that must wake up, and a busy one.
var assumedHosts = []struct{ sync, reaction time.Duration }{
	{-1, 0},
	{simulator.DefaultSyncCost, 0},
	{2 * simulator.DefaultSyncCost, time.Millisecond},
}

// Predict predicts the time of one job of each model, in ms with intervals of 0.9: the jobs
// of an experiment on the virtual clock, on a fast, a usual and a busy host together,
// unless the experiment describes its host.
func Predict(ctx context.Context, x *experiment.Experiment) ([]uncertainty.Prediction, error) {
	pooled := make([][]float64, len(x.Models))
	for _, h := range assumedHosts {
		c, err := simulatorConfig(x)
		if err != nil {
			return nil, err
		}
		if x.SyncCost == 0 {
			c.SyncCost = h.sync
		}
		if x.Reaction == 0 {
			c.Reaction = h.reaction
		}
		result, err := simulator.Run(ctx, c)
		if err != nil {
			return nil, err
		}
		for i := range result.Clients {
			for _, j := range result.Clients[i].JobsAfterWarmUp() {
				pooled[i] = append(pooled[i], milliseconds(j.JCT()))
			}
		}
	}
	out := make([]uncertainty.Prediction, len(pooled))
	for i, times := range pooled {
		made := stats.Sort(times)
		out[i] = uncertainty.Prediction{Value: made.Median(), Low: made.Quantile(0.05), High: made.Quantile(0.95), Level: Level}
	}
	return out, nil
}
