package uncertainty_test

import (
	"fmt"
	"log"

	"github.com/foretime/foretime/shared/uncertainty"
)

// Past predictions and their outcomes give the next prediction its interval.
func ExampleNewBand() {
	var predicted, actual []float64
	for i := range 39 {
		predicted = append(predicted, 10)
		actual = append(actual, 8+float64(i)/8)
	}
	band, err := uncertainty.NewBand(uncertainty.Factor, 0.9, predicted, actual)
	if err != nil {
		log.Fatal(err)
	}
	p := band.Predict(60)
	fmt.Printf("%.0f s, in [%.1f, %.1f] 90 times of 100\n", p.Value, p.Low, p.High)
	// Output: 60 s, in [48.8, 75.8] 90 times of 100
}

// A predictor is judged by its outcomes; the two cases of a block are one unit.
func ExampleJudge() {
	p := uncertainty.Prediction{Value: 10, Low: 8, High: 13, Level: 0.9}
	v, err := uncertainty.Judge(0.9, []uncertainty.Case{
		{Prediction: p, Actual: 9, Block: "monday"},
		{Prediction: p, Actual: 12, Block: "monday"},
		{Prediction: p, Actual: 11, Block: "tuesday"},
		{Prediction: p, Actual: 14, Block: "wednesday"},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(v.Cases, "cases in", v.Blocks, "blocks")
	fmt.Printf("held %.2f, width %.0f, score %.0f\n", v.Coverage.Value, v.MeanWidth.Value, v.Score.Value)
	// Output:
	// 4 cases in 3 blocks
	// held 0.75, width 5, score 10
}
