package model

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/foretime/foretime/mirage/internal/samples"
	"github.com/foretime/foretime/shared/regression"
	"github.com/foretime/foretime/shared/uncertainty"
)

// Errors returned when a model cannot be trained or read.
var (
	// ErrSamples is returned when there is too little to learn from.
	ErrSamples = errors.New("unusable samples")
	// ErrFile is returned when a model file is not one.
	ErrFile = errors.New("unusable model file")
)

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

// quantile returns the quantile of the wait that costs least to plan for: an hour
// too short costs 1, an hour too long the cost of overlap (the newsvendor's
// critical ratio).
func (s Settings) quantile() float64 { return 1 / (1 + s.OverlapCost) }

// Report holds the results of a training. Errors come from the later part of the samples,
// on which the model was judged and not fitted.
type Report struct {
	Model       string  `json:"model"`
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

// bandLevel is the level of the interval of a predicted wait.
const bandLevel = .9

// Train makes a model of a kind from sets of samples. The later part of each set judges the
// model and sets the margin.
// The error wraps ErrSamples or is the learner's own.
func Train(ctx context.Context, kind string, l Learner, sets []*samples.Set, s Settings) (*Model, Report, error) {
	if !(s.OverlapCost > 0) || math.IsInf(s.OverlapCost, 1) {
		return nil, Report{}, fmt.Errorf("%w: overlap cost %v", ErrSamples, s.OverlapCost)
	}
	m := &Model{Kind: kind, Origin: originOf(sets, s.Until)}
	r, err := m.fit(ctx, l.Fit, sets, s)
	r.Model = kind
	return m, r, err
}

// fit fits the rows of samples, judges the outcome by the later ones and sets
// the margin by them.
func (m *Model) fit(ctx context.Context, fit Fitter, sets []*samples.Set, s Settings) (Report, error) {
	train, held, left, err := split(sets, s.Until)
	if err != nil {
		return Report{}, err
	}
	var detail string
	if m.scorer, detail, err = fit(ctx, train, held, s); err != nil {
		return Report{}, err
	}
	r := Report{Rows: train.Len(), HeldOutRows: held.Len(), LeftOut: left, Detail: detail}
	predicted := make([]float64, held.Len())
	for i := range predicted {
		if predicted[i], err = m.scorer.Hours(held.Row(i)); err != nil {
			return r, err
		}
		r.MAEHours += math.Abs(predicted[i]-held.Y[i]) / float64(held.Len())
		r.MeanHours += held.Y[i] / float64(held.Len())
	}
	if rho, err := regression.Spearman(predicted, held.Y); err == nil {
		r.Spearman = rho
	}
	r.FromHours, r.CostHours = margin(predicted, held.Y, s.OverlapCost)
	m.FromHours = r.FromHours
	if band, err := uncertainty.NewBand(uncertainty.Offset, bandLevel, predicted, held.Y); err == nil {
		m.Band = &band
	}
	return r, nil
}

// margin finds the expected reward, in hours, from which on it is cheapest to
// submit: with it, a wait of w hours predicted as p is begun p - from hours
// ahead, and ends w - (p - from) hours late. It tries every quarter of an
// hour from -12 to 12 and returns the best with its mean cost.
func margin(predicted, actual []float64, overlapCost float64) (from, cost float64) {
	cost = math.Inf(1)
	for quarter := range 97 {
		// 0, 1, -1, 2, -2, ...: of equal costs the margin nearest to 0 wins.
		f := float64((quarter+1)/2) / 4
		if quarter%2 == 0 {
			f = 0 - f
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
