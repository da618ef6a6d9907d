package forecast

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

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
	Auto     Kind = iota // whichever was closest lately
	AR                   // autoregression on the last loads
	Seasonal             // the median of the loads whole periods ago
	Average              // the geometric mean of the two
	Last                 // the last load
	Trend                // the load one period ago, and what periods lately added
)

var kindNames = []string{"auto", "ar", "seasonal", "average", "last", "trend"}

// choices are the kinds that Auto chooses among, the simplest first.
var choices = [...]Kind{Last, Seasonal, Trend, Average, AR}

// String returns the kind's name.
func (k Kind) String() string {
	if k < 0 || int(k) >= len(kindNames) {
		return fmt.Sprintf("Kind(%d)", int(k))
	}
	return kindNames[k]
}

// Names are the names of all kinds.
func Names() []string { return slices.Clone(kindNames) }

// ParseKind is the inverse of String.
func ParseKind(s string) (Kind, error) {
	if i := slices.Index(kindNames, s); i >= 0 {
		return Kind(i), nil
	}
	return Auto, fmt.Errorf("%w: %q is none of %s", ErrKind, s, strings.Join(kindNames, ", "))
}

// Options sets how a model is fitted. The zero value works.
type Options struct {
	Kind      Kind
	Order     int  // loads that the autoregression looks back; 0 is 6
	Recursive bool // Auto judges many steps ahead instead of one
}

// Model is fitted to a history.
type Model struct {
	Kind     Kind // that answers; Auto chooses for every load anew
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
	if m.Kind = o.Kind; o.Kind == Auto && o.Recursive {
		m.Kind = judge(logs, o)
	}
	if m.b == nil && (m.Kind == AR || m.Kind == Average) {
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
	if len(logs) == 0 {
		return 0, fmt.Errorf("%w: none", ErrTooFew)
	}
	return math.Exp(m.next(m.kind(logs), logs, len(logs))), nil
}

// Ahead is the n loads that follow, each computed from those before.
func (m *Model) Ahead(history []float64, n int) ([]float64, error) {
	logs, err := logarithms(history)
	if err != nil {
		return nil, err
	}
	if len(logs) == 0 {
		return nil, fmt.Errorf("%w: none", ErrTooFew)
	}
	out, known, kind := make([]float64, n), len(logs), m.kind(logs)
	for i := range out {
		y := m.next(kind, logs, known)
		logs = append(logs, y)
		out[i] = math.Exp(y)
	}
	return out, nil
}

const (
	// lately is how many of the last loads choose the kind, and fading how much
	// less each counts than the one after it.
	lately, fading = 12, 0.8
	// surprise is how far off, as a logarithm, the best kind must have been for
	// the last load, beside less than a quarter of that for all before, to stand
	// for a step.
	surprise = 0.1
	// worthwhile is how much closer a kind must be than a simpler one.
	worthwhile = 0.95
)

// kind is the kind that was closest on the last loads, each answered for from
// those before it.
func (m *Model) kind(logs []float64) Kind {
	if m.Kind != Auto {
		return m.Kind
	}
	best, least, surprised := Last, math.Inf(1), false
	for _, k := range choices {
		if m.b == nil && (k == AR || k == Average) {
			continue
		}
		sum, miss := 0.0, 0.0
		for i := max(1, len(logs)-lately); i < len(logs); i++ {
			miss = math.Abs(m.next(k, logs[:i], i) - logs[i])
			sum = fading*sum + miss
		}
		if sum < worthwhile*least {
			best, least, surprised = k, sum, miss > surprise && miss > 0.8*sum
		}
	}
	if surprised { // a step, as far as anybody knows: what was before it tells nothing
		return Last
	}
	return best
}

// next is the logarithm that follows logs, of which there is at least one, by a
// kind. The first known ones came true and the others are forecasts.
func (m *Model) next(kind Kind, logs []float64, known int) float64 {
	switch {
	case kind == Last:
		return logs[len(logs)-1]
	case kind == Trend:
		return m.trend(logs, known)
	}
	seasonal := m.seasonal(logs, known)
	if kind == Seasonal || m.b == nil || len(logs) < m.order {
		return seasonal
	}
	y := m.at
	for i, b := range m.b {
		y += b * logs[len(logs)-1-i]
	}
	y = min(max(y, m.least), m.most)
	// What the lags tell fades with every lag that is itself a forecast; what
	// stays is the season.
	share := 1 / float64(1+len(logs)-known)
	if kind == Average {
		share /= 2
	}
	return share*y + (1-share)*seasonal
}

// trend is the logarithm one period before the next, and the median of what the
// last known periods added.
func (m *Model) trend(logs []float64, known int) float64 {
	if len(logs) <= m.Period {
		return logs[len(logs)-1]
	}
	var added []float64
	for i := known - 1; i >= m.Period && len(added) < m.seasons; i-- {
		added = append(added, logs[i]-logs[i-m.Period])
	}
	before := logs[len(logs)-m.Period]
	if len(added) == 0 {
		return before
	}
	// As with the autoregression, no forecast leaves what was seen by more than a
	// factor of e.
	return min(max(before+stats.Median(added), slices.Min(logs[:known])-1), slices.Max(logs[:known])+1)
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
// it was fitted to the rest and went on from its own forecasts.
func judge(logs []float64, o Options) Kind {
	split := len(logs) - len(logs)/3
	m := fitAll(logs[:split], o.Order)
	if len(logs)-split < 3 {
		return Seasonal
	}
	best, least := Seasonal, math.Inf(1)
	for _, k := range []Kind{Seasonal, Last, Average, AR, Trend} {
		if m.b == nil && (k == AR || k == Average) {
			continue
		}
		seen := slices.Clone(logs[:split])
		sum := 0.0
		for _, actual := range logs[split:] {
			y := m.next(k, seen, split)
			sum += math.Abs(y - actual)
			seen = append(seen, y)
		}
		if sum < worthwhile*least { // the simpler one wins a near tie
			best, least = k, sum
		}
	}
	return best
}
