package task_test

import (
	"fmt"
	"math"
	"strings"

	"github.com/foretime/foretime/chamtool/internal/event"
	"github.com/foretime/foretime/chamtool/internal/task"
	"github.com/foretime/foretime/chamtool/internal/testkit/ringtest"
)

// printer prints what the tracker understood.
type printer struct{}

func (printer) TaskCreated(t *task.Task[struct{}], sizes []int64) {
	fmt.Println("created", t.Token, sizes)
}
func (printer) TaskStarted(*task.Task[struct{}], bool) {}
func (printer) TaskAnnounced(int, uint64, []int64)     {}
func (printer) TimeWaited(int, float64)                {}
func (printer) IterationEnded(int, float64)            {}
func (printer) IterationReported(int)                  {}
func (printer) TaskExcluded(*task.Task[struct{}])      {}
func (printer) TaskSent(int)                           {}
func (printer) TaskCancelled(int)                      {}
func (printer) LoadReported(int, float64)              {}
func (printer) TaskEnded(t *task.Task[struct{}], r task.Run) {
	fmt.Printf("ended %d after %.0f us\n", t.Token, 1e6*r.Seconds)
}

func ExampleTracker_Drain() {
	var clock task.Clock
	clock.Show(1, 1)
	clock.Show(1001, 1001) // a tick is a nanosecond
	tracker := task.NewTracker(printer{}, &clock)

	r := ringtest.New(64)
	var s event.Slot
	ringtest.SetHeader(&s, event.Create, event.Local, 1, 0)
	s[event.WordToken], s[event.WordTicks] = 7, 1000
	r.Push(&s, []int64{8000})
	ringtest.SetHeader(&s, event.Run, event.Local, 0, ringtest.Place(0, 0))
	s[event.WordTicks], s[event.WordEnd] = 2000, 52_000
	r.Push(&s, nil)

	tracker.Drain(ringtest.List(r), math.MaxUint64)
	// Output:
	// created 7 [8000]
	// ended 7 after 50 us
}

func ExampleReadLog() {
	text := "0\t8000\t2600\t0.0015\t0\n1\t16000\t2600\t0.0030\t0\n"
	log, err := task.ReadLog(strings.NewReader(text), "rank 0", task.Options{Format: task.FormatTab})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range log.Rows {
		fmt.Println(r.Entry, r.Sizes, r.Seconds)
	}
	// Output:
	// task [8000] 0.0015
	// task [16000] 0.003
}
