package linear

import (
	"context"
	"testing"

	"github.com/foretime/foretime/shared/regression"
)

// Reference: scikit-learn 1.9.1, Ridge(alpha, solver="svd"), for Scaled on
// StandardScaler's output and brought back to the features' units.
func TestRidge(t *testing.T) {
	for _, c := range []struct {
		name string
		s    regression.Samples
		r    Ridge
		want []float64
	}{
		{"alpha 0.5", stackloss, Ridge{Penalty: 0.5}, []float64{-39.9016551804638, 0.7172043150311064, 1.2882375308245981, -0.1517035006291563}},
		{"alpha 1000", stackloss, Ridge{Penalty: 1000}, []float64{-29.300757498923417, 0.5856847692220334, 0.23984867778381636, 0.07385704805540882}},
		{"alpha 10, weights 1..21", weighted(stackloss, func(i int) float64 { return float64(i + 1) }), Ridge{Penalty: 10}, []float64{-36.20554475554858, 0.493275633821036, 1.2654633624518423, -0.04545666065039866}},
		{"alpha 2, scaled", stackloss, Ridge{Penalty: 2, Scaled: true}, []float64{-41.75572922479286, 0.6266080656169704, 1.3200661741160373, -0.07455002024320626}},
		{"alpha 10, no intercept", stackloss, Ridge{Penalty: 10, NoIntercept: true}, []float64{0, 0.8146540819379452, 1.0073585730324992, -0.6120561889074276}},
	} {
		m, err := c.r.Fit(context.Background(), c.s)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		closeAll(t, c.name, m, c.want, 1e-11)
	}
	// Twice the same feature: the effect is shared evenly.
	m, err := Ridge{Penalty: 1e-6}.Fit(context.Background(), table([][]float64{{1, 1, 2}, {2, 2, 4}, {5, 5, 10}}))
	if err != nil {
		t.Fatal(err)
	}
	close(t, "first of two", m.Coefficients[0], 1, 1e-5)
	close(t, "second of two", m.Coefficients[1], 1, 1e-5)
	if p, _ := m.Predict([]float64{1, 1}); p.Bounded() {
		t.Errorf("ridge claims an interval: %+v", p)
	}
}
