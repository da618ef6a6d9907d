package slurmview

import (
	"math"
	"testing"

	"github.com/foretime/foretime/mirage/internal/cluster"
	"github.com/foretime/foretime/mirage/internal/simulator"
	"github.com/foretime/foretime/mirage/internal/trace"
	"github.com/foretime/foretime/shared/stats"
)

// TestBehindAll puts a job without a priority behind all that wait, and one with a
// priority between them: on one node, where every job runs for its limit.
func TestBehindAll(t *testing.T) {
	h := &Hardware{Machine: cluster.Machine{Nodes: 1, Kinds: []cluster.Kind{{Name: "n", Nodes: 1, CPUs: 1}}}}
	job := func(id string, submit, limit int64, priority float64) trace.Job {
		return trace.Job{ID: id, User: "u", Nodes: 1, Limit: limit, Submit: submit, Priority: priority, Need: &trace.Need{CPUs: 1}}
	}
	const now = 1_700_000_000
	running := job("1", now-600, 3600, 0)
	running.Start, running.End = now-600, now+3000
	pending := []trace.Job{job("2", now-500, 7200, 20), job("3", now-400, 10800, 10)}
	v, err := newView(h, simulator.Standing{Now: now, Running: []trace.Job{running}, Pending: pending}, simulator.Config{Machine: h.Machine, Rules: liveRules("")})
	if err != nil {
		t.Fatal(err)
	}
	limits := func(int) length {
		return func(job int32, _ int64) int64 { return v.sim.Workload().Jobs[job].Limit }
	}
	for priority, want := range map[float64]float64{0: 3000 + 7200 + 10800, 15: 3000 + 7200, 25: 3000} {
		waits, err := v.drawn(job("", now, 1800, priority), 1, limits)
		if err != nil {
			t.Fatal(err)
		}
		if got := waits.Median(); math.Abs(got-want) > 60 {
			t.Errorf("priority %v: %v s, want %v", priority, got, want)
		}
	}
}

func (v *View) drawn(job trace.Job, draws int, lengths func(draw int) length) (stats.Sorted, error) {
	waits, err := v.sim.Draw(v.completeRow(job), draws, func(i int) simulator.Future {
		return simulator.Future{Length: lengths(i), Back: v.back(i)}
	})
	return Waits(waits).SortSeconds(), err
}

// waitsOf returns the sorted waits of a job in seconds.
func waitsOf(v *View, job trace.Job) (stats.Sorted, error) {
	waits, err := v.AskWaits(Ask{Job: job, Tasks: 1})
	return waits.SortSeconds(), err
}
