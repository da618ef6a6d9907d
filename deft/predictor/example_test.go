package predictor_test

import (
	"fmt"

	"github.com/foretime/foretime/deft/predictor"
)

// The interval that costs least, for a job of 929 kernels of 0.02 ms.
func ExampleModel_Best() {
	m := predictor.Model{SyncMS: 0.0115, BaseMS: 2.92, Kernels: 929, KernelMS: 0.02, Queue: 929}
	best, err := m.Best(predictor.Candidates())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("every %d launches: %.2f ms\n", best.Sync, best.TotalMS())
	// Output: every 50 launches: 3.63 ms
}
