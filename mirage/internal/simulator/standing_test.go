package simulator_test

import (
	"errors"
	"testing"

	"github.com/foretime/foretime/mirage/internal/cluster"
	"github.com/foretime/foretime/mirage/internal/simulator"
	"github.com/foretime/foretime/mirage/internal/trace"
)

func TestResumeRefuses(t *testing.T) {
	c := simulator.Config{Machine: cluster.Machine{Nodes: 4}, Rules: cluster.Defaults(cluster.Slurm)}
	for name, st := range map[string]simulator.Standing{
		"runs on no node":          {Now: 10, Running: []trace.Job{{Limit: 60}}},
		"starts later":             {Now: 10, Running: []trace.Job{{Nodes: 1, Start: 11, Limit: 60}}},
		"started before it came":   {Now: 10, Own: []trace.Job{{Nodes: 1, Start: 3, Submit: 4, Limit: 60}}},
		"runs without a limit":     {Now: 10, Running: []trace.Job{{Nodes: 1}}},
		"waits from the morrow on": {Now: 10, Pending: []trace.Job{{Nodes: 1, Submit: 11, Limit: 60}}},
	} {
		if _, err := c.Resume(st); !errors.Is(err, simulator.ErrStanding) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// More nodes in use than the settings know of, and a job past its limit.
	s, err := c.Resume(simulator.Standing{Now: 100, Running: []trace.Job{{Nodes: 3, Limit: 50}, {Nodes: 3, Limit: 200}}})
	if err != nil {
		t.Fatal(err)
	}
	if wait, err := s.WaitIn(s.Using(1), trace.Job{Nodes: 6, Limit: 60, End: 60}, simulator.Farthest); err != nil || wait.Seconds != 100 {
		t.Errorf("six nodes in %d s, %v; want 100", wait.Seconds, err)
	}
}

// TestResumePlaced: on two nodes of four CPUs one job runs on the second, where it
// is known to be; one that the description would not have runs all the same, and
// what has no room left is taken to have it. A job of three CPUs waits for the
// first two to end.
func TestResumePlaced(t *testing.T) {
	c := simulator.Config{
		Machine: cluster.Machine{Nodes: 2, Kinds: []cluster.Kind{{Name: "k", Nodes: 2, CPUs: 4, Partitions: []string{"p"}}}},
		Rules:   cluster.Defaults(cluster.Slurm),
	}
	st := simulator.Standing{Now: 1000, Running: []trace.Job{
		{ID: "a", User: "u", Nodes: 1, Submit: 0, Start: 900, Limit: 600, Partition: "p", Need: &trace.Need{CPUs: 2, On: []int32{1}}},
		{ID: "b", User: "u", Nodes: 1, Submit: 0, Start: 900, Limit: 400, Partition: "gone", Need: &trace.Need{CPUs: 2, On: []int32{0}}},
		{ID: "c", User: "u", Nodes: 1, Submit: 0, Start: 900, Limit: 3600, Need: &trace.Need{CPUs: 3}},
	}}
	s, err := c.Resume(st)
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.WaitIn(s.Using(1), trace.Job{User: "v", Nodes: 1, Limit: 60, End: 60, Partition: "p", Need: &trace.Need{CPUs: 3}}, simulator.Farthest)
	if err != nil || got.Seconds != 300 {
		t.Errorf("%d s, %v; want 300", got.Seconds, err)
	}
}
