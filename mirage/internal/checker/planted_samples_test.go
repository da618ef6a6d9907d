package checker

import (
	"testing"

	"github.com/foretime/foretime/mirage/internal/samples"
)

// TestPlantedSamples breaks sound samples in one place at a time.
func TestPlantedSamples(t *testing.T) {
	tests := []struct {
		name      string
		change    func(s []samples.Sample, h *samples.History)
		invariant int // 0: sound
	}{
		{"sound", func([]samples.Sample, *samples.History) {}, 0},
		{"history of the future", func(s []samples.Sample, h *samples.History) { h.Moments[143].At = s[0].Decision + 1 }, 14},
		{"stale history", func(_ []samples.Sample, h *samples.History) { h.Moments[143].At -= 600 }, 14},
		{"short history", func(_ []samples.Sample, h *samples.History) { h.Moments = h.Moments[1:] }, 14},
		{"reward does not add up", func(s []samples.Sample, _ *samples.History) { s[0].Reward++ }, 13},
		{"starts before it is submitted", func(s []samples.Sample, _ *samples.History) { s[0].SuccStart, s[0].Reward = 400, -1600 }, 13},
		{"last probe is not reactive", func(s []samples.Sample, _ *samples.History) { s[1].PredEnd, s[1].Reward = 2001, 99 }, 13},
		{"more jobs than nodes", func(_ []samples.Sample, h *samples.History) { h.Moments[5].Snapshot[0] = 9 }, 14},
		{"quantiles fall", func(_ []samples.Sample, h *samples.History) { h.Moments[5].Snapshot[3] = 1000 }, 14},
		{"nobody runs, but long", func(_ []samples.Sample, h *samples.History) {
			x := &h.Moments[5].Snapshot
			x[12], x[13], x[15] = 0, 0, 3
		}, 14},
		{"the predecessor's clock is wrong", func(_ []samples.Sample, h *samples.History) { h.ElapsedSeconds++ }, 14},
		{"the predecessor has waited less than nothing", func(_ []samples.Sample, h *samples.History) { h.WaitSeconds = -1 }, 14},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			probes := []samples.Sample{
				{Probe: 0, Decision: 500, PredStart: 0, PredEnd: 2000, SuccStart: 900, Reward: -1100},
				{Probe: 1, Decision: 2000, PredStart: 0, PredEnd: 2000, SuccStart: 2100, Reward: 100},
			}
			histories := make([]samples.History, len(probes))
			for i, s := range probes {
				h := &histories[i]
				h.ElapsedSeconds = float64(s.Decision)
				for step := range int64(historySteps) {
					x := samples.Snapshot{2, 3, 30, 30, 45, 60, 60, 0, 1, 2, 3, 4, 1, 1}
					h.Moments = append(h.Moments, samples.Moment{At: s.Decision - 600*(historySteps-1-step), Snapshot: x})
				}
			}
			tt.change(probes, &histories[0])
			var r Report
			for i, s := range probes {
				r.sample(s, i == len(probes)-1)
				r.history(s, histories[i])
			}
			if tt.invariant == 0 && r.Total > 0 || tt.invariant > 0 && (r.Total == 0 || r.Violations[0].Invariant != tt.invariant) {
				t.Errorf("%v, want invariant %d", r.Violations, tt.invariant)
			}
		})
	}
}
