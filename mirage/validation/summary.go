package validation

import (
	"github.com/foretime/foretime/mirage/chain"
	"github.com/foretime/foretime/shared/stats"
	"github.com/foretime/foretime/shared/uncertainty"
)

// zeroSeconds is the longest interruption that counts as none.
const zeroSeconds = 60

// Load is the class of an episode by its reactive outcome.
type Load string

// The classes: reactive interruption of at most 2 h, up to 12 h, and more.
const (
	Low    Load = "low"
	Medium Load = "medium"
	Heavy  Load = "heavy"
)

// LoadOf returns the class of an episode by its reactive outcome.
func LoadOf(reactive chain.Outcome) Load {
	switch h := reactive.InterruptionHours(); {
	case h <= 2:
		return Low
	case h <= 12:
		return Medium
	}
	return Heavy
}

// Spread is how a quantity is spread over episodes.
type Spread struct {
	Mean float64 `json:"mean"`
	P50  float64 `json:"p50"`
	P90  float64 `json:"p90"`
	P99  float64 `json:"p99"`
	// Low and High bound the mean 95 times of 100, by bootstrap; both are the
	// mean itself for fewer than two episodes.
	Low  float64 `json:"mean_low"`
	High float64 `json:"mean_high"`
}

// Figures are the outcome of a set of episodes. Without episodes all are 0.
type Figures struct {
	Episodes              int     `json:"episodes"`
	InterruptionHours     Spread  `json:"interruption_hours"`
	OverlapHours          Spread  `json:"overlap_hours"`
	ZeroInterruptionShare float64 `json:"zero_interruption_share"`
	// ReductionVsReactive is 1 - mean interruption / reactive mean
	// interruption; absent where reactive is never interrupted.
	ReductionVsReactive *float64 `json:"reduction_vs_reactive"`
	// WastedNodeHours is the mean of overlap times the service's nodes.
	WastedNodeHours float64 `json:"wasted_node_hours"`
	// CostHours is the mean of interruption plus the cost of overlap.
	CostHours Spread `json:"cost_hours"`
}

// Summary is the judgement of a policy.
type Summary struct {
	Figures
	ByLoad map[Load]Figures `json:"by_load"`
	// VersusReactive compares the costs of the same episodes.
	VersusReactive *Paired `json:"versus_reactive,omitempty"`
}

// Summarise computes the figures of a policy's episodes beside the reactive
// outcomes of the same episodes.
func Summarise(played, reactive []Played, s chain.Service, c chain.Cost, seed uint64) Summary {
	all := make([]int, len(played))
	byLoad := map[Load][]int{}
	for i := range played {
		all[i] = i
		load := LoadOf(reactive[i].Outcome)
		byLoad[load] = append(byLoad[load], i)
	}
	out := Summary{Figures: figures(played, reactive, all, s, c, seed), ByLoad: map[Load]Figures{}}
	for _, load := range []Load{Low, Medium, Heavy} {
		out.ByLoad[load] = figures(played, reactive, byLoad[load], s, c, seed)
	}
	if p, err := Compare(Costs(played, c), Costs(reactive, c), seed); err == nil {
		out.VersusReactive = &p
	}
	return out
}

// Costs are the costs of episodes, in hours.
func Costs(played []Played, c chain.Cost) []float64 {
	out := make([]float64, len(played))
	for i := range played {
		out[i] = c.Of(played[i].Outcome)
	}
	return out
}

func figures(played, reactive []Played, episodes []int, s chain.Service, c chain.Cost, seed uint64) Figures {
	f := Figures{Episodes: len(episodes)}
	if f.Episodes == 0 {
		return f
	}
	var interruption, overlap, cost []float64
	before := 0.0
	for _, i := range episodes {
		o := played[i].Outcome
		interruption, overlap, cost = append(interruption, o.InterruptionHours()), append(overlap, o.OverlapHours()), append(cost, c.Of(o))
		before += reactive[i].InterruptionHours()
		if o.RewardSeconds() <= zeroSeconds {
			f.ZeroInterruptionShare += 1 / float64(f.Episodes)
		}
	}
	f.InterruptionHours, f.OverlapHours, f.CostHours = spread(interruption, seed), spread(overlap, seed), spread(cost, seed)
	f.WastedNodeHours = f.OverlapHours.Mean * float64(s.Nodes)
	if before > 0 {
		r := 1 - f.InterruptionHours.Mean*float64(f.Episodes)/before
		f.ReductionVsReactive = &r
	}
	return f
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

func spread(values []float64, seed uint64) Spread {
	m := mean(values)
	s := Spread{Mean: m, Low: m, High: m}
	sorted := stats.Sort(values)
	s.P50, s.P90, s.P99 = sorted.Quantile(.5), sorted.Quantile(.9), sorted.Quantile(.99)
	if b, err := uncertainty.Bootstrap(values, mean, uncertainty.Resampling{Seed: seed}); err == nil {
		s.Low, s.High = b.Low, b.High
	}
	return s
}
