package simulator

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foretime/foretime/mirage/internal/cluster"
	"github.com/foretime/foretime/mirage/internal/trace"
)

// three jobs on four nodes: b is too large to run beside a, c fits beside a
// but not under b's reservation, and its user may run one job.
func three(t *testing.T) *Workload {
	rules := cluster.Defaults(cluster.EASY)
	rules.UserLimit = 1
	jobs := []trace.Job{
		{ID: "a", User: "u", Submit: 0, End: 100, Limit: 100, Nodes: 3},
		{ID: "b", User: "v", Submit: 10, Start: 10, End: 60, Limit: 50, Nodes: 4},
		{ID: "c", User: "w", Submit: 20, Start: 20, End: 320, Limit: 300, Nodes: 1},
		{ID: "d", User: "w", Submit: 30, Start: 30, End: 40, Limit: 10, Nodes: 1},
		{ID: "e", User: "x", Submit: 30, Start: 30, End: 40, Limit: 10, Nodes: 9},
		{ID: "f", User: "u", Submit: 40, Start: 40, End: 45, Limit: 5, Nodes: 1},
	}
	w, err := NewWorkload(jobs, Config{Machine: cluster.Machine{Nodes: 4}, Rules: rules})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestExplain(t *testing.T) {
	w := three(t)
	for id, want := range map[string][]string{
		"a": nil,
		"b": {"10 too few nodes are free", "30 no node is free", "40 too few nodes are free"},
		"c": {"20 it fits, but would delay a job ahead in the queue", "30 its user already runs 1 job, the limit", "40 it fits, but would delay a job ahead in the queue", "100 no node is free"},
		"f": {"40 its user already runs 1 job, the limit", "100 no node is free"},
	} {
		e, err := Explain(t.Context(), w, id)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range e.Reasons {
			got = append(got, fmt.Sprintf("%d %s", r.At, r.What))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", id, diff)
		}
	}
	for _, id := range []string{"e", "nobody"} {
		if _, err := Explain(t.Context(), w, id); !errors.Is(err, ErrNoJob) {
			t.Errorf("%s: %v", id, err)
		}
	}
}

// TestExplainOutage: nodes that are down are not free.
func TestExplainOutage(t *testing.T) {
	jobs := []trace.Job{{ID: "a", Nodes: 3, Submit: 100, Start: 100, End: 160, Limit: 60}}
	config := Config{Machine: cluster.Machine{Nodes: 4, Down: []cluster.Window{{From: 0, To: 500, Nodes: 2}}}, Rules: cluster.Defaults(cluster.EASY)}
	w, err := NewWorkload(jobs, config)
	if err != nil {
		t.Fatal(err)
	}
	e, err := Explain(t.Context(), w, "a")
	if err != nil || e.Start != 500 || len(e.Reasons) != 1 || e.Reasons[0].Free != 2 || e.Reasons[0].What != "too few nodes are free" {
		t.Errorf("%+v, %v", e, err)
	}
}
