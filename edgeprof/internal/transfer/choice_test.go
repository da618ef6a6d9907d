package transfer

import (
	"cmp"
	"math"
	"slices"
)

// Choices judges how often a rule names the fastest of three boards for a model that was
// measured on none of them.
type Choices struct {
	Boards    string          `json:"boards"`
	Fleets    int             `json:"fleets"` // triples of boards
	Decisions int             `json:"decisions"`
	Rules     map[string]Rule `json:"rules"`
}

// Rule holds the score of a rule that chooses boards.
type Rule struct {
	Fastest float64 `json:"fastest"` // share of decisions with the fastest board, 0 to 1
	Regret  float64 `json:"regret"`  // mean excess of the chosen board's time over the shortest
}

// The rules that are compared, together with [NearestRun].
const (
	ByPrediction = "prediction"
	// BestConstant always takes the board of a triple that is fastest for most of these very
	// models: no rule that ignores the model chooses the fastest more often.
	BestConstant = "best_constant"
)

// alike is the greatest ratio of the mean times of boards of like speed.
const alike = 2

// judgeChoices compares rules on all triples of boards, and on those of like speed.
func judgeChoices(t *Table, all []outcome) []Choices {
	boards := t.boards(all)
	every := Choices{Boards: "any three", Rules: map[string]Rule{}}
	like := Choices{Boards: "of like speed", Rules: map[string]Rule{}}
	for i := range boards {
		for k := range i {
			for l := range k {
				decisions, ratio := decide(boards[i], boards[k], boards[l])
				every.add(decisions)
				if ratio < alike {
					like.add(decisions)
				}
			}
		}
	}
	return slices.DeleteFunc([]Choices{every.mean(), like.mean()}, func(c Choices) bool { return c.Decisions == 0 })
}

// boards returns the outcomes of each board, in the order of models, in the configuration with
// most of them, and of these in that with most threads.
func (t *Table) boards(all []outcome) [][]outcome {
	byConfig := make([][]outcome, len(t.Configs))
	for _, x := range all {
		if !math.IsNaN(x.nearest) {
			byConfig[x.config] = append(byConfig[x.config], x)
		}
	}
	chosen := map[string]int{}
	for i, c := range t.Configs {
		other, ok := chosen[c.Board]
		if !ok || cmp.Or(cmp.Compare(len(byConfig[i]), len(byConfig[other])), cmp.Compare(c.Threads, t.Configs[other].Threads)) > 0 {
			chosen[c.Board] = i
		}
	}
	var out [][]outcome
	for i, c := range t.Configs {
		if chosen[c.Board] == i {
			out = append(out, byConfig[i])
		}
	}
	return out
}

// decide returns the outcomes of each model that all boards have, and the ratio of the slowest
// board's mean time over these models to the fastest's.
func decide(boards ...[]outcome) (decisions [][]outcome, ratio float64) {
	means := make([]float64, len(boards))
	for _, x := range boards[0] {
		decision := []outcome{x}
		for _, other := range boards[1:] {
			at, ok := slices.BinarySearchFunc(other, x.model, func(o outcome, model int) int { return cmp.Compare(o.model, model) })
			if ok {
				decision = append(decision, other[at])
			}
		}
		if len(decision) < len(boards) {
			continue
		}
		decisions = append(decisions, decision)
		for i := range decision {
			means[i] += decision[i].actual
		}
	}
	return decisions, math.Exp((slices.Max(means) - slices.Min(means)) / float64(len(decisions)))
}

// first returns the place of the board that a quantity is least for.
func first(decision []outcome, quantity func(outcome) float64) int {
	best := 0
	for i := range decision {
		if quantity(decision[i]) < quantity(decision[best]) {
			best = i
		}
	}
	return best
}

func actualLog(x outcome) float64     { return x.actual }
func nearestLog(x outcome) float64    { return x.nearest }
func predictedTime(x outcome) float64 { return x.ours.Value }

// add adds the decisions of three boards.
func (c *Choices) add(decisions [][]outcome) {
	if len(decisions) == 0 {
		return
	}
	c.Fleets++
	c.Decisions += len(decisions)
	firsts := make([]int, len(decisions[0]))
	for _, d := range decisions {
		firsts[first(d, actualLog)]++
	}
	constant := slices.Index(firsts, slices.Max(firsts))
	for _, d := range decisions {
		shortest := d[first(d, actualLog)].actual
		for name, chosen := range map[string]int{ByPrediction: first(d, predictedTime), NearestRun: first(d, nearestLog), BestConstant: constant} {
			rule := c.Rules[name]
			regret := math.Exp(d[chosen].actual-shortest) - 1
			if regret == 0 {
				rule.Fastest++
			}
			rule.Regret += regret
			c.Rules[name] = rule
		}
	}
}

// mean turns sums into means.
func (c Choices) mean() Choices {
	for name, rule := range c.Rules {
		c.Rules[name] = Rule{rule.Fastest / float64(c.Decisions), rule.Regret / float64(c.Decisions)}
	}
	return c
}
