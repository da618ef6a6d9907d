package forecast

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/foretime/foretime/shared/stats"
)

// Returned when there is nothing to forecast from.
var (
	// ErrTooFew is returned for a history shorter than the model needs.
	ErrTooFew = errors.New("too few iterations")
	// ErrLoad is returned for a load that is not finite and above zero.
	ErrLoad = errors.New("unusable load")
	// ErrKind is returned for an unknown kind.
	ErrKind = errors.New("unknown forecast")
)

// Kind is a way to forecast.
type Kind int

// The ways to forecast.
const (
	Auto     Kind = iota // whichever was closest on the end of the history
	AR                   // autoregression on the last loads
	Seasonal             // the median of the loads whole periods ago
	Average              // the geometric mean of the two
)

var kindNames = []string{"auto", "ar", "seasonal", "average"}

// String returns the kind's name.
func (k Kind) String() string {
	if k < 0 || int(k) >= len(kindNames) {
		return fmt.Sprintf("Kind(%d)", int(k))
	}
	return kindNames[k]
}

// ParseKind is the inverse of String.
func ParseKind(s string) (Kind, error) {
	if i := slices.Index(kindNames, s); i >= 0 {
		return Kind(i), nil
	}
	return Auto, fmt.Errorf("%w: %q", ErrKind, s)
}

// Options sets how a model is fitted. The zero value works.
type Options struct {
	Kind      Kind
	Order     int  // loads that the autoregression looks back; 0 is 6
	Recursive bool // Auto judges many steps ahead instead of one
}

// Model is fitted to a history.
type Model struct {
	Kind     Kind // that answers; never Auto
	Period   int  // detected
	order    int
	at       float64 // what the autoregression adds to its lags
	b        []float64
	least    float64 // logarithms of the lowest and highest load seen, widened
	most     float64
	seasons  int // periods back that the seasonal median looks
	Warnings []error
}

// seasonsBack is how many periods back the seasonal median looks.
const seasonsBack = 8

// Fit fits to a history of loads in seconds, oldest first.
func Fit(history []float64, o Options) (*Model, error) {
	if o.Order <= 0 {
		o.Order = 6
	}
	logs, err := logarithms(history)
	if err != nil {
		return nil, err
	}
	if len(logs) < 2 {
		return nil, fmt.Errorf("%w: %d, want at least 2", ErrTooFew, len(logs))
	}
	m := fitAll(logs, o.Order)
	if m.Kind = o.Kind; o.Kind == Auto {
		m.Kind = judge(logs, o)
	}
	if m.b == nil && m.Kind != Seasonal {
		m.Warnings = append(m.Warnings, fmt.Errorf("%s falls back to seasonal: %w for order %d, or it is not stable", m.Kind, ErrTooFew, o.Order))
		m.Kind = Seasonal
	}
	return m, nil
}

func logarithms(history []float64) ([]float64, error) {
	logs := make([]float64, len(history))
	for i, x := range history {
		if !(x > 0) || math.IsInf(x, 0) {
			return nil, fmt.Errorf("iteration %d: %w: %v", i, ErrLoad, x)
		}
		logs[i] = math.Log(x)
	}
	return logs, nil
}

// fitAll fits period and autoregression. b stays nil where the latter cannot
// be had.
func fitAll(logs []float64, order int) *Model {
	m := &Model{order: order, Period: period(logs, order), seasons: seasonsBack}
	m.least, m.most = slices.Min(logs)-1, slices.Max(logs)+1
	m.fitAR(logs)
	return m
}

// period is the lag up to most at which the series is closest to itself. A
// longer one must be clearly closer than a shorter one.
func period(logs []float64, most int) int {
	best, least := 1, math.Inf(1)
	for lag := 1; lag <= most && len(logs)-lag >= 2; lag++ {
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

// Next is the load that follows a history, in seconds.
func (m *Model) Next(history []float64) (float64, error) {
	logs, err := logarithms(history)
	if err != nil {
		return 0, err
	}
	y, err := m.next(logs, len(logs))
	return math.Exp(y), err
}

// Ahead is the n loads that follow, each computed from those before.
func (m *Model) Ahead(history []float64, n int) ([]float64, error) {
	logs, err := logarithms(history)
	if err != nil {
		return nil, err
	}
	out, known := make([]float64, n), len(logs)
	for i := range out {
		y, err := m.next(logs, known)
		if err != nil {
			return nil, err
		}
		logs = append(logs, y)
		out[i] = math.Exp(y)
	}
	return out, nil
}

// next is the logarithm that follows logs, of which the first known ones came
// true and the others are forecasts.
func (m *Model) next(logs []float64, known int) (float64, error) {
	if len(logs) == 0 {
		return 0, fmt.Errorf("%w: none", ErrTooFew)
	}
	seasonal := m.seasonal(logs, known)
	if m.Kind == Seasonal || m.b == nil || len(logs) < m.order {
		return seasonal, nil
	}
	y := m.at
	for i, b := range m.b {
		y += b * logs[len(logs)-1-i]
	}
	y = min(max(y, m.least), m.most)
	// What the lags tell fades with every lag that is itself a forecast; what
	// stays is the season.
	share := 1 / float64(1+len(logs)-known)
	if m.Kind == Average {
		share /= 2
	}
	return share*y + (1-share)*seasonal, nil
}

// seasonal is the median of the last known loads whole periods before the next
// one.
func (m *Model) seasonal(logs []float64, known int) float64 {
	var same []float64
	for i := len(logs) - m.Period; i >= 0 && len(same) < m.seasons; i -= m.Period {
		if i < known {
			same = append(same, logs[i])
		}
	}
	if len(same) == 0 {
		return logs[len(logs)-1]
	}
	return stats.Median(same)
}

// judge picks the kind that was closest on the last third of the history when
// it was fitted to the rest.
func judge(logs []float64, o Options) Kind {
	split := len(logs) - len(logs)/3
	m := fitAll(logs[:split], o.Order)
	if m.b == nil || len(logs)-split < 3 {
		return Seasonal
	}
	best, least := Seasonal, math.Inf(1)
	for _, k := range []Kind{Seasonal, Average, AR} {
		m.Kind = k
		seen, known := slices.Clone(logs[:split]), split
		sum := 0.0
		for _, actual := range logs[split:] {
			y, err := m.next(seen, known)
			if err != nil {
				return Seasonal
			}
			sum += math.Abs(y - actual)
			if o.Recursive {
				seen = append(seen, y)
			} else {
				seen = append(seen, actual)
				known++
			}
		}
		if sum < 0.95*least { // the simpler one wins a near tie
			best, least = k, sum
		}
	}
	return best
}
