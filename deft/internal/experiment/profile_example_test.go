package experiment_test

import (
	"fmt"

	"github.com/foretime/foretime/deft/internal/experiment"
)

// What one job of a detector asks of the device.
func ExampleLookup() {
	p, err := experiment.Lookup("fasterrcnn_resnet50_fpn", experiment.Input{Height: 720, Width: 1280, Batch: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(p.Kernels(), p.DeviceTime())
	// Output: 929 18.53786ms
}
