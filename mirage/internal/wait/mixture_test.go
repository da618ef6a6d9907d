package wait

import (
	"math"
	"testing"
)

// TestMixtureWeights: the weights besides the half of the first prediction.
func TestMixtureWeights(t *testing.T) {
	equal := []float64{1. / 3, 1. / 3, 1. / 3}
	for _, tt := range []struct {
		name string
		past []outcome
		want []float64
	}{
		{"nothing is known", nil, equal},
		{"one was right", []outcome{{2, []float64{1, 2, 3}, 1}}, []float64{1, 0, 0}},
		{"all were equal", []outcome{{2, []float64{2, 2, 2}, 1}}, equal},
		// Regrets 1 and 2 with squares 1 and 4: 1 and a half.
		{"two were better", []outcome{{3, []float64{2, 1, 4}, 0}}, []float64{2. / 3, 1. / 3, 0}},
		// The mixture was 0.1 too low: the third gains 0.1, not 8.
		{"far beyond", []outcome{{2, []float64{2, 2, 10}, 2.1}, {2, []float64{2, 2, 2.2}, 1}}, equal},
		{"none was better in all", []outcome{{2, []float64{1, 2, 3}, 1}, {2, []float64{1, 2, 3}, 3}}, equal},
	} {
		got := mixtureWeights(tt.past, 3)
		got[0] -= 0.5
		for i := range got {
			if math.Abs(got[i]-tt.want[i]/2) > 1e-12 {
				t.Errorf("%s: weight %d is %v, want %v", tt.name, i, got[i], tt.want[i]/2)
			}
		}
	}
}
