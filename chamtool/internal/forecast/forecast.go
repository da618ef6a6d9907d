package forecast

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/foretime/foretime/chamtool/internal/interval"
	"github.com/foretime/foretime/chamtool/internal/mixture"
	"github.com/foretime/foretime/shared/stats"
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
	periodic expert = iota // the load one period ago; without a period, the last load
	seasonal               // the median of the loads whole periods ago

	experts = int(seasonal) + 1
)

const (
	// longestPeriod is the longest period in iterations.
	longestPeriod = 6
	// seasons is the number of past periods in the seasonal median: chosen, like the factor in
	// findPeriod, on the loads of Sam(oa)² and on synthetic ones.
	seasons = 8
)

// Model forecasts one series of loads.
type Model struct {
	Period int       // iterations after which loads repeat; 1 if they do not
	logs   []float64 // of the loads
	mix    mixture.Mixture
	ends   interval.Ends
	search int // loads at which the period is searched again
}

// Fit begins with a history of loads in seconds, oldest first, of at least two.
func Fit(history []float64) (*Model, error) {
	m := &Model{Period: 1, mix: mixture.New(experts)}
	for i, x := range history {
		if err := m.Observe(x); err != nil {
			return nil, fmt.Errorf("iteration %d: %w", i, err)
		}
	}
	if len(history) < 2 {
		return nil, fmt.Errorf("%w: %d, want at least 2", ErrTooFew, len(history))
	}
	m.Period = findPeriod(m.logs)
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
		answers := m.answers(1)
		if len(m.logs) >= longestPeriod { // no period can show in fewer
			m.ends.Observe(math.Exp(m.mix.Answer(&answers)), load)
		}
		m.mix.Observe(&answers, y)
	}
	if m.logs = append(m.logs, y); len(m.logs) > longest {
		m.logs = slices.Delete(m.logs, 0, longest/4)
		m.search = len(m.logs)
	}
	if n := len(m.logs); n >= m.search {
		m.Period = findPeriod(m.logs)
		m.search = n + max(1, n/4)
	}
	return nil
}

// Predict returns the load that follows in seconds, with an interval by the earlier forecasts.
func (m *Model) Predict() uncertainty.Prediction { return m.ends.Around(m.Forecast(1)[0]) }

// Forecast returns the n loads that follow, in seconds.
func (m *Model) Forecast(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		answers := m.answers(i + 1)
		out[i] = math.Exp(m.mix.Answer(&answers))
	}
	return out
}

// answers returns the answers of all experts, as logarithms, for the load some iterations ahead,
// from 1.
func (m *Model) answers(ahead int) (a mixture.Answers) {
	for k := range experts {
		a[k] = m.answer(expert(k), ahead)
	}
	return a
}

// answer returns the logarithm of the load some iterations ahead, NaN where the expert sleeps.
func (m *Model) answer(e expert, ahead int) float64 {
	at := len(m.logs) - m.Period + (ahead-1)%m.Period
	if at < 0 {
		return math.NaN()
	}
	if e == periodic {
		return m.logs[at]
	}
	var same []float64
	for ; at >= 0 && len(same) < seasons; at -= m.Period {
		same = append(same, m.logs[at])
	}
	return stats.Median(same)
}

// findPeriod returns the lag at which a series is closest to itself. A longer one must be clearly
// closer than a shorter one, or its multiples win by chance.
func findPeriod(logs []float64) int {
	best, least := 1, math.Inf(1)
	for lag := 1; lag <= longestPeriod && len(logs)-lag >= 2; lag++ {
		sum := 0.0
		for i := lag; i < len(logs); i++ {
			sum += math.Abs(logs[i] - logs[i-lag])
		}
		if d := sum / float64(len(logs)-lag); d < 0.6*least {
			best, least = lag, d
		}
	}
	return best
}
