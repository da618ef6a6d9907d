package schedule_test

import (
	"fmt"
	"strings"

	"github.com/foretime/foretime/allox-est/schedule"
)

// A record of a job that takes 50 s on CPUs and 25 s on a GPU, by an estimate
// that is 10 % too long.
func ExampleReadRecords() {
	record := `# 0
1 0 1 0 7
-1 50 32 15 50 1 2 25 1 0.1 0.1
0
`
	w, err := schedule.ReadRecords(strings.NewReader(record), "jobs.txt")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, d := range w.Diagnostics {
		fmt.Println(d)
	}
	for _, j := range w.Jobs {
		fmt.Printf("job %d: %.0f s, reported %.0f s\n", j.ID, j.Seconds(schedule.GPU), j.Reported(schedule.GPU))
	}
	// Output:
	// job 0: 25 s, reported 28 s
}
