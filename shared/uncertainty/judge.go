package uncertainty

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Case is a prediction with its outcome. Cases of one block overlap or repeat each
// other and count as one unit; a case without a block is a unit of its own.
type Case struct {
	Prediction
	Actual float64
	Block  string
}

// Verdict summarises a predictor's coverage, each figure with the 95 % interval of
// a bootstrap over blocks. Widths and scores are means over the cases with both
// ends known.
type Verdict struct {
	Level       float64    `json:"level"` // promised
	Cases       int        `json:"cases"`
	Blocks      int        `json:"blocks"`
	Unbounded   int        `json:"unbounded_cases"` // without one end or both
	Coverage    Prediction `json:"coverage"`        // fraction of all cases that contained the outcome
	MeanWidth   Prediction `json:"mean_width"`
	MedianWidth Prediction `json:"median_width"`
	Score       Prediction `json:"interval_score"` // mean of [Prediction.Score]
}

// Judge compares cases with their promised level. At least two blocks and a bounded
// case are needed. The error wraps [ErrTooFew], [ErrValue] for a case that is not
// finite, or [ErrLevel] for one that promised another level.
func Judge(level float64, cases []Case) (Verdict, error) {
	if err := checkLevel(level); err != nil {
		return Verdict{}, err
	}
	t, err := tallyCases(level, cases)
	if err != nil {
		return Verdict{}, err
	}
	v := Verdict{Level: level, Cases: len(cases), Blocks: len(t.blocks), Unbounded: len(cases) - len(t.widths)}
	for f, to := range map[int]*Prediction{coverage: &v.Coverage, meanWidth: &v.MeanWidth, medianWidth: &v.MedianWidth, score: &v.Score} {
		if *to, err = percentiles(t.whole[f], t.replicates[f], 0.95); err != nil {
			return Verdict{}, fmt.Errorf("%d blocks: %w", len(t.blocks), err)
		}
	}
	return v, nil
}

// The figures of a verdict.
const (
	coverage = iota
	meanWidth
	medianWidth
	score
	figures
)

// tally holds what a block adds to each figure, and all widths in order.
type tally struct {
	blocks     []sums
	widths     []width
	whole      [figures]float64
	replicates [figures][]float64
}

type sums struct{ cases, covered, bounded, width, score float64 }

type width struct {
	value float64
	block int
}

func tallyCases(level float64, cases []Case) (*tally, error) {
	t := &tally{}
	at := make(map[string]int)
	for i, c := range cases {
		if err := c.check(level); err != nil {
			return nil, fmt.Errorf("case %d: %w", i, err)
		}
		block, seen := at[c.Block]
		if !seen || c.Block == "" {
			block = len(t.blocks)
			at[c.Block], t.blocks = block, append(t.blocks, sums{})
		}
		t.add(block, level, c)
	}
	if len(t.blocks) < 2 || len(t.widths) == 0 {
		return nil, fmt.Errorf("%w: have %d blocks and %d bounded cases, need 2 and 1", ErrTooFew, len(t.blocks), len(t.widths))
	}
	slices.SortFunc(t.widths, func(a, b width) int { return cmp.Compare(a.value, b.value) })
	t.resample()
	return t, nil
}

func (c Case) check(level float64) error {
	if !finite(c.Actual) || !finite(c.Value) || !(c.Low <= c.High) {
		return fmt.Errorf("%w: %v in [%v, %v], actual %v", ErrValue, c.Value, c.Low, c.High, c.Actual)
	}
	if c.Level != 0 && !(c.Level-level < slack && level-c.Level < slack) {
		return fmt.Errorf("%w: it promised %v and is judged by %v", ErrLevel, c.Level, level)
	}
	return nil
}

func (t *tally) add(block int, level float64, c Case) {
	s := &t.blocks[block]
	s.cases++
	if c.Contains(c.Actual) {
		s.covered++
	}
	if !c.IsBounded() {
		return
	}
	c.Level = level
	s.bounded++
	s.width += c.Width()
	s.score += c.Score(c.Actual)
	t.widths = append(t.widths, width{c.Width(), block})
}

// resample computes the figures of the original blocks and of 1000 draws.
func (t *tally) resample() {
	times := make([]float64, len(t.blocks))
	for i := range times {
		times[i] = 1
	}
	t.whole = t.figures(times)
	rng := random(0)
	for range 1000 {
		t.draw(rng, times)
		for f, v := range t.figures(times) {
			t.replicates[f] = append(t.replicates[f], v)
		}
	}
}

// draw sets the number of times that each block is drawn. At least one drawn block
// has a bounded case: the mean of no widths is undefined.
func (t *tally) draw(rng *rand.Rand, times []float64) {
	for bounded := false; !bounded; {
		clear(times)
		for range times {
			b := rng.IntN(len(times))
			times[b]++
			bounded = bounded || t.blocks[b].bounded > 0
		}
	}
}

// figures returns the figures of blocks with the given multiplicities.
func (t *tally) figures(times []float64) (f [figures]float64) {
	var all sums
	for i, n := range times {
		s := t.blocks[i]
		all.cases += n * s.cases
		all.covered += n * s.covered
		all.bounded += n * s.bounded
		all.width += n * s.width
		all.score += n * s.score
	}
	f[coverage] = all.covered / all.cases
	f[meanWidth], f[score] = all.width/all.bounded, all.score/all.bounded
	f[medianWidth] = t.median(times, all.bounded)
	return f
}

// median returns the mean of the widths at and just above the middle.
func (t *tally) median(times []float64, total float64) float64 {
	at, seen := math.NaN(), 0.0
	for _, w := range t.widths {
		if times[w.block] == 0 {
			continue
		}
		seen += times[w.block]
		if math.IsNaN(at) && seen >= total/2 {
			at = w.value
		}
		if seen > total/2 {
			return (at + w.value) / 2
		}
	}
	return at
}
