package device_test

import (
	"context"
	"fmt"
	"os"

	"github.com/foretime/foretime/edgeprof/internal/device"
)

func ExampleLocal() {
	devices, _, err := device.Local{Root: os.DirFS("/"), Host: "here", Sleep: device.Sleep}.Devices(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	d := devices[0]
	fmt.Println(d.Node, d.Cores > 0, d.Load.CPUPercent >= 0 && d.Load.CPUPercent <= 100)
	// Output: here true true
}
