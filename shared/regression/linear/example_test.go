package linear_test

import (
	"context"
	"fmt"
	"log"

	"github.com/foretime/foretime/shared/regression"
	"github.com/foretime/foretime/shared/regression/linear"
)

func ExampleOLS() {
	s, err := regression.NewSamples([][]float64{{1}, {2}, {3}, {4}, {5}}, []float64{3, 5, 7, 9, 11})
	if err != nil {
		log.Fatal(err)
	}
	m, err := linear.OLS{}.Fit(context.Background(), s)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.0f + %.0f x\n", m.Intercept, m.Coefficients[0])
	// Output: 1 + 2 x
}
