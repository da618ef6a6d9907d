package validation

import (
	"github.com/foretime/foretime/mirage/internal/chain"
	"github.com/foretime/foretime/mirage/internal/samples"
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

// Spread describes the distribution of a quantity over episodes.
type Spread struct {
	Mean uncertainty.Prediction `json:"mean"` // with its interval over blocks
	P50  float64                `json:"p50"`
	P90  float64                `json:"p90"`
	P99  float64                `json:"p99"`
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

// Summary holds the results of a policy.
type Summary struct {
	Figures
	ByLoad map[Load]Figures `json:"by_load"`
	// VersusReactive compares the costs of the same episodes.
	VersusReactive *Paired `json:"versus_reactive,omitempty"`
	// Blocks is the number of spans of time that the episodes fall into.
	Blocks int `json:"blocks"`
}

// Summarise computes the figures of a policy's episodes and compares them with the
// reactive outcomes of the same episodes.
func Summarise(played, reactive []Played, plan samples.Plan, c chain.Cost) Summary {
	all := make([]int, len(played))
	byLoad := map[Load][]int{}
	for i := range played {
		all[i] = i
		load := LoadOf(reactive[i].Outcome)
		byLoad[load] = append(byLoad[load], i)
	}
	blocks := Blocks(plan, reactive)
	j := judgement{played, reactive, blocks, plan.Service, c}
	out := Summary{Figures: j.figures(all), ByLoad: map[Load]Figures{}}
	for _, load := range []Load{Low, Medium, Heavy} {
		out.ByLoad[load] = j.figures(byLoad[load])
	}
	if len(played) > 0 {
		p := Compare(Costs(played, c), Costs(reactive, c), blocks)
		out.VersusReactive, out.Blocks = &p, p.Blocks
	}
	return out
}

// Costs returns the costs of episodes, in hours.
func Costs(played []Played, c chain.Cost) []float64 {
	out := make([]float64, len(played))
	for i := range played {
		out[i] = c.CostOf(played[i].Outcome)
	}
	return out
}

// judgement is the input of figures: the same episodes under a policy and under the reactive
// one, with their blocks.
type judgement struct {
	played, reactive []Played
	blocks           []int
	service          chain.Service
	cost             chain.Cost
}

// figures of some episodes.
func (j judgement) figures(episodes []int) Figures {
	f := Figures{Episodes: len(episodes)}
	if f.Episodes == 0 {
		return f
	}
	var interruption, overlap, cost []float64
	var of []int
	before := 0.0
	for _, i := range episodes {
		o := j.played[i].Outcome
		interruption = append(interruption, o.InterruptionHours())
		overlap = append(overlap, o.OverlapHours())
		cost = append(cost, j.cost.CostOf(o))
		of = append(of, j.blocks[i])
		before += j.reactive[i].InterruptionHours()
		if o.RewardSeconds() <= zeroSeconds {
			f.ZeroInterruptionShare += 1 / float64(f.Episodes)
		}
	}
	f.InterruptionHours = spread(interruption, of)
	f.OverlapHours = spread(overlap, of)
	f.CostHours = spread(cost, of)
	f.WastedNodeHours = f.OverlapHours.Mean.Value * float64(j.service.Nodes)
	if before > 0 {
		r := 1 - f.InterruptionHours.Mean.Value*float64(f.Episodes)/before
		f.ReductionVsReactive = &r
	}
	return f
}

func spread(values []float64, blocks []int) Spread {
	sorted := stats.Sort(values)
	s := Spread{P50: sorted.Quantile(.5), P90: sorted.Quantile(.9), P99: sorted.Quantile(.99)}
	s.Mean, _, _ = blockMean(values, blocks)
	s.Mean.Low = max(s.Mean.Low, 0) // no value is negative
	return s
}
