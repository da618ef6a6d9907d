//go:build !race

package neural

import (
	"context"
	"testing"

	"github.com/foretime/foretime/shared/regression"
	"github.com/foretime/foretime/shared/regression/linear"
)

// The noise has deviation 1, the least error of any model; a linear fit leaves
// about 2.6.
func TestLearns(t *testing.T) {
	train, test := friedman(1500, 1), friedman(500, 2)
	line, err := linear.OLS{}.Fit(context.Background(), train)
	if err != nil {
		t.Fatal(err)
	}
	predictions, err := regression.PredictAll(line, test)
	if err != nil {
		t.Fatal(err)
	}
	var onLine []float64
	for _, p := range predictions {
		onLine = append(onLine, p.Value)
	}
	straight, err := regression.Evaluate(test.Y, onLine)
	if err != nil {
		t.Fatal(err)
	}
	n := trained(t, Mixture{Training: Training{Epochs: 80, Patience: 15, Seed: 1}}, train)
	values, err := n.PredictAll(test)
	if err != nil {
		t.Fatal(err)
	}
	m, err := regression.Evaluate(test.Y, values)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("held-out RMSE %.3f after %+v, a line's %.3f", m.RMSE, n.Report(), straight.RMSE)
	if m.RMSE > 1.4 || straight.RMSE < 2 {
		t.Errorf("RMSE %.3f, want at most 1.4 where a line has %.3f", m.RMSE, straight.RMSE)
	}
}
