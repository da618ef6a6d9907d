package forecast

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/foretime/foretime/chamtool/internal/interval"
	"github.com/foretime/foretime/chamtool/internal/mixture"
	"github.com/foretime/foretime/shared/uncertainty"
)

// Returned when there is nothing to forecast from.
var (
	// ErrTooFew is returned for a history shorter than the model needs.
	ErrTooFew = errors.New("too few iterations")
	// ErrLoad is returned for a load that is not finite and above zero.
	ErrLoad = errors.New("unusable load")
)

// expert is a way to forecast.
type expert int

const (
	periodic       expert = iota // the load one period ago; without a period, the last load
	seasonal                     // the median of the loads whole periods ago
	autoregression               // on the last loads

	experts = int(autoregression) + 1
)

// order is the number of loads that the autoregression looks back, and the longest period.
const order = 6

// Model forecasts one series of loads.
type Model struct {
	law
	logs  []float64 // of the loads
	mix   mixture.Mixture
	ends  interval.Ends
	refit int // loads at which the law is fitted again
}

// Fit begins with a history of loads in seconds, oldest first, of at least two.
func Fit(history []float64) (*Model, error) {
	m := &Model{law: law{Period: 1, minLog: -30, maxLog: 30}, mix: mixture.New(experts)}
	for i, x := range history {
		if err := m.Observe(x); err != nil {
			return nil, fmt.Errorf("iteration %d: %w", i, err)
		}
	}
	if len(history) < 2 {
		return nil, fmt.Errorf("%w: %d, want at least 2", ErrTooFew, len(history))
	}
	m.law = fit(m.logs)
	return m, nil
}

// longest is the most loads that a model stands on.
const longest = 512

// Observe takes the next load, by which the experts are weighed.
func (m *Model) Observe(load float64) error {
	if !(load > 0) || math.IsInf(load, 1) {
		return fmt.Errorf("%w: %v", ErrLoad, load)
	}
	y := math.Log(load)
	if len(m.logs) > 0 {
		answers := m.answers()
		if len(m.logs) >= order { // no period can show in fewer
			m.ends.Observe(math.Exp(m.mix.Answer(&answers)), load)
		}
		m.mix.Observe(&answers, y, [mixture.MaxExperts]float64{})
	}
	if m.logs = append(m.logs, y); len(m.logs) > longest {
		m.logs = slices.Delete(m.logs, 0, longest/4)
		m.refit = len(m.logs)
	}
	if n := len(m.logs); n >= m.refit {
		m.law = fit(m.logs)
		m.refit = n + max(1, n/4)
	}
	return nil
}

// Predict returns the load that follows in seconds, with an interval by the earlier forecasts.
func (m *Model) Predict() uncertainty.Prediction { return m.ends.Around(m.Next()) }

// Next returns the load that follows, in seconds.
func (m *Model) Next() float64 {
	answers := m.answers()
	return math.Exp(m.mix.Answer(&answers))
}

// answers returns the answers of all experts for the next load.
func (m *Model) answers() (a mixture.Answers) {
	for k := range experts {
		a[k] = m.answer(expert(k), m.logs, len(m.logs))
	}
	return a
}

// Forecast returns the n loads that follow. Each expert goes on from its own forecasts, and
// is weighed by how it would have done so from earlier moments of the history.
func (m *Model) Forecast(n int) []float64 {
	mix := mixture.New(experts)
	for from := 4; from < len(m.logs); from += max(1, from/4) {
		then := fit(m.logs[:from])
		for i, answers := range then.paths(m.logs[:from], len(m.logs)-from) {
			mix.Observe(&answers, m.logs[from+i], [mixture.MaxExperts]float64{})
		}
	}
	out := make([]float64, n)
	for i, answers := range m.paths(m.logs, n) {
		out[i] = math.Exp(mix.Answer(&answers))
	}
	return out
}

// paths returns the experts' answers for n loads, each from those it gave before.
func (l *law) paths(logs []float64, n int) []mixture.Answers {
	out := make([]mixture.Answers, n)
	for k := range experts {
		own := slices.Clone(logs)
		for i := range out {
			out[i][k] = l.answer(expert(k), own, len(logs))
			own = append(own, out[i][k])
		}
	}
	return out
}
