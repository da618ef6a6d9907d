package checker

import (
	"fmt"

	"github.com/foretime/foretime/mirage/internal/cluster"
	"github.com/foretime/foretime/mirage/internal/trace"
)

func ExampleCheck() {
	jobs := []trace.Job{
		{ID: "a", User: "ann", Nodes: 3, End: 60, Limit: 60},
		{ID: "b", User: "bob", Nodes: 2, End: 60, Limit: 60},
	}
	start, end := int64(0), int64(60)
	outcome := func(id, user string, nodes int) Outcome {
		return Outcome{ID: id, User: user, Nodes: nodes, Start: &start, End: &end, LimitSeconds: 60, DurationSeconds: 60, Status: "started"}
	}
	report := Check(
		Table{Jobs: jobs, Machine: cluster.Machine{Nodes: 4}, Rules: cluster.Defaults(cluster.EASY)},
		[]Outcome{outcome("a", "ann", 3), outcome("b", "bob", 2)},
	)
	for _, v := range report.Violations {
		fmt.Println(v)
	}
	// Output:
	// invariant 1: job "b" at 0: 5 of 4 nodes in use
}
