package follow_test

import (
	"fmt"

	"github.com/foretime/foretime/allox-est/internal/estimate"
	"github.com/foretime/foretime/allox-est/internal/follow"
	"github.com/foretime/foretime/allox-est/internal/progress"
)

// Five epochs of a hundred have ended, two seconds each after a set-up of ten.
func Example() {
	t := follow.Tracker{Job: estimate.Job{Epochs: 100}}
	var marks []progress.Mark
	for i := range 5 {
		marks = append(marks, progress.Mark{Number: float64(i + 1), Of: 100, Seconds: float64(12 + 2*i)})
	}
	last, _, err := t.Estimate(marks)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.0f of %d: %.0f s in all, %.0f s left\n", last.Done, last.Epochs, last.Total.Value, last.Left.Value)
	// Output: 5 of 100: 210 s in all, 190 s left
}
