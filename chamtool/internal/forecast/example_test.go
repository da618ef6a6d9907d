package forecast_test

import (
	"fmt"

	"github.com/foretime/foretime/chamtool/internal/forecast"
)

func ExampleFit() {
	loads := []float64{1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3} // seconds
	m, err := forecast.Fit(loads)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("period %d, next %.1f s, then %.1f\n", m.Period, m.Predict().Value, m.Forecast(2)[1])
	// Output: period 2, next 1.0 s, then 3.0
}
