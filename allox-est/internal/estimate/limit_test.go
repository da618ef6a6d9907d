package estimate

import (
	"math/rand/v2"
	"testing"

	"github.com/foretime/foretime/allox-est/internal/journal"
)

// TestLimits: limits for 95 of 100 jobs, from the shortest pair of samples, are
// exceeded by five at most, where every run has noise of its own.
func TestLimits(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: one thread computes")
	}
	rng := rand.New(rand.NewPCG(3, 3))
	const jobs = 1000
	longer := 0
	for range jobs {
		c := burn{Setup: 0.3, Epoch: 0.02 + 0.04*rng.Float64(), Noise: 0.1}
		run := func(epochs int) (r journal.Run) {
			c.Seed = rng.Uint64()
			r = journal.Run{Epochs: epochs, Threads: 1, CPUs: 2, Laps: c.segments(epochs)}
			for _, lap := range r.Laps {
				r.Wall += lap
			}
			return r
		}
		whole := 40 + rng.IntN(60)
		e, err := New([]journal.Run{run(2), run(5)}, Job{Epochs: whole, Device: "cpu"}, Settings{Level: 0.9})
		if err != nil {
			t.Fatal(err)
		}
		if run(whole).Wall > e.Wall.High {
			longer++
		}
	}
	share := float64(longer) / jobs
	t.Logf("%.2f %% longer than the limit for 95 %%", 100*share)
	if share > 0.06 {
		t.Errorf("%v longer, want 0.05 at most", share)
	}
}
