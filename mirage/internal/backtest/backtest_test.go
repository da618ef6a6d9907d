package backtest

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foretime/foretime/mirage/internal/trace"
	"github.com/foretime/foretime/mirage/internal/wait"
)

const day = 86400

// queue is a log of so many jobs of a few users, each of whom waits about as
// long as lately, and one who has a backlog.
func queue(n int, seed uint64) []trace.Job {
	rng := rand.New(rand.NewPCG(seed, 1))
	jobs := make([]trace.Job, n)
	at := int64(1_670_000_000)
	for i := range jobs {
		at += int64(600 * rng.ExpFloat64())
		user := rng.IntN(6)
		wait := int64(float64(user*user) * 1200 * (.5 + rng.Float64()))
		run := int64(3600 * rng.ExpFloat64())
		jobs[i] = trace.Job{
			ID: string(rune('a' + user)), User: string(rune('a' + user)), Nodes: 1 + rng.IntN(4), Priority: rng.Float64(),
			Submit: at, Start: at + wait, End: at + wait + run, Limit: max(run, 7200),
		}
	}
	return jobs
}

// TestRun: what users' waits have been tells what they will be, intervals hold
// what they promise, and neither threads nor a second run change anything.
func TestRun(t *testing.T) {
	jobs := queue(600, 2)
	from, to := jobs[300].Submit, jobs[560].Submit
	jobs[500].NoStart = true
	run := func(threads int) *Report {
		r, err := Run(t.Context(), jobs, Range{from, to, func() {}}, wait.Settings{Seed: 1, Threads: threads})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := run(3)
	if r.Jobs != 259 || r.Unknown != 1 || r.BlockDays != 1 {
		t.Errorf("%d jobs, %d unknown, blocks of %d days", r.Jobs, r.Unknown, r.BlockDays)
	}
	// A wait is even within half of its user's mean, of 3.06 h on average: to
	// know the user leaves a quarter of that.
	if r.MAEHours > 1 || r.Spearman < .85 || r.MAEHours > r.Baselines["last_100"].MAEHours {
		t.Errorf("%+v, baselines %+v", r.Figures, r.Baselines)
	}
	if r.Coverage < .85 || r.WidthHours <= 0 || !r.Gain.IsBounded() || r.MAE.Value != r.MAEHours && math.Abs(r.MAE.Value-r.MAEHours) > 1e-9 {
		t.Errorf("coverage %v, width %v, gain %v, error %v", r.Coverage, r.WidthHours, r.Gain, r.MAE)
	}
	mae := 0.0
	for _, e := range r.Eighths {
		mae += e.MAEHours / 8
		if e.BestHours <= 0 || e.Coverage < 0.7 {
			t.Errorf("an eighth: %+v", e)
		}
	}
	if len(r.Eighths) != 8 || math.Abs(mae-r.MAEHours) > 0.02*r.MAEHours { // eighths of 32 or 33 jobs
		t.Errorf("eighths have a mean error of %v h, all %v h", mae, r.MAEHours)
	}
	if !testing.Short() {
		if diff := cmp.Diff(r, run(1)); diff != "" {
			t.Error("one thread and three differ:", diff)
		}
	}
	if _, err := Run(t.Context(), jobs, Range{to + 400*day, to + 500*day, func() {}}, wait.Settings{}); !errors.Is(err, ErrRange) {
		t.Errorf("nobody: %v", err)
	}
	if _, err := Run(t.Context(), jobs, Range{from, to, func() {}}, wait.Settings{Level: 2}); !errors.Is(err, wait.ErrSettings) {
		t.Errorf("level 2: %v", err)
	}
}
