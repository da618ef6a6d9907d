package ring_test

import (
	"fmt"

	"github.com/foretime/foretime/chamtool/abi"
	"github.com/foretime/foretime/chamtool/ring"
)

func Example() {
	r := ring.New(1024)
	var s abi.Slot
	s.SetHeader(abi.Create, abi.Local, 2, 0)
	s[abi.WordToken] = 7
	r.Push(&s, []int64{8000, 16000})
	for at := r.Tail(); at != r.Head(); r.Release(at) {
		s := r.Slot(at)
		fmt.Println("task", s[abi.WordToken], "of sizes", r.AppendSizes(nil, at))
		at += s.Slots()
	}
	// Output: task 7 of sizes [8000 16000]
}
