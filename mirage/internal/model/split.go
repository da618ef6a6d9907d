package model

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/foretime/foretime/mirage/internal/samples"
	"github.com/foretime/foretime/shared/regression"
)

// row is a sample on its way to the split.
type row struct {
	Decision, Known int64     // Unix seconds: when it was taken, and when its outcome was known
	X               []float64 // as the model sees it
	Hours           float64   // the wait
}

// split divides the samples of each set by time: the last part judges, and that
// part is learnt from whose outcome was known before it begins. Episodes with an outcome after until, or after
// the last submission of their trace, are left out.
func split(sets []*samples.Set, until int64) (train, held regression.Samples, left int, err error) {
	var x, xHeld [][]float64
	var y, yHeld []float64
	for _, set := range sets {
		rows, dropped := usable(set, until)
		left += dropped
		cut := len(rows) - int(heldOutShare*float64(len(rows)))
		if len(rows) < 50 || cut == len(rows) {
			return train, held, left, fmt.Errorf("%w: %d, too few", ErrSamples, len(rows))
		}
		begin := rows[cut].Decision
		for i, r := range rows {
			switch {
			case i >= cut:
				xHeld, yHeld = append(xHeld, r.X), append(yHeld, r.Hours)
			case i < cut && r.Known < begin:
				x, y = append(x, r.X), append(y, r.Hours)
			default:
				left++
			}
		}
	}
	if len(x) < 50 {
		return train, held, left, fmt.Errorf("%w: %d, too few for training", ErrSamples, len(x))
	}
	if train, err = regression.NewSamples(x, y); err == nil {
		held, err = regression.NewSamples(xHeld, yHeld)
	}
	return train, held, left, err
}

// usable returns the rows of a set in the order of time, and how many samples were
// left out because their outcome came too late.
func usable(set *samples.Set, until int64) (rows []row, left int) {
	late := map[int]bool{}
	for _, s := range set.Samples {
		late[s.Episode] = late[s.Episode] || until > 0 && s.SuccStart >= until || set.Manifest.LastSubmit > 0 && s.SuccStart > set.Manifest.LastSubmit
	}
	for _, s := range set.Samples {
		if late[s.Episode] {
			left++
			continue
		}
		rows = append(rows, row{s.Decision, s.SuccStart, sampleFeatures(&s), float64(s.SuccStart-s.Decision) / 3600})
	}
	slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(a.Decision, b.Decision) })
	return rows, left
}
