package regression_test

import (
	"context"
	"fmt"
	"log"
	"math"

	"github.com/foretime/foretime/shared/regression"
	"github.com/foretime/foretime/shared/regression/linear"
)

func Example() {
	s, err := regression.NewSamples([][]float64{{1}, {2}, {3}, {4}}, []float64{2.1, 3.9, 6.2, 7.8})
	if err != nil {
		log.Fatal(err)
	}
	m, err := linear.OLS{}.Fit(context.Background(), s)
	if err != nil {
		log.Fatal(err)
	}
	p, err := m.Predict([]float64{5})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.2f, in [%.2f, %.2f] 95 times of 100\n", p.Value, p.Low, p.High)
	// Output: 9.85, in [8.47, 11.23] 95 times of 100
}

// A model is judged on folds it has not seen, then given intervals from rows it
// was not fitted on.
func ExampleCalibrate() {
	ctx := context.Background()
	var s regression.Samples
	s.Features = 1
	for i := range 60 {
		x := float64(i)
		s.X, s.Y = append(s.X, x), append(s.Y, 10+2*x+3*math.Sin(x))
	}
	folds, err := regression.RowFolds(s.Len(), 3, 1)
	if err != nil {
		log.Fatal(err)
	}
	rows, predicted, err := regression.CrossPredict(ctx, linear.Huber{}, s, folds)
	if err != nil {
		log.Fatal(err)
	}
	metrics, err := regression.Evaluate(s.Select(rows).Y, regression.Values(predicted))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("MAPE %.1f %%, R2 %.3f\n", 100*metrics.MAPE, metrics.R2)

	m, err := linear.Huber{}.Fit(ctx, s.Select(folds[0].Train))
	if err != nil {
		log.Fatal(err)
	}
	c, err := regression.Calibrate(m, s.Select(folds[0].Test), 0.9, false)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("± %.1f\n", c.Width)
	// Output:
	// MAPE 4.0 %, R2 0.996
	// ± 3.0
}
