package summary_test

import (
	"fmt"

	"github.com/foretime/foretime/chamtool/internal/summary"
)

func ExampleErrors() {
	var e summary.Errors
	e.Add(0.0011, 0.001)
	e.Add(0.0007, 0.001)
	fmt.Printf("MAPE %.0f %% of %d\n", e.MAPE(), e.Count())
	// Output: MAPE 20 % of 2
}
