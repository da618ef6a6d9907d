package workload_test

import (
	"fmt"

	"github.com/foretime/foretime/deft/workload"
)

// What one job of a detector asks of the device.
func ExampleLookup() {
	p, err := workload.Lookup("fasterrcnn_resnet50_fpn", workload.Input{Height: 720, Width: 1280, Batch: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(p.Kernels(), p.DeviceTime())
	// Output: 929 18.53786ms
}
