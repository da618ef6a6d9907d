package placement_test

import (
	"errors"
	"fmt"

	"github.com/foretime/foretime/edgeprof/internal/device"
	"github.com/foretime/foretime/edgeprof/internal/placement"
	"github.com/foretime/foretime/shared/uncertainty"
)

// Two boards of which one is twice as slow now, and one that was never measured.
func Example() {
	devices := []device.Device{{Node: "rpi-1", Load: device.Load{CPUPercent: 100}}, {Node: "rpi-2"}, {Node: "new"}}
	r, err := placement.Rank(devices, nil, func(i int) (placement.Estimate, error) {
		d := devices[i]
		if d.Node == "new" {
			return placement.Estimate{}, errors.New("never measured")
		}
		seconds := 0.02 * (1 + d.Load.CPUPercent/100)
		return placement.Estimate{Seconds: uncertainty.Prediction{Value: seconds, Low: 0.9 * seconds, High: 1.2 * seconds}}, nil
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range r.Candidates {
		fmt.Printf("%s %.3f s (%.3f to %.3f)\n", c.Node, c.Seconds.Value, c.Seconds.Low, c.Seconds.High)
	}
	fmt.Println("excluded:", r.Excluded[0].Node, r.Excluded[0].Reason)
	// Output:
	// rpi-2 0.020 s (0.018 to 0.024)
	// rpi-1 0.040 s (0.036 to 0.048)
	// excluded: new never measured
}
