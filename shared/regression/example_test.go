package regression_test

import (
	"context"
	"fmt"
	"log"
	"math"

	"github.com/foretime/foretime/shared/regression"
	"github.com/foretime/foretime/shared/regression/linear"
	"github.com/foretime/foretime/shared/uncertainty"
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

// A model is evaluated on rows that it was not fitted on, and their errors give its
// later predictions intervals.
func ExampleCrossPredict() {
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
	rows, predicted, err := regression.CrossPredict(ctx, linear.OLS{}, s, folds)
	if err != nil {
		log.Fatal(err)
	}
	var values []float64
	for _, p := range predicted {
		values = append(values, p.Value)
	}
	metrics, err := regression.Evaluate(s.Select(rows).Y, values)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("MAPE %.1f %%, R2 %.3f\n", 100*metrics.MAPE, metrics.R2)

	band, err := uncertainty.NewBand(uncertainty.Offset, 0.9, values, s.Select(rows).Y)
	if err != nil {
		log.Fatal(err)
	}
	p := band.Predict(130)
	fmt.Printf("%.0f, in [%.1f, %.1f] 90 times of 100\n", p.Value, p.Low, p.High)
	// Output:
	// MAPE 4.0 %, R2 0.996
	// 130, in [127.0, 133.0] 90 times of 100
}
