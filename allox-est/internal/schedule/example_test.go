package schedule_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/foretime/foretime/allox-est/internal/schedule"
)

// Three jobs on a CPU and a GPU node, by their estimates, next to first in, first out.
func Example() {
	w, err := schedule.Load(strings.NewReader("job,arrival,cpu,gpu\na,0,20,4\nb,0,5,5\nc,0,30,2\n"), "jobs.csv")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, name := range []string{"allox", "fifo"} {
		policy, err := schedule.Policies.Find(name)
		if err != nil {
			fmt.Println(err)
			return
		}
		runs, err := schedule.Replay(context.Background(), w.Jobs, schedule.Cluster{1, 1}, policy())
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s: %.2f s\n", name, schedule.Summarize(name, runs).MeanJCT)
	}
	// Output:
	// allox: 4.33 s
	// fifo: 5.00 s
}
