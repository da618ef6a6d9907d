package simulator_test

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/foretime/foretime/deft/internal/policy"
	"github.com/foretime/foretime/deft/internal/simulator"
)

// An urgent job of 5 ms beside one of 40 ms that never pauses.
func Example() {
	result, err := simulator.Run(context.Background(), simulator.Config{
		Clients: []simulator.Client{
			{Terms: policy.Terms{Name: "A"}, Kernels: slices.Repeat([]time.Duration{100 * time.Microsecond}, 400)},
			{Terms: policy.Terms{Name: "B", Priority: 1}, Kernels: slices.Repeat([]time.Duration{50 * time.Microsecond}, 100), Sleep: 50 * time.Millisecond},
		},
		Policy:   policy.NewPriority(policy.Settings{}),
		Duration: 5 * time.Second,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range result.Clients {
		var busy time.Duration
		for _, job := range c.JobsAfterWarmUp() {
			busy += job.JCT()
		}
		mean := busy / time.Duration(len(c.JobsAfterWarmUp()))
		fmt.Printf("%s: %v\n", c.Name, mean.Round(time.Millisecond))
	}
	// Output:
	// A: 44ms
	// B: 5ms
}
