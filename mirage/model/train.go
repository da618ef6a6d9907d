package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/foretime/foretime/mirage/samples"
	"github.com/foretime/foretime/shared/regression"
)

// Errors returned when a model cannot be trained or read.
var (
	// ErrKind is returned when no kind of model has that name.
	ErrKind = errors.New("unknown kind of model")
	// ErrSamples is returned when there is too little to learn from, or the
	// samples know the future.
	ErrSamples = errors.New("unusable samples")
	// ErrFile is returned when a model file is not one.
	ErrFile = errors.New("unusable model file")
)

// Kind is a kind of model.
type Kind string

// The kinds of models.
const (
	Ridge  Kind = "ridge"
	Forest Kind = "forest"
	Boost  Kind = "boost"
	MLP    Kind = "mlp"
)

// Kinds lists all kinds.
func Kinds() []Kind { return []Kind{Ridge, Forest, Boost, MLP} }

// Settings say how to train. The zero value works but for OverlapCost.
type Settings struct {
	// OverlapCost is the cost of an hour of overlap against one of
	// interruption, above 0.
	OverlapCost float64
	// Until leaves out episodes of which some successor started at that
	// instant or later, Unix seconds; 0 keeps all.
	Until   int64
	Seed    uint64
	Threads int
}

// quantile is the quantile of the wait that costs least to plan for: an hour
// too short costs 1, an hour too long the cost of overlap (the newsvendor's
// critical ratio).
func (s Settings) quantile() float64 { return 1 / (1 + s.OverlapCost) }

// Report is how a training went. Errors are of the later part of the samples,
// on which the model was judged and not fitted.
type Report struct {
	Model       Kind    `json:"model"`
	Rows        int     `json:"rows"`
	HeldOutRows int     `json:"held_out_rows"`
	LeftOut     int     `json:"left_out_rows"` // by Until and the embargo
	MAEHours    float64 `json:"mae_hours"`
	MeanHours   float64 `json:"mean_wait_hours"`
	Spearman    float64 `json:"spearman"`
	FromHours   float64 `json:"from_hours"`
	CostHours   float64 `json:"cost_hours"` // at FromHours, by the sample
	Detail      string  `json:"detail,omitempty"`
}

// heldOutShare is the part of the samples, the latest, that judge.
const heldOutShare = 0.2

// fitter fits rows and returns something that predicts hours.
type fitter func(ctx context.Context, train, held regression.Samples, s Settings) (scorer, string, error)

// scorer predicts the wait in hours from a summary.
type scorer interface {
	hours(x []float64) (float64, error)
	save() ([]byte, error)
}

func fitterOf(k Kind) (fitter, error) {
	switch k {
	case Ridge:
		return fitRidge, nil
	case Forest:
		return fitForest, nil
	case Boost:
		return fitBoost, nil
	case MLP:
		return fitMLP, nil
	}
	return nil, fmt.Errorf("%w: %q", ErrKind, k)
}

// Train fits a model to sets of samples that were loaded with Reduce. The
// error wraps ErrKind, ErrSamples or is the fitter's own.
func Train(ctx context.Context, k Kind, sets []*samples.Set, s Settings) (*Model, Report, error) {
	fit, err := fitterOf(k)
	if err != nil {
		return nil, Report{}, err
	}
	if !(s.OverlapCost > 0) || math.IsInf(s.OverlapCost, 1) {
		return nil, Report{}, fmt.Errorf("%w: overlap cost %v", ErrSamples, s.OverlapCost)
	}
	train, held, left, err := split(sets, s.Until)
	if err != nil {
		return nil, Report{}, err
	}
	fitted, detail, err := fit(ctx, train, held, s)
	if err != nil {
		return nil, Report{}, err
	}
	r := Report{Model: k, Rows: train.Len(), HeldOutRows: held.Len(), LeftOut: left, Detail: detail}
	predicted := make([]float64, held.Len())
	for i := range predicted {
		if predicted[i], err = fitted.hours(held.Row(i)); err != nil {
			return nil, r, err
		}
		r.MAEHours += math.Abs(predicted[i]-held.Y[i]) / float64(held.Len())
		r.MeanHours += held.Y[i] / float64(held.Len())
	}
	if rho, err := regression.Spearman(predicted, held.Y); err == nil {
		r.Spearman = rho
	}
	r.FromHours, r.CostHours = margin(predicted, held.Y, s.OverlapCost)
	m := &Model{Kind: k, FromHours: r.FromHours, OverlapCost: s.OverlapCost, scorer: fitted}
	return m, r, nil
}

// row is a sample on its way to the split.
type row struct {
	decision, known int64
	x               []float64
	hours           float64
}

// split orders samples by time and divides them: the first part to fit, the
// last to judge, and between them an embargo in which outcomes of the first
// part became known. Episodes with an outcome after until, or after the last
// submission of their trace, are left out.
func split(sets []*samples.Set, until int64) (train, held regression.Samples, left int, err error) {
	var rows []row
	for _, set := range sets {
		if set.Manifest.Plan.Parity {
			return train, held, 0, fmt.Errorf("%w: made with parity: their histories know the future", ErrSamples)
		}
		late := map[int]bool{}
		for _, s := range set.Samples {
			late[s.Episode] = late[s.Episode] || until > 0 && s.SuccStart >= until || set.Manifest.LastSubmit > 0 && s.SuccStart > set.Manifest.LastSubmit
		}
		for _, s := range set.Samples {
			if late[s.Episode] {
				left++
				continue
			}
			rows = append(rows, row{s.Decision, s.SuccStart, Summary(s.X, s.Decision, s.MeanWait), float64(s.SuccStart-s.Decision) / 3600})
		}
	}
	slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(a.decision, b.decision) })
	cut := len(rows) - int(heldOutShare*float64(len(rows)))
	if len(rows) < 50 || cut == len(rows) {
		return train, held, left, fmt.Errorf("%w: %d of them are too few", ErrSamples, len(rows))
	}
	begin := rows[cut].decision
	var x, xHeld [][]float64
	var y, yHeld []float64
	for i, r := range rows {
		switch {
		case i >= cut:
			xHeld, yHeld = append(xHeld, r.x), append(yHeld, r.hours)
		case r.known < begin:
			x, y = append(x, r.x), append(y, r.hours)
		default:
			left++
		}
	}
	if train, err = regression.NewSamples(x, y); err == nil {
		held, err = regression.NewSamples(xHeld, yHeld)
	}
	return train, held, left, err
}

// margin finds the expected reward, in hours, from which on it is cheapest to
// submit: with it, a wait of w hours foretold as p is begun p - from hours
// ahead, and ends w - (p - from) hours late. It tries every quarter of an
// hour from -12 to 12 and returns the best with its mean cost.
func margin(predicted, actual []float64, overlapCost float64) (from, cost float64) {
	cost = math.Inf(1)
	for quarter := range 97 {
		// 0, 1, -1, 2, -2, ... so that of equals the smallest lean wins.
		f := float64((quarter+1)/2) / 4
		if quarter%2 == 0 {
			f = -f
		}
		sum := 0.0
		for i := range actual {
			late := actual[i] - max(0, max(predicted[i], 0)-f)
			sum += max(late, 0) + overlapCost*max(-late, 0)
		}
		if mean := sum / float64(len(actual)); mean < cost-1e-12 {
			from, cost = f, mean
		}
	}
	return from, cost
}
