package trace_test

import (
	"fmt"
	"log"
	"strings"

	"github.com/foretime/foretime/mirage/internal/trace"
)

func Example() {
	t, err := trace.Read(strings.NewReader(`JobID|User|Submit|Start|End|Timelimit|NNodes
1|ann|2023-02-01T08:00:00|2023-02-01T09:00:00|2023-02-01T11:00:00|04:00:00|2
2|bob|2023-02-01T08:30:00|2023-02-01T08:30:00|2023-02-01T12:30:00|04:00:00|one
`), "sacct.log", trace.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for _, bad := range t.Bad {
		fmt.Println(bad)
	}
	stats := t.Stats()
	fmt.Printf("%d jobs of %d users, %.0f node-hours, at most %d nodes at once\n",
		stats.Rows, stats.Users, stats.NodeHours, stats.PeakNodes)
	// Output:
	// sacct.log:3: column NNodes: "one" is not an integer
	// 1 jobs of 1 users, 4 node-hours, at most 2 nodes at once
}
