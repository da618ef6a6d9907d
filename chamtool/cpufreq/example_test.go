package cpufreq_test

import (
	"fmt"
	"testing/fstest"

	"github.com/foretime/foretime/chamtool/cpufreq"
)

func ExampleRead() {
	machine := fstest.MapFS{"proc/cpuinfo": {Data: []byte("processor : 0\ncpu MHz : 2400.5\n")}}
	s, err := cpufreq.Read(machine)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.MHz(0))
	// Output: 2400.5 true
}
