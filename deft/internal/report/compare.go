package report

import (
	"errors"
	"fmt"
	"slices"
)

// Compare returns the run compared with a run of the same models alone on the device. The
// error matches ErrMismatch if a model is missing, or ErrNoModels if no job took any time.
func (r *Run) Compare(alone *Run) (*Run, error) {
	c := *r
	c.Models = slices.Clone(r.Models)
	for i := range c.Models {
		m := &c.Models[i]
		a, ok := alone.findModel(i, *m)
		if !ok {
			return nil, fmt.Errorf("report: %w: %s has no solo run", ErrMismatch, m.Name)
		}
		if !(a.JCT.Mean > 0) || !(m.JCT.Mean > 0) {
			return nil, fmt.Errorf("report: %s: %w: its mean completion time is 0", m.Name, ErrNoModels)
		}
		mean, inflation := a.JCT.Mean, m.JCT.Mean/a.JCT.Mean-1
		m.AloneMS, m.Inflation = &mean, &inflation
	}
	return &c, nil
}

// findModel returns the model of r that corresponds to m: at the same place if it has the
// same name, or else the first of that name.
func (r *Run) findModel(i int, m Model) (Model, bool) {
	if i < len(r.Models) && r.Models[i].Name == m.Name {
		return r.Models[i], true
	}
	for _, a := range r.Models {
		if a.Name == m.Name {
			return a, true
		}
	}
	return Model{}, false
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
