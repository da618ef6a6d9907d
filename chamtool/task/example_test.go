package task_test

import (
	"fmt"

	"github.com/foretime/foretime/chamtool/abi"
	"github.com/foretime/foretime/chamtool/ring"
	"github.com/foretime/foretime/chamtool/task"
)

// printer prints what the tracker understood.
type printer struct{}

func (printer) Created(t *task.Task[struct{}], sizes []int64) { fmt.Println("created", t.Token, sizes) }
func (printer) Started(*task.Task[struct{}], bool)            {}
func (printer) Announced(int, uint64, []int64)                {}
func (printer) Iterated(int)                                  {}
func (printer) Loaded(int, float64)                           {}
func (printer) Ended(t *task.Task[struct{}], r task.Run) {
	fmt.Printf("ended %d after %.0f us\n", t.Token, 1e6*r.Seconds)
}

func ExampleTracker_Drain() {
	var clock task.Clock
	clock.Show(1, 1)
	clock.Show(1001, 1001) // a tick is a nanosecond
	tracker := task.NewTracker(printer{}, &clock)

	r := ring.New(64)
	var s abi.Slot
	s.SetHeader(abi.Create, abi.Local, 1, 0)
	s[abi.WordToken], s[abi.WordTicks] = 7, 1000
	r.Push(&s, []int64{8000})
	s.SetHeader(abi.Run, abi.Local, 0, abi.Place(0, 0))
	s[abi.WordTicks], s[abi.WordEnd] = 2000, 52_000
	r.Push(&s, nil)

	tracker.Drain([]*ring.Ring{r})
	// Output:
	// created 7 [8000]
	// ended 7 after 50 us
}
