package estimate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/foretime/foretime/allox-est/internal/history"
	"github.com/foretime/foretime/allox-est/internal/jobspec"
	"github.com/foretime/foretime/allox-est/internal/journal"
)

func isNear(a, b float64) bool {
	return a == b || math.Abs(a-b) <= 1e-9*max(math.Abs(a), math.Abs(b), 1e-9)
}

// The units of a pattern are those with its remainder.
func TestPatternsByCounting(t *testing.T) {
	for period := 1; period < 6; period++ {
		for offset := range period {
			p := pattern{period: period, offset: offset}
			for from := 0.0; from < 12; from += .5 {
				for to := from; to < 14; to += .5 {
					want := 0.0
					for unit := 1; float64(unit) <= to; unit++ {
						if float64(unit) > from && unit%period == offset {
							want++
						}
					}
					if got := p.among(from, to); got != want {
						t.Fatalf("%+v after %v up to %v: %v, want %v", p, from, to, got, want)
					}
					if p.occursIn(lap{from: from, to: to}) != (want > 0) || p.expect(from, to, 9) != want {
						t.Fatalf("%+v after %v up to %v: %v expected", p, from, to, p.expect(from, to, 9))
					}
				}
			}
		}
	}
	if got := (pattern{}).expect(2, 5, .5); got != 1.5 {
		t.Errorf("at random %v, want 1.5", got)
	}
}

// Beliefs about when a cost comes are prior times agreement, over their sum.
func TestBeliefsByBayes(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	lbeta := func(a, b float64) float64 {
		x, _ := math.Lgamma(a)
		y, _ := math.Lgamma(b)
		z, _ := math.Lgamma(a + b)
		return x + y - z
	}
	for range 60 {
		n := 2 + rng.IntN(9)
		period := 2 + rng.IntN(4)
		var has, lacks []lap
		for i := range n {
			l := lap{from: float64(i), to: float64(i + 1)}
			if rng.IntN(8) > 0 && (i+1)%period == 1 || rng.IntN(20) == 0 {
				has = append(has, l)
			} else {
				lacks = append(lacks, l)
			}
		}
		if len(has) == 0 || len(lacks) == 0 {
			continue
		}
		k := float64(len(has))
		want := map[string]float64{"0 0": math.Exp(lbeta(k+.5, float64(n)-k+.5) - lbeta(.5, .5))}
		scale := 0.0
		for p := 2; p <= n; p++ {
			scale += 1 / float64(p)
		}
		for p := 2; p <= n; p++ {
			for o := range p {
				agrees := true
				for unit := 1; unit <= n; unit++ {
					isIn := slices.ContainsFunc(has, func(l lap) bool { return l.to == float64(unit) })
					agrees = agrees && isIn == (unit%p == o)
				}
				if !agrees {
					continue
				}
				w := .45 / float64(p) / scale
				if o > 1 {
					w = .1 / float64(p-2) / float64(p) / scale
				}
				want[fmt.Sprint(p, " ", o)] = w
			}
		}
		sum := 0.0
		for _, w := range want {
			sum += w
		}
		got := patterns(has, lacks)
		if len(got) != len(want) {
			t.Fatalf("%v of %d: %+v, want %v", has, n, got, want)
		}
		for i, p := range got {
			if w := want[fmt.Sprint(p.period, " ", p.offset)] / sum; !isNear(p.weight, w) || i > 0 && p.weight > got[i-1].weight {
				t.Fatalf("%v of %d: %+v, want %v", has, n, p, w)
			}
		}
	}
	if got := patterns([]lap{{0, 1, [clocks]float64{}, ""}}, nil); len(got) != 1 || got[0] != (pattern{period: 1, weight: 1}) {
		t.Errorf("always: %+v", got)
	}
	far := patterns([]lap{{from: 799, to: 800}}, []lap{{from: 0, to: 1}})
	if longest := slices.MaxFunc(far, func(a, b pattern) int { return a.period - b.period }).period; longest != 500 {
		t.Errorf("the longest period is %d, want 500", longest)
	}
}

// TestLevelsByHand checks the posterior of a level from the noise within and between runs.
func TestLevelsByHand(t *testing.T) {
	groups := [][]float64{{.1, -.1, .3}, {.2, .4}}
	// Squares 0.08 and 0.02 about means 0.1 and 0.3, of three degrees, and the prior's one.
	noise := math.Sqrt((.0025 + .08 + .02) / 4)
	between := math.Sqrt((3*.0009 + .02) / 4)
	if got := noiseWithin(groups); !isNear(got, noise) {
		t.Errorf("noise %v, want %v", got, noise)
	}
	if got := differenceBetween(groups); !isNear(got, between) {
		t.Errorf("difference %v, want %v", got, between)
	}
	l := levelOf(groups, []float64{0, .2}, false)
	a, b := noise*noise+3*between*between, noise*noise+2*(between*between+.04)
	weight := 3/a + 2/b
	if !isNear(l.mean, (.3/a+.6/b)/weight) || !isNear(l.sd, 1/math.Sqrt(weight)) || !isNear(l.noise, noise) || !isNear(l.between, between) {
		t.Errorf("%+v", l)
	}
	alone := levelOf(groups[:1], []float64{0}, true)
	if noise = math.Sqrt((.0025 + .08) / 3); alone.between != 0 || !isNear(alone.mean, .1) || !isNear(alone.sd, noise/math.Sqrt(3)) {
		t.Errorf("alone %+v", alone)
	}
	sum, squares := 0.0, 0.0
	rng := newRandom()
	const draws = 20000
	for range draws {
		x := level{noise: .6, between: .3, mean: 2, sd: .4}.draw(rng, 4)
		sum += x
		squares += (x - 2) * (x - 2)
	}
	if mean, variance := sum/draws, squares/draws; math.Abs(mean-2) > .02 || math.Abs(variance-(.16+.09+.09)) > .02 {
		t.Errorf("draws of mean %v and variance %v, want 2 and 0.34", mean, variance)
	}
}

// For runs without noise the value is set-up, units and costs, and the
// interval of set-up narrows with the number of runs.
func TestMeansOfPredictions(t *testing.T) {
	run := func() trace {
		tr := trace{length: 3}
		tr.setup = [clocks]float64{50, 50, 50}
		tr.teardown = [clocks]float64{50, 50, 50}
		for i := range 3 {
			tr.laps = append(tr.laps, lap{from: float64(i), to: float64(i + 1), seconds: [clocks]float64{1e-6, 1e-6, 1e-6}})
		}
		return tr
	}
	width := map[int]float64{}
	for _, n := range []int{1, 4} {
		var ts []trace
		for range n {
			ts = append(ts, run())
		}
		course := &course{out: make([][]bool, n)}
		for i := range course.out {
			course.out[i] = make([]bool, 3)
		}
		m := newModel(model{ts: ts, course: course, job: Job{Epochs: 10}, level: .9})
		if m.lap != 1 || m.longest != 3 || m.from() != 0 || m.to() != 10 {
			t.Errorf("%+v", m)
		}
		p, parts, totals := m.predict(wallTime, nil)
		if math.Abs(p.Value-100.00001) > 1e-6 || parts.once != 100 || parts.count != 10 || !isNear(parts.units, 1e-5) || len(totals) != draws || p.Level != .9 {
			t.Errorf("%d runs: %+v of %+v", n, p, parts)
		}
		width[n] = p.High - p.Low
	}
	// Student's t of 4 at 0.95 is 2.1318: half of 100 s, a tenth of noise, and the root of 1 + 1/n.
	for n, got := range width {
		if want := 2 * 2.1318 * 100 * .1 * math.Sqrt(1+1/float64(n)); math.Abs(got/want-1) > .06 {
			t.Errorf("%d runs: %v s wide, want %v", n, got, want)
		}
	}
}

// The drift of one run grows with its noise, and periods are round numbers
// that the longest run did not meet twice.
func TestDriftsAndPeriods(t *testing.T) {
	for noise, want := range map[float64]float64{0: .04, .02: .04 + 30*.0004, .0632: .04 + 30*.0632*.0632, .07: .16, 1: .16} {
		p := &parts{level: level{noise: noise}}
		if got := (&model{alone: true}).drift(p); !isNear(got, want) {
			t.Errorf("noise %v: drift %v, want %v", noise, got, want)
		}
		if got := (&model{}).drift(p); got != .04 {
			t.Errorf("of several runs: %v", got)
		}
	}
	for _, tt := range []struct {
		epochs  int
		longest float64
		want    []float64
	}{
		{10, 1, []float64{1, 2, 5, 10}}, {10, 2, []float64{2, 5, 10}}, {10, 6, []float64{10}}, {100, 3, []float64{5, 10, 20, 50, 100}}, {50, 15, []float64{20, 50}}, {1, 1, []float64{1}}, {12, 3, []float64{5, 10, 12}},
	} {
		m := &model{job: Job{Epochs: tt.epochs}, longest: tt.longest}
		rng := newRandom()
		seen := map[float64]bool{}
		for range 400 {
			seen[m.period(rng)] = true
		}
		if len(seen) != len(tt.want) || !slices.ContainsFunc(tt.want, func(v float64) bool { return seen[v] }) {
			t.Errorf("%d epochs, seen %v: %v, want %v", tt.epochs, tt.longest, seen, tt.want)
		}
		for _, v := range tt.want {
			if !seen[v] {
				t.Errorf("%d epochs, seen %v: no period of %v", tt.epochs, tt.longest, v)
			}
		}
	}
	m := &model{job: Job{Epochs: 9}, seen: 4, course: &course{warm: 2}}
	if m.from() != 4 {
		t.Errorf("from %v, want the units done", m.from())
	}
	if m.seen, m.course.warm = 1, 3; m.from() != 3 {
		t.Errorf("from %v, want the end of the warm-up", m.from())
	}
	if m.seen = 12; m.from() != 9 {
		t.Errorf("from %v, want the end", m.from())
	}
}

// A cost is expected at its pattern's units, or at random at its rate.
func TestCostsByHand(t *testing.T) {
	c := cost{laps: 10, patterns: []pattern{{period: 4, weight: .6}, {weight: .4}}}
	c.spent[wallTime] = []float64{3, 5}
	// Units 4 to 20 in steps of 4 after 2: five; at random 2 of 10 laps of 2 units: 0.1 of 18.
	if got, want := c.mean(wallTime, 2, 20, 2), (.6*5+.4*1.8)*4; !isNear(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := c.mean(cpuTime, 2, 20, 2); got != 0 {
		t.Errorf("on another clock %v", got)
	}
	if c.period() != 0 {
		t.Errorf("six tenths are certain")
	}
	c.patterns[0].weight = .91
	if c.period() != 4 {
		t.Error("nine tenths and more are not certain")
	}
	if text := c.warning("step").Error(); !strings.Contains(text, "every 4 steps, from 2 seen") {
		t.Errorf("%s", text)
	}
	if c.foreign = true; c.mean(wallTime, 2, 20, 2) != 0 {
		t.Error("a foreign cost is expected")
	}
}

// TestPartsByHand checks the units to come by stage, without those inside of set-up.
func TestPartsByHand(t *testing.T) {
	m := &model{job: Job{Epochs: 20, Stages: jobspec.Stages{{Name: "a", From: 0, To: 5}, {Name: "b", From: 5, To: 12}, {Name: "c", From: 12, To: 30}}}, course: &course{}}
	rates := map[string]rate{"a": {6, 3}, "b": {4, 4}, "c": {0, 0}}
	for _, tt := range []struct {
		seen, hidden, count, units float64
	}{
		{0, 0, 20, 17}, {0, 2, 18, 13}, {0, 9, 15, 7}, {3, 0, 17, 11}, {5, 0, 15, 7}, {7, 0, 13, 5}, {7, 1, 13, 5}, {19, 0, 1, 0}, {25, 0, 0, 0},
	} {
		p := &parts{}
		m.seen = tt.seen
		if m.units(p, rates, tt.hidden); p.count != tt.count || p.units != tt.units {
			t.Errorf("%+v: %v units of %v s", tt, p.count, p.units)
		}
	}
	m.job.Stages = nil
	rates[""] = rate{9, 3}
	for _, tt := range []struct{ seen, hidden, count float64 }{{0, 0, 20}, {3, 2, 15}, {19, 2, 0}} {
		p := &parts{}
		m.seen = tt.seen
		if m.units(p, rates, tt.hidden); p.count != tt.count || p.units != 3*tt.count {
			t.Errorf("%+v: %v units of %v s", tt, p.count, p.units)
		}
	}
	if (rate{5, 0}).mean() != 0 || (rate{5, -1}).mean() != 0 || (rate{5, 2}).mean() != 2.5 {
		t.Error("rates")
	}
	if !isNear(readingSD, .02/math.Sqrt(6)) {
		t.Errorf("readings %v", readingSD)
	}
	for number, want := range map[float64]string{0: "", .5: "a", 5: "a", 5.5: "b", 12: "b", 30: "c", 31: ""} {
		j := Job{Stages: jobspec.Stages{{Name: "a", From: 0, To: 5}, {Name: "b", From: 5, To: 12}, {Name: "c", From: 12, To: 30}}}
		if got := j.stage(number); got != want {
			t.Errorf("unit %v is of stage %q, want %q", number, got, want)
		}
	}
}

// The model weighs one, each past run its weight over ten quantiles.
func TestMixtures(t *testing.T) {
	p := mix([]float64{1, 2, 3, 4}, []history.Weighted{{Rest: 1000, Weight: 3}}, .5)
	// Of a weight of four a quarter is below 4; the rest are about 1000, half a width of 0.67 * 0.04 / 2.
	if p.Low != 4 || p.Value < 960 || p.Value > 1000 || p.High < 1000 || p.High > 1030 {
		t.Errorf("%+v", p)
	}
	// Each draw weighs a quarter and each quantile a tenth: below the first quantile lies one of two.
	p = mix([]float64{1, 2, 3, 4}, []history.Weighted{{Rest: 1000, Weight: 1}}, .8)
	near := func(z float64) float64 { return 1000 * math.Exp(z*.04/math.Sqrt2) }
	if p.Value != 4 || p.Low != 1 || !isNear(p.High, near(.67)) {
		t.Errorf("%+v, want up to %v", p, near(.67))
	}
	p = mix([]float64{1}, []history.Weighted{{Rest: 10, Weight: 8}, {Rest: 10, Weight: 7}}, .9)
	if want := 10 * math.Exp(1.64*.04/4); !isNear(p.High, want) {
		t.Errorf("up to %v, want %v", p.High, want)
	}
}

// The wait in which a job was ready counts, among its threads.
func TestWaitsByHand(t *testing.T) {
	for _, tt := range []struct {
		run             journal.Run
		wall, cpu, wait float64
		want            float64
	}{
		{journal.Run{}, 10, 5, 0, 10}, {journal.Run{}, 0, 5, 1, 0}, {journal.Run{}, 10, 8, 2, 8}, {journal.Run{}, 10, 4, 4, 10 - .8*4}, {journal.Run{}, 10, 15, 5, 10 - 5./2}, {journal.Run{}, 10, 1, 9, 10 - .9*8},
		{journal.Run{Load: 20, CPUs: 2}, 100, 1, 99, 100 - .21*20}, {journal.Run{Load: 20}, 100, 1, 99, 100 - .41*40}, {journal.Run{Load: 3, CPUs: 2}, 100, 1, 99, 100 - .09*8},
		{journal.Run{Device: "cpu", Threads: 1}, 10, 9, 5, 9}, {journal.Run{Device: "cpu", Threads: 2}, 10, 9, 5, 10 - 5/1.4}, {journal.Run{Device: "cpu", Threads: 4, CPUs: 1}, 10, 9, 5, 9}, {journal.Run{Device: "cpu", Threads: 4, Parallel: 1}, 10, 9, 5, 9}, {journal.Run{Device: "cpu", Threads: 1}, 10, 12, 5, 10}, {journal.Run{Device: "gpu", Threads: 1}, 10, 9, 5, 10 - 5/1.4},
	} {
		if got := withoutWait(tt.run, tt.wall, tt.cpu, tt.wait); !isNear(got, tt.want) {
			t.Errorf("%+v: %v s, want %v", tt, got, tt.want)
		}
	}
}
