package tree_test

import (
	"context"
	"fmt"
	"log"

	"github.com/foretime/foretime/shared/regression"
	"github.com/foretime/foretime/shared/regression/tree"
)

func ExampleBoost() {
	s, err := regression.NewSamples([][]float64{{1}, {2}, {8}, {9}}, []float64{10, 10, 50, 50})
	if err != nil {
		log.Fatal(err)
	}
	m, err := tree.Boost{Rounds: 100, Eta: 0.3}.Fit(context.Background(), s)
	if err != nil {
		log.Fatal(err)
	}
	p, err := m.Predict([]float64{8.5})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.0f\n", p.Value)
	// Output: 50
}
