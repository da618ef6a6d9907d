package predictor_test

import (
	"fmt"

	"github.com/foretime/foretime/deft/internal/predictor"
)

// The interval that costs least, for a job of 929 kernels of 0.02 ms.
func ExampleModel_Predict() {
	m := predictor.Model{SyncMS: 0.0115, BaseMS: 2.92, Kernels: 929, KernelMS: 0.02, Queue: 929}
	best, err := m.Predict(predictor.Interval(m.SyncMS*float64(m.Kernels), m.KernelMS))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("every %d launches: %.2f ms\n", best.Sync, best.TotalMS())
	// Output: every 33 launches: 3.57 ms
}
