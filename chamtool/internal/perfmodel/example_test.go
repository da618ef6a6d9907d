package perfmodel_test

import (
	"fmt"

	"github.com/foretime/foretime/chamtool/internal/perfmodel"
)

func Example() {
	e := perfmodel.New(perfmodel.Auto).Entry("dgemm")
	for i := range 100 {
		n := int64(100 * (1 + i%4))
		e.Observe(e.Footprint([]int64{8 * n * n}), 2e-10*float64(n*n*n)) // seconds
	}
	p, err := e.Predict(e.Footprint([]int64{8 * 200 * 200}))
	fmt.Printf("%.4f s, in [%.4f, %.4f] nine times of ten (%v)\n", p.Value, p.Low, p.High, err)
	// Output: 0.0016 s, in [0.0016, 0.0016] nine times of ten (<nil>)
}
