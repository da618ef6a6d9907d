package cluster_test

import (
	"fmt"

	"github.com/foretime/foretime/mirage/internal/cluster"
)

// One of four nodes is free for an hour. The first job needs all four; of the
// two behind it the one that is done by then starts.
func ExamplePlan() {
	rules := cluster.Defaults(cluster.EASY)
	plan, err := rules.Plan()
	if err != nil {
		fmt.Println(err)
		return
	}
	nodes := cluster.NewOccupancy(cluster.Machine{Nodes: 4})
	nodes.Take(cluster.Allocation{Job: 9, Nodes: 3, Start: 0, Until: 3600, End: 3600})
	queue := cluster.NewQueue(&rules, 0)
	queue.Add(cluster.Request{Job: 0, Nodes: 4, User: 1, Limit: 60, Submit: 0})
	queue.Add(cluster.Request{Job: 1, Nodes: 1, User: 2, Limit: 7200, Submit: 1})
	queue.Add(cluster.Request{Job: 2, Nodes: 1, User: 3, Limit: 3600, Submit: 2})
	plan.Event(&cluster.Pass{
		Now: 0, Queue: queue, Nodes: nodes,
		Start: func(r *cluster.Request, _ *cluster.Place, outOfTurn bool) {
			fmt.Printf("job %d starts, out of turn: %v\n", r.Job, outOfTurn)
		},
	})
	fmt.Println(queue.Len(), "jobs stay behind")
	// Output:
	// job 2 starts, out of turn: true
	// 2 jobs stay behind
}
