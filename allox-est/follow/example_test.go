package follow_test

import (
	"fmt"
	"time"

	"github.com/foretime/foretime/allox-est/follow"
)

// Five epochs of a hundred have ended, two seconds each after a set-up of ten.
func Example() {
	t := follow.New(100, 0)
	var last follow.Update
	for i := range 5 {
		u, err := t.Mark(time.Duration(12+2*i) * time.Second)
		if err != nil {
			fmt.Println(err)
			return
		}
		last = u
	}
	fmt.Printf("%d of %d: %.0f s in all, %.0f s left\n", last.Done, last.Epochs, last.Total.Value, last.Left.Value)
	// Output: 5 of 100: 210 s in all, 190 s left
}
