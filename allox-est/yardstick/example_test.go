package yardstick_test

import (
	"fmt"
	"time"

	"github.com/foretime/foretime/allox-est/yardstick"
)

// A job has run for 20 ms, now on processor 0: the yardstick measures there.
func Example() {
	w := yardstick.Start()
	w.See(20*time.Millisecond, 0)
	for _, r := range w.Stop() {
		fmt.Println(r.At, r.Seconds) // half the seconds: twice as fast
	}
}
