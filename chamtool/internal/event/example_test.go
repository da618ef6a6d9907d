package event_test

import (
	"fmt"
	"testing/fstest"

	"github.com/foretime/foretime/chamtool/internal/event"
	"github.com/foretime/foretime/chamtool/internal/testkit/ringtest"
)

func Example() {
	r := ringtest.New(1024)
	var s event.Slot
	ringtest.SetHeader(&s, event.Create, event.Local, 2, 0)
	s[event.WordToken] = 7
	r.Push(&s, []int64{8000, 16000})
	for at := r.Tail(); at != r.Head(); r.Release(at) {
		s := r.Slot(at)
		fmt.Println("task", s[event.WordToken], "of sizes", r.AppendSizes(nil, at))
		at += s.Slots()
	}
	// Output: task 7 of sizes [8000 16000]
}

func ExampleReadFrequencies() {
	machine := fstest.MapFS{"proc/cpuinfo": {Data: []byte("processor : 0\ncpu MHz : 2400.5\n")}}
	s, err := event.ReadFrequencies(machine)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.MHz(0))
	// Output: 2400.5 true
}
