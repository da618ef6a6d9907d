package schedule_test

import (
	"context"
	"fmt"

	"github.com/foretime/foretime/allox-est/internal/schedule"
)

// Jobs of ten users on twenty CPU and twenty GPU nodes, placed with estimates
// that are 10 % off, beside first in, first out.
func Example() {
	jobs, err := schedule.Generator{Seed: 1, Users: 10, Jobs: 20, ErrorSD: 0.1}.Generate()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, name := range []string{"allox", "fifo"} {
		policy, err := schedule.New(name, schedule.Settings{})
		if err != nil {
			fmt.Println(err)
			return
		}
		done, err := schedule.Replay(context.Background(), jobs.Jobs, schedule.Cluster{CPUNodes: 20, GPUNodes: 20}, policy, nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s: %d jobs\n", name, done.Summary().Jobs)
	}
	// Output:
	// allox: 200 jobs
	// fifo: 200 jobs
}
