package report

import (
	"errors"
	"fmt"
)

// CompareWith sets the inflation of each model whose run alone on the device, at the same place
// of the configuration, is known.
func (r *Run) CompareWith(alone *Run) {
	for i := range r.Models {
		m := &r.Models[i]
		if i >= len(alone.Models) || alone.Models[i].Name != m.Name || !(alone.Models[i].JCT.Mean > 0) {
			continue
		}
		inflation := m.JCT.Mean/alone.Models[i].JCT.Mean - 1
		m.Inflation = &inflation
	}
}

// Jain returns Jain's fairness index, (Σx)² / (n·Σx²) (Jain, Chiu and Hawe 1984): 1 for
// equal shares, 1/n if one has everything.
func Jain(shares []float64) (float64, error) {
	sum, squares := 0.0, 0.0
	for i, x := range shares {
		if !(x >= 0) {
			return 0, fmt.Errorf("report: share %d is %v", i, x)
		}
		sum += x
		squares += x * x
	}
	if !(squares > 0) {
		return 0, errors.New("report: no shares")
	}
	return sum * sum / (float64(len(shares)) * squares), nil
}
