//go:build !race

package neural_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"math"

	"github.com/foretime/foretime/shared/regression"
	"github.com/foretime/foretime/shared/regression/neural"
)

// A network learns a parabola, is stored and read back, and predicts.
func Example() {
	var samples regression.Samples
	samples.Features = 1
	for i := range 400 {
		x := float64(i-200) / 100
		samples.X, samples.Y = append(samples.X, x), append(samples.Y, x*x)
	}
	mixture := neural.Mixture{Experts: 2, Training: neural.Training{Epochs: 100, Seed: 1}}
	net, err := mixture.Fit(context.Background(), samples)
	if err != nil {
		log.Fatal(err)
	}
	var file bytes.Buffer
	if err := net.Save(&file); err != nil {
		log.Fatal(err)
	}
	back, err := neural.Load(&file)
	if err != nil {
		log.Fatal(err)
	}
	p, err := back.Predict([]float64{1.5})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("within 0.1 of 2.25:", math.Abs(p.Value-2.25) < 0.1)
	// Output: within 0.1 of 2.25: true
}
