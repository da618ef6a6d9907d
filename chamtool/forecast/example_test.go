package forecast_test

import (
	"fmt"

	"github.com/foretime/foretime/chamtool/forecast"
)

func ExampleFit() {
	loads := []float64{1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3} // seconds
	m, err := forecast.Fit(loads, forecast.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	next, err := m.Next(loads)
	fmt.Printf("period %d, next %.1f s (%v)\n", m.Period, next, err)
	// Output: period 2, next 1.0 s (<nil>)
}
