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
	Ridge       Kind = "ridge"
	Forest      Kind = "forest"
	Boost       Kind = "boost"
	MLP         Kind = "mlp"
	MoE         Kind = "moe"
	Transformer Kind = "transformer"
	Policy      Kind = "policy"
	DQN         Kind = "dqn"
)

// Kinds lists all kinds.
func Kinds() []Kind {
	return []Kind{Ridge, Forest, Boost, MLP, MoE, Transformer, Policy, DQN}
}

// view is what a kind of model sees of a history: reduce of the history, then
// complete with the rest that is known. forecast adds the queue's own forecast
// to each of the steps that the view has.
type view struct {
	reduce   func(x []float64) []float64
	complete func(reduced []float64, now int64, meanWaitSeconds float64) []float64
	columns  func() []string
	steps    int
	forecast bool
}

// forecastNames are the features that a forecast adds.
var forecastNames = []string{"forecast_full_hours", "forecast_part_hours", "forecast_full_less_remaining_hours"}

func (v view) names() []string {
	if v.forecast {
		return eachStep(v.steps, v.columns(), forecastNames)
	}
	return v.columns()
}

// row is what a sample looks like.
func (v view) row(s *samples.Sample) []float64 {
	x := v.complete(s.X, s.Decision, s.MeanWait)
	if v.forecast {
		x = v.withForecast(x, s.ForecastFull, s.ForecastPart, float64(s.PredEnd-s.Decision))
	}
	return x
}

func (v view) withForecast(x []float64, full, part, remaining float64) []float64 {
	return eachStep(v.steps, x, []float64{full / 3600, part / 3600, (full - remaining) / 3600})
}

// eachStep puts more behind each of the equal steps that x consists of.
func eachStep[T any](steps int, x, more []T) []T {
	width := len(x) / steps
	out := make([]T, 0, len(x)+steps*len(more))
	for step := range steps {
		out = append(out, x[step*width:(step+1)*width]...)
		out = append(out, more...)
	}
	return out
}

var (
	summaryView  = view{reduce: Reduce, complete: Summary, columns: SummaryNames, steps: 1}
	sequenceView = view{reduce: Pool, complete: func(x []float64, _ int64, _ float64) []float64 { return x }, columns: PoolNames, steps: poolSteps}
)

// kind is how models of a kind see, are fitted and are read back.
type kind struct {
	view view
	fit  fitter
	load func([]byte) (scorer, error)
}

func kindOf(k Kind) (kind, error) {
	switch k {
	case Ridge:
		return kind{summaryView, fitRidge, loadLine}, nil
	case Forest:
		return kind{summaryView, fitForest, loadEnsemble}, nil
	case Boost:
		return kind{summaryView, fitBoost, loadEnsemble}, nil
	case MLP:
		return kind{summaryView, fitMLP, loadPerceptron}, nil
	case MoE:
		return kind{summaryView, fitMoE, loadNetwork}, nil
	case Transformer:
		return kind{sequenceView, fitTransformer, loadNetwork}, nil
	case Policy:
		return kind{summaryView, nil, loadPolicy}, nil
	case DQN:
		return kind{summaryView, nil, loadPolicy}, nil
	}
	return kind{}, fmt.Errorf("%w: %q", ErrKind, k)
}

// ReduceFor is what samples are to be loaded with for a kind of model. The
// error wraps ErrKind.
func ReduceFor(k Kind) (func(x []float64) []float64, error) {
	kind, err := kindOf(k)
	return kind.view.reduce, err
}

// Settings say how to train. The zero value works but for OverlapCost.
type Settings struct {
	// OverlapCost is the cost of an hour of overlap against one of
	// interruption, above 0.
	OverlapCost float64
	// Until leaves out episodes of which some successor started at that
	// instant or later, Unix seconds; 0 keeps all.
	Until int64
	// Forecast lets the model see what the queue itself foretells. Such a model
	// can only decide where the queue can be simulated.
	Forecast bool
	Seed     uint64
	Threads  int
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

// Train fits a model to sets of samples that were loaded with ReduceFor its
// kind. The later part of each set judges the model and sets the margin.
// The error wraps ErrKind, ErrSamples or is the fitter's own.
func Train(ctx context.Context, k Kind, sets []*samples.Set, s Settings) (*Model, Report, error) {
	kind, err := kindOf(k)
	if err != nil {
		return nil, Report{}, err
	}
	if !(s.OverlapCost > 0) || math.IsInf(s.OverlapCost, 1) {
		return nil, Report{}, fmt.Errorf("%w: overlap cost %v", ErrSamples, s.OverlapCost)
	}
	kind.view.forecast = s.Forecast
	if kind.fit == nil {
		return trainPolicy(ctx, k, kind.view, sets, s)
	}
	train, held, left, err := split(sets, s.Until, kind.view)
	if err != nil {
		return nil, Report{}, err
	}
	fitted, detail, err := kind.fit(ctx, train, held, s)
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
	m := &Model{Kind: k, FromHours: r.FromHours, OverlapCost: s.OverlapCost, view: kind.view, scorer: fitted}
	return m, r, nil
}

// row is a sample on its way to the split.
type row struct {
	decision, known int64
	x               []float64
	hours           float64
}

// split divides the samples of each set by time: the last part judges, and that
// part is learnt from whose outcome was known before it begins. Episodes with an outcome after until, or after
// the last submission of their trace, are left out.
func split(sets []*samples.Set, until int64, v view) (train, held regression.Samples, left int, err error) {
	var x, xHeld [][]float64
	var y, yHeld []float64
	for _, set := range sets {
		rows, dropped, err := usable(set, until, v)
		if err != nil {
			return train, held, 0, err
		}
		left += dropped
		cut := len(rows) - int(heldOutShare*float64(len(rows)))
		if len(rows) < 50 || cut == len(rows) {
			return train, held, left, fmt.Errorf("%w: %d of them are too few", ErrSamples, len(rows))
		}
		begin := rows[cut].decision
		for i, r := range rows {
			switch {
			case i >= cut:
				xHeld, yHeld = append(xHeld, r.x), append(yHeld, r.hours)
			case i < cut && r.known < begin:
				x, y = append(x, r.x), append(y, r.hours)
			default:
				left++
			}
		}
	}
	if len(x) < 50 {
		return train, held, left, fmt.Errorf("%w: %d of them are too few to learn from", ErrSamples, len(x))
	}
	if train, err = regression.NewSamples(x, y); err == nil {
		held, err = regression.NewSamples(xHeld, yHeld)
	}
	return train, held, left, err
}

// usable are the rows of a set in the order of time, and how many samples were
// left out because their outcome came too late.
func usable(set *samples.Set, until int64, v view) (rows []row, left int, err error) {
	if set.Manifest.Plan.Parity {
		return nil, 0, fmt.Errorf("%w: made with parity: their histories know the future", ErrSamples)
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
		rows = append(rows, row{s.Decision, s.SuccStart, v.row(&s), float64(s.SuccStart-s.Decision) / 3600})
	}
	slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(a.decision, b.decision) })
	return rows, left, nil
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
