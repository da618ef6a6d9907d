package simulator_test

import (
	"context"
	"fmt"
	"time"

	"github.com/foretime/foretime/deft/policy"
	"github.com/foretime/foretime/deft/simulator"
)

// An urgent job of 5 ms beside one of 40 ms that never pauses.
func Example() {
	result, err := simulator.Run(context.Background(), simulator.Config{
		Clients: []simulator.Client{
			{Terms: policy.Terms{Name: "A"}, Kernels: simulator.Uniform(400, 100*time.Microsecond)},
			{Terms: policy.Terms{Name: "B", Priority: 1}, Kernels: simulator.Uniform(100, 50*time.Microsecond), Sleep: 50 * time.Millisecond},
		},
		Policy:   policy.Priority{},
		Duration: 5 * time.Second,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range result.Clients {
		fmt.Printf("%s: %v\n", c.Name, c.MeanJCT().Round(time.Millisecond))
	}
	// Output:
	// A: 44ms
	// B: 5ms
}
