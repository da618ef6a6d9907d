//go:build !race

package neural

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/foretime/foretime/shared/regression"
)

// sequences are rows of 4 steps of 3 features. The target is the last step's first
// feature if the first step's second is above 0, and else its negative: a product
// across steps that no linear model can learn.
func sequences(t *testing.T, n int) regression.Samples {
	rng := rand.New(rand.NewPCG(5, 6))
	rows, y := make([][]float64, n), make([]float64, n)
	for i := range rows {
		row := make([]float64, 12)
		for k := range row {
			row[k] = rng.Float64()*2 - 1
		}
		rows[i], y[i] = row, math.Copysign(row[9], row[9]*row[1])
	}
	s, err := regression.NewSamples(rows, y)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestMixture checks that a network learns a nonlinear function and survives
// storing.
func TestMixture(t *testing.T) {
	train, test := sequences(t, 800), sequences(t, 1000).Select([]int{900, 910, 920, 930, 940, 950, 960, 970, 980, 990})
	n, err := Mixture{Experts: 4, Hidden: 16, Gate: 16, Training: Training{Epochs: 60, Patience: 60, LearningRate: 0.005, Seed: 2}}.Fit(t.Context(), train)
	if err != nil {
		t.Fatal(err)
	}
	// The target's root mean square is 0.58, and so is the error of linear models.
	if rmse := n.Report().HeldOutRMSE; rmse > 0.3 {
		t.Errorf("held-out error %v, want at most 0.3", rmse)
	}
	want, err := n.PredictAll(test)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := n.Save(&b); err != nil {
		t.Fatal(err)
	}
	loaded, err := Load(&b)
	if err != nil {
		t.Fatal(err)
	}
	for i := range want {
		p, err := loaded.Predict(test.Row(i))
		if err != nil || !(math.Abs(p.Value-want[i]) <= 1e-4) {
			t.Errorf("row %d: %v, %v; want %v", i, p.Value, err, want[i])
		}
	}
}
