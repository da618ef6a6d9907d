package perfmodel

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/foretime/foretime/chamtool/internal/interval"
	"github.com/foretime/foretime/chamtool/internal/mixture"
)

// agree reports whether two numbers are equal to 12 digits.
func agree(a, b float64) bool {
	return a == b || math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) <= 1e-12*max(math.Abs(a), math.Abs(b))
}

var nan = math.NaN()

// TestDisputedAnswers wants the second mixture for answers that differ by more than a factor of e.
func TestDisputedAnswers(t *testing.T) {
	for _, tt := range []struct {
		answers mixture.Answers
		want    int
	}{
		{mixture.Answers{0, 1, 0.5, 0.25}, usual}, {mixture.Answers{0, 1.001, 0.5, 0.25}, disputed}, {mixture.Answers{nan, -2, -3, nan}, usual},
		{mixture.Answers{-3.001, nan, nan, -2}, disputed}, {mixture.Answers{nan, nan, nan, nan}, usual}, {mixture.Answers{5, nan, nan, nan}, usual},
	} {
		if got := mixtureIndex(&tt.answers); got != tt.want {
			t.Errorf("%v: %d, want %d", tt.answers, got, tt.want)
		}
	}
}

// TestClamp limits answers to a tenth of the shortest and ten times the longest run.
func TestClamp(t *testing.T) {
	e := New(Auto).Entry("f")
	e.learn(e.Footprint(nil), Moment{}, 2, math.Log(2))
	e.learn(e.Footprint(nil), Moment{}, 8, math.Log(8))
	e.learn(e.Footprint(nil), Moment{}, 4, math.Log(4))
	for seconds, want := range map[float64]float64{0.2: 0.2, 0.19: 0.2, 0.21: 0.21, 80: 80, 81: 80, 79: 79, 1: 1} {
		if got := math.Exp(e.clamp(math.Log(seconds))); !agree(got, want) {
			t.Errorf("%v s: %v, want %v", seconds, got, want)
		}
	}
	if !math.IsNaN(e.clamp(nan)) {
		t.Error("an expert that sleeps answers")
	}
}

// TestFeatures adds up the sizes from the sixth on, and counts negative ones as 0.
func TestFeatures(t *testing.T) {
	for _, tt := range []struct {
		sizes []int64
		want  []float64 // before the logarithm of 1 + x
	}{
		{nil, nil}, {[]int64{7}, []float64{7}}, {[]int64{1, 2, 3, 4, 5, 6}, []float64{1, 2, 3, 4, 5, 6}},
		{[]int64{1, 2, 3, 4, 5, 6, 7, 8}, []float64{1, 2, 3, 4, 5, 21}}, {[]int64{-3, 0, 2}, []float64{0, 0, 2}}, {[]int64{1, 1, 1, 1, 1, -6, 7}, []float64{1, 1, 1, 1, 1, 7}},
	} {
		got := features(tt.sizes)
		if len(got) != len(tt.want) {
			t.Fatalf("%v: %v", tt.sizes, got)
		}
		for i, x := range tt.want {
			if !agree(got[i], math.Log1p(x)) {
				t.Errorf("%v: feature %d is %v, want log(1 + %v)", tt.sizes, i, got[i], x)
			}
		}
	}
}

// TestNumbersOfTheLast31 compares the sorted numbers and their middle with those of the last 31.
func TestNumbersOfTheLast31(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var n numbers
	var all []float32
	for i := range 300 {
		x := float32(r.IntN(9)) + float32(i%2)
		n.add(x)
		all = append(all, x)
		if i == 200 {
			n.keep(7)
			all = all[len(all)-7:]
		}
		last := all[max(0, len(all)-31):]
		sorted := slices.Sorted(slices.Values(last))
		k := len(sorted)
		if !slices.Equal(n.order, last) || !slices.Equal(n.sorted, sorted) || n.middle() != float64(sorted[(k-1)/2]+sorted[k/2])/2 {
			t.Fatalf("after %d: %v, middle %v, want %v", i+1, n.sorted, n.middle(), sorted)
		}
	}
}

// TestLevelOfThree wants the last number until there are three, then the median of the last three.
func TestLevelOfThree(t *testing.T) {
	var l level
	if l.value() != 0 {
		t.Errorf("%v of none", l.value())
	}
	in := []float64{5, 1, 3, 9, 2, 7, 7, -1, 4}
	for i, x := range in {
		l.add(x)
		want := x
		if i >= 2 {
			want = slices.Sorted(slices.Values(in[i-2 : i+1]))[1]
		}
		if l.value() != want {
			t.Errorf("after %v: %v, want %v", in[:i+1], l.value(), want)
		}
	}
}

// TestTrackedSteps compares a stream with the stated rule: the median of 31 runs, then steps of a
// tenth of the spread, which itself moves by a twentieth.
func TestTrackedSteps(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	var m tracked
	var first []float64
	value, spread := 0.0, 0.0
	for i := range 400 {
		seconds := float64(float32(math.Exp(0.3 * r.NormFloat64())))
		if i > 200 {
			seconds = float64(float32(math.Exp(float64(i%9) - 4)))
		}
		m.add(seconds)
		if i < 31 {
			first = append(first, seconds)
			sorted := slices.Sorted(slices.Values(first))
			k := len(sorted)
			value = float64(float32(sorted[(k-1)/2])+float32(sorted[k/2])) / 2
		} else {
			off := seconds/value - 1
			if !(math.Abs(off) <= spread) {
				spread *= 1.05
			} else {
				spread *= 0.95
			}
			step := min(0.1*spread, 0.5) * value / seconds
			if off > 0 {
				value *= 1 + min(step, off)
			} else {
				value /= 1 + min(step, -off)
			}
		}
		if i == 30 {
			away := make([]float64, 31)
			for k, x := range first {
				away[k] = math.Abs(x/value - 1)
			}
			slices.Sort(away)
			spread = away[15]
		}
		if !agree(m.value, value) || !agree(m.spread, spread) {
			t.Fatalf("after %d: value %v, spread %v, want %v and %v", i+1, m.value, m.spread, value, spread)
		}
	}
	var equal tracked
	for range 40 {
		equal.add(3)
	}
	if equal.value != 3 || equal.spread != interval.LeastShare {
		t.Errorf("value %v, spread %v of equal runs", equal.value, equal.spread)
	}
	wide := tracked{value: 1, spread: 20}
	if wide.add(4); !agree(wide.value, 1+0.5/4) {
		t.Errorf("value %v after the largest step", wide.value)
	}
}

// TestSpeedOfWorkers follows process and workers by their deviations, and a core's frequency by its
// logarithm from 3 % on.
func TestSpeedOfWorkers(t *testing.T) {
	var s speed
	for _, m := range []Moment{{}, {Worker: -1}, {Worker: 513}} {
		if s.worker(m) != nil {
			t.Errorf("%+v: a worker", m)
		}
	}
	s.learn(Moment{}, 0.5)
	if s.current(Moment{}) != 0.5 || s.current(Moment{Worker: 513}) != 0.5 {
		t.Errorf("process at %v", s.current(Moment{}))
	}
	s.learn(Moment{Worker: 2, MHz: 1000}, 1) // the process: median of 0.5 and 1; the worker: 1 - 0.75
	if len(s.workers) != 2 || s.process.middle != 0.75 || s.workers[1].middle != 0.25 || s.workers[1].clock != 1000 {
		t.Fatalf("%+v", s)
	}
	for mhz, want := range map[float64]float64{0: 1, 1000: 1, 1030: 1, 1031: 1 - math.Log(1.031), 971: 1, 970: 1 - math.Log(0.97), 2000: 1 - math.Ln2} {
		if got := s.current(Moment{Worker: 2, MHz: mhz}); !agree(got, want) {
			t.Errorf("at %v MHz: %v, want %v", mhz, got, want)
		}
	}
	if s.current(Moment{Worker: 1}) != 0.75 || s.worker(Moment{Worker: 512}) == nil || len(s.workers) != 512 {
		t.Errorf("%d workers", len(s.workers))
	}
	s.learn(Moment{Worker: 2, MHz: 2000}, 0) // twice as fast: the worker's numbers are taken again for it
	w := &s.workers[1]
	wantShifted := 0.25 - math.Ln2
	if w.clock != 2000 || !(math.Abs(float64(w.order[0])-wantShifted) <= 1e-7) || len(w.order) != 2 {
		t.Errorf("%+v", w)
	}
	s.learn(Moment{Worker: 1}, 0)
	if s.workers[0].clock != 0 {
		t.Errorf("clock %v of a frequency that is not known", s.workers[0].clock)
	}
	s.learn(Moment{Worker: 1, MHz: 500}, 0)
	if s.workers[0].clock != 500 {
		t.Errorf("clock %v", s.workers[0].clock)
	}
}

// TestSevenOnOneSide drops what was before seven numbers on one side of the middle.
func TestSevenOnOneSide(t *testing.T) {
	for _, sign := range []float64{1, -1} {
		var m movingMedian
		for range 20 {
			m.add(0)
		}
		for i := range 6 {
			m.add(sign * float64(10+i))
		}
		if m.middle != 0 || len(m.order) != 26 || m.sameSide != 6*int(sign) {
			t.Fatalf("after six: %+v", m)
		}
		if m.add(sign * 16); m.middle != sign*13 || len(m.order) != 7 || m.sameSide != 0 {
			t.Errorf("after seven: %+v", m)
		}
		var broken movingMedian
		for range 20 {
			broken.add(0)
		}
		for i := range 12 {
			if i == 6 {
				broken.add(0)
			}
			broken.add(sign * 10)
		}
		if broken.middle != 0 || broken.sameSide != 6*int(sign) {
			t.Errorf("six, one at the middle, and six: %+v", broken)
		}
		if broken.add(-sign * 5); broken.sameSide != -int(sign) {
			t.Errorf("one on the other side: %+v", broken)
		}
	}
}

// TestCreationsAreOrdered keeps the last 64 to 128 runs by their creation.
func TestCreationsAreOrdered(t *testing.T) {
	var c creations
	if !math.IsNaN(c.next(5)) {
		t.Error("an answer of none")
	}
	c.add(0, 9) // not known when
	for i := range uint64(128) {
		c.add(1000+10*(i^1), float64(i^1)) // pairs the wrong way round
	}
	if len(c) != 128 || !slices.IsSortedFunc(c, func(a, b neighbour) int { return cmp.Compare(a.created, b.created) }) {
		t.Fatalf("%d creations: %v", len(c), c)
	}
	c.add(5000, 200)
	if len(c) != 65 || c[0].created != 1640 || c[64].y != 200 {
		t.Errorf("%d creations from %v", len(c), c[0])
	}
	for created, want := range map[uint64]float64{1: 64, 1640: 64, 1644: 64, 1645: 64, 1646: 65, 1650: 65, 5000: 200, 9000: 200, 3634: 127, 3636: 200} {
		if got := c.next(created); got != want {
			t.Errorf("created at %d: %v, want %v", created, got, want)
		}
	}
	if !math.IsNaN(c.next(0)) {
		t.Error("an answer for a creation that is not known")
	}
}

// sampleOf returns a run of given features.
func sampleOf(y float64, x ...float64) sample { return sample{y: y, f: &Footprint{x: x}} }

// TestPowerLawByHand compares with ridge regression in closed form: the prior adds the variance of
// the targets over 4, the square of the usual exponent, and a billionth.
func TestPowerLawByHand(t *testing.T) {
	x, y := []float64{1, 2, 3, 5, 8}, []float64{2, 2.5, 4, 4.5, 9}
	var samples []sample
	for i := range x {
		samples = append(samples, sampleOf(y[i], x[i]))
	}
	plain := func(*sample) bool { return true }
	for _, deviation := range []float64{0, 0.7} {
		l, n := fitPower(samples, 1, deviation, plain)
		mx, my := 19.0/5, 22.0/5
		sxx, sxy, syy := 0.0, 0.0, 0.0
		for i := range x {
			sxx += (x[i] - mx) * (x[i] - mx)
			sxy += (x[i] - mx) * (y[i] - my)
			syy += (y[i] - my) * (y[i] - my)
		}
		variance := syy / 5
		if deviation > 0 {
			variance = 0.49
		}
		b := sxy / (sxx + variance/4 + 1e-9)
		if n != 5 || l.fixed || !agree(l.b[0], b) || !agree(l.log([]float64{4}), my+b*(4-mx)) || !agree(l.log(nil), my-b*mx) {
			t.Errorf("deviation %v: %+v, want an exponent of %v", deviation, l, b)
		}
	}
	if l, n := fitPower(samples, 1, 1, func(s *sample) bool { return s.y < 4 }); n != 2 || l.intercept != 2.25 || l.mean[0] != 1.5 {
		t.Errorf("%d samples, %+v", n, l)
	}
}

// TestPowerLawNeedsSpread fits no exponent to a size whose logarithm has a standard deviation of
// 0.025 or less.
func TestPowerLawNeedsSpread(t *testing.T) {
	for spread, fixed := range map[float64]bool{0.0249: true, 0.0251: false, -0.0251: false} {
		var samples []sample
		for i := range 20 {
			side := float64(i%2*2 - 1)
			samples = append(samples, sampleOf(side, 3+side*spread, 5, side))
		}
		one := samples[:0:0]
		for _, s := range samples {
			one = append(one, sampleOf(s.y, s.f.x[0]))
		}
		if l, _ := fitPower(one, 1, 0, func(*sample) bool { return true }); l.fixed != fixed || (l.b[0] == 0) != fixed {
			t.Errorf("spread %v: %+v", spread, l)
		}
		if l, _ := fitPower(samples, 3, 0, func(*sample) bool { return true }); l.fixed || l.b[1] != 0 || l.b[2] == 0 || (l.b[0] == 0) != fixed {
			t.Errorf("spread %v: %+v of three sizes", spread, l)
		}
	}
}

// TestRobustFitDropsOutliers leaves out runs that are more than three deviations from the middle,
// unless that would leave less than half of them.
func TestRobustFitDropsOutliers(t *testing.T) {
	var samples []sample
	for i := range 21 {
		samples = append(samples, sampleOf(float64(i%3-1)))
	}
	deviation := 1.4826 // of -1, 0 and 1: the median distance is 1
	for off, dropped := range map[float64]bool{3*deviation - 0.001: false, 3*deviation + 0.001: true, -3*deviation + 0.001: false, -3*deviation - 0.001: true} {
		l := fitRobust(append(slices.Clone(samples), sampleOf(off)), 0)
		want := off / 22
		if dropped {
			want = 0
		}
		if !(math.Abs(l.intercept-want) <= 1e-12) {
			t.Errorf("a run at %v: middle %v, want %v", off, l.intercept, want)
		}
	}
	for equal, want := range map[int]float64{150: 0, 80: (299*150 - 79*80) / 300.0} { // every other run is looked at
		var alike []sample
		for i := range 300 {
			y := float64(i)
			if i%2 == 0 && i < 2*equal {
				y = 0
			}
			alike = append(alike, sampleOf(y))
		}
		if l := fitRobust(alike, 0); !agree(l.intercept, want) {
			t.Errorf("%d of 300 are alike: middle %v, want %v", equal, l.intercept, want)
		}
	}
}

// TestLocalLawKnots wants knots at the middles of stretches of seven, half a stretch apart.
func TestLocalLawKnots(t *testing.T) {
	var runs []place
	for i := range 20 {
		runs = append(runs, place{at: float64(i), off: float64(i * i), order: i})
	}
	r := rand.New(rand.NewPCG(3, 3))
	r.Shuffle(20, func(i, j int) { runs[i], runs[j] = runs[j], runs[i] })
	var l localLaw
	l.fit(runs)
	// Stretches from 0, 3, 6 and 9 of seven; from 12 on what is left, eight. 0.45 of seven is the fourth.
	if want := []float64{3, 6, 9, 12, 16}; !slices.Equal(l.at, want) {
		t.Errorf("knots at %v, want %v", l.at, want)
	}
	if want := []float64{9, 36, 81, 144, 225}; !slices.Equal(l.off, want) {
		t.Errorf("offsets %v, want %v", l.off, want)
	}
	for n, want := range map[int]int{1: 1, 6: 1, 7: 1, 9: 1, 10: 2, 12: 2, 13: 3, 160: 39} {
		var some []place
		for i := range n {
			some = append(some, place{at: float64(i), order: i})
		}
		var l localLaw
		if l.fit(some); len(l.at) != want {
			t.Errorf("%d runs: %d knots, want %d", n, len(l.at), want)
		}
	}
}

// TestAxisMustBeClearlyNearer chooses the law along one size if the runs lie nearer to it by a fifth.
func TestAxisMustBeClearlyNearer(t *testing.T) {
	law := localLaw{axis: 2}
	if law.place([]float64{3, 4}, 9) != 4 || (&localLaw{}).place([]float64{3, 4}, 9) != 9 || law.place([]float64{3}, 9) != 0 {
		t.Error("the places along an axis")
	}
	// Ten runs of each of four sizes. At two of them both sizes together are equal, and the runs are
	// 1 and q away: the law along both misses 1 - q of them, that along the first one misses 1.
	for q, want := range map[float64]int{-0.25: 1, -0.15: 0} {
		var samples []sample
		for i := range 40 {
			a, b := i/10/2, i/10%2
			y := [2][2]float64{{0, 1}, {q, q}}[a][b]
			samples = append(samples, sample{f: &Footprint{x: []float64{float64(a), float64(b)}}, y: y, order: i})
		}
		power := powerLaw{mean: []float64{0, 0}, b: []float64{1e-9, 1e-9}}
		for given, axis := range map[int]int{-1: want, 0: 0, 1: 1, 2: 2} {
			if best, _ := fitAxis(samples, &power, given, nil); best.axis != axis {
				t.Errorf("%v, given axis %d: %d, want %d", q, given, best.axis, axis)
			}
		}
		power.b[0] = 0
		if best, _ := fitAxis(samples, &power, -1, nil); best.axis == 1 {
			t.Error("an axis of a size that does not vary")
		}
	}
}

// TestRareFootprints drops the least frequent half of 8192.
func TestRareFootprints(t *testing.T) {
	for _, tt := range []struct{ twice, left int }{{4096, 4097}, {4097, 1}, {100, 101}} {
		e := New(Auto).Entry("f")
		for i := range 8192 {
			f := e.Footprint([]int64{int64(i)})
			f.runs = 1
			if i < tt.twice {
				f.passed = 1
			}
		}
		if e.Footprint([]int64{0}); len(e.footprints) != 8192 {
			t.Fatalf("%d footprints", len(e.footprints))
		}
		if e.Footprint([]int64{9000}); len(e.footprints) != tt.left {
			t.Errorf("%d ran twice: %d left, want %d", tt.twice, len(e.footprints), tt.left)
		}
	}
}

// TestSaturation passes over runs of 3.2 ms and less once 2048 runs, 31 of these sizes, are known.
func TestSaturation(t *testing.T) {
	for _, tt := range []struct {
		learned, runs int
		last          float64
		want          bool
	}{
		{2048, 31, 3.19e-3, true}, {2047, 31, 3.19e-3, false}, {2048, 30, 3.19e-3, false}, {2048, 31, 3.21e-3, false},
	} {
		e := New(Auto).Entry("f")
		e.learned = tt.learned
		f := &Footprint{history: history{runs: tt.runs, last: tt.last}}
		if got := e.isSaturated(f); got != tt.want {
			t.Errorf("%+v: %v", tt, got)
		}
	}
	for last, want := range map[float64]int{3.2e-4: 1000, 3.2e-5: 100, 1.6e-3: 5000} { // a share of 312.5 a second
		e := New(Auto).Entry("f")
		sampled := 0
		for range 10_000 {
			if e.isSampled(&Footprint{history: history{last: last}}) {
				sampled++
			}
		}
		if sampled < want-3 || sampled > want+3 {
			t.Errorf("runs of %v s: %d of 10,000 sampled, want %d", last, sampled, want)
		}
	}
}

// TestReadiness wants ten runs of any entry for sizes that ran, and a fit for those that did not.
func TestReadiness(t *testing.T) {
	m := New(Auto)
	a, b := m.Entry("a"), m.Entry("b")
	fa, fb, other := a.Footprint([]int64{1}), b.Footprint([]int64{1}), b.Footprint([]int64{2})
	b.Observe(fb, 1)
	for n := 1; n <= 10; n++ {
		if b.IsReady(fb) != (n >= 10) || b.IsReady(other) {
			t.Errorf("after %d runs of all: %v and %v", n, b.IsReady(fb), b.IsReady(other))
		}
		if n < 10 {
			a.Observe(fa, 1)
		}
	}
	if !a.IsReady(fa) || a.fits != 0 {
		t.Errorf("%d fits of nine runs", a.fits)
	}
	a.Hold(true)
	if a.IsReady(fa) {
		t.Error("ready though held")
	}
	a.Observe(fa, 1)
	if a.fits != 0 {
		t.Error("fitted though held")
	}
	if a.Hold(false); a.fits != 1 || !a.IsReady(a.Footprint([]int64{5})) {
		t.Errorf("%d fits after ten runs", a.fits)
	}
	if a.Hold(false); a.fits != 1 {
		t.Errorf("%d fits", a.fits)
	}
	c := m.Entry("c")
	c.Hold(true)
	for range 9 {
		c.Observe(c.Footprint(nil), 1)
	}
	if c.Hold(false); c.fits != 0 {
		t.Error("fitted to nine runs")
	}
	if c.Fit(); c.fits != 1 {
		t.Error("not fitted")
	}
	d := m.Entry("d")
	if d.Fit(); d.fits != 0 {
		t.Error("fitted to nothing")
	}
}

// TestFitsGrowApart fits again after a quarter of the runs, at least 8 and at most 2048.
func TestFitsGrowApart(t *testing.T) {
	for learned, want := range map[int]int{10: 18, 32: 40, 35: 43, 36: 45, 400: 500, 8192: 10240, 8200: 10248, 100000: 102048} {
		e := New(Auto).Entry("f")
		e.Observe(e.Footprint(nil), 1)
		e.learned = learned
		if e.Fit(); e.nextFit != want {
			t.Errorf("after %d runs: next at %d, want %d", learned, e.nextFit, want)
		}
	}
}

// TestAxisIsSearchedAgain looks for a better axis at each of 32 fits and at every eighth after them.
func TestAxisIsSearchedAgain(t *testing.T) {
	e := New(Auto).Entry("f")
	for i := range 200 {
		a, b := int64(100*(1+i%7)), int64(1000*(1+i%29))
		e.learn(e.Footprint([]int64{a, b, 5}), Moment{}, 1, 10*math.Mod(float64(3*(i%7)), 7))
	}
	for fit := 1; fit <= 50; fit++ {
		e.local.axis = 0
		e.Fit()
		searched := fit <= 32 || fit%8 == 0
		if (e.local.axis == 1) != searched {
			t.Errorf("fit %d: axis %d", fit, e.local.axis)
		}
	}
	for e.fits = 32; e.fits < 36; { // along a size that does not vary, it is searched again
		e.local.axis = 3
		if e.Fit(); e.local.axis != 1 {
			t.Errorf("fit %d: axis %d", e.fits, e.local.axis)
		}
	}
}

// TestSharedPredictionIsRenewed keeps an answer until a fit, a run of these sizes, seven of any, or
// 31 that were passed over.
func TestSharedPredictionIsRenewed(t *testing.T) {
	e := New(Auto).Entry("f")
	f := e.Footprint([]int64{1})
	for range 20 {
		e.Observe(f, 1)
	}
	e.model.learned = 70
	p := e.PredictShared(f)
	for _, tt := range []struct {
		name   string
		change func()
		renews bool
	}{
		{"nothing", func() {}, false}, {"six runs of others", func() { e.model.learned = 76 }, false}, {"seven", func() { e.model.learned = 77 }, true},
		{"30 passed", func() { f.passed = 30 }, false}, {"31 passed", func() { f.passed = 31 }, true}, {"a fit", e.Fit, true},
		{"a run", func() { f.learn(Moment{}, 1, 0, 0) }, true},
	} {
		tt.change()
		next := e.PredictShared(f)
		if (next != p) != tt.renews {
			t.Errorf("%s: renewed %v", tt.name, next != p)
		}
		p = next
	}
}

// TestDeepRecursionHasNoInterval bounds runs at most while 64 for each worker are under way.
func TestDeepRecursionHasNoInterval(t *testing.T) {
	e := New(Auto).Entry("f")
	f := e.Footprint(nil)
	for range 1000 {
		e.Observe(f, 1)
	}
	for _, tt := range []struct{ workers, running, runs int }{{0, 64, 1000}, {1, 64, 1000}, {2, 128, 1000}, {2, 100, 100}} {
		e.model.speed.workers = make([]worker, tt.workers)
		e.runs = tt.runs
		e.running = tt.running
		if p := e.intervalOf(f, 1); !p.IsBounded() {
			t.Errorf("%+v: %+v", tt, p)
		}
		e.running++
		if p := e.intervalOf(f, 1); p.IsBounded() {
			t.Errorf("%+v, one more: %+v", tt, p)
		}
	}
	e.running = 3
	e.Observe(f, 1)
	if e.running != 2 {
		t.Errorf("%d under way", e.running)
	}
	for range 5 {
		e.Observe(f, 1)
	}
	if e.running != 0 {
		t.Errorf("%d under way", e.running)
	}
}

// TestWhoseMixture uses the mixture of all entries until an entry has learned from 31 runs.
func TestWhoseMixture(t *testing.T) {
	e := New(Auto).Entry("f")
	for learned, own := range map[int]bool{0: false, 31: false, 32: true} {
		e.learned = learned
		for which := range 2 {
			want := &e.model.mixtures[which]
			if own {
				want = &e.mixtures[which]
			}
			if e.mixture(which) != want {
				t.Errorf("%d runs, mixture %d: own is not %v", learned, which, own)
			}
		}
	}
	answers := mixture.Answers{1, 2, 3, nan}
	f := e.Footprint(nil)
	for serving, want := range map[int]float64{0: 1, 1: 2, 2: 3, 3: 2, -1: 2} {
		e.model.serving = serving
		if got := e.choose(f, &answers); got != want {
			t.Errorf("expert %d serves: %v, want %v", serving, got, want)
		}
	}
}

// TestWhoseEnds uses the ends of all entries, then of one, then of one footprint, as they have
// seen enough; those that are settled keep their errors from the ones above.
func TestWhoseEnds(t *testing.T) {
	e := New(Auto).Entry("f")
	f := e.Footprint(nil)
	for n := range 120 {
		want := &e.model.ends
		if n >= 19 {
			want = &e.ends
		}
		if n >= 57 {
			want = &f.ends
		}
		if e.endsOf(f) != want {
			t.Errorf("after %d errors: other ends", n)
		}
		e.observeEnds(f, 1, 2)
	}
	if e.ends != ends56() || e.model.ends != ends56() {
		t.Error("the ends of the entry learned from settled ones")
	}
}

// ends56 returns ends after 56 errors by a factor of two.
func ends56() (e interval.Ends) {
	for range 56 {
		e.Observe(1, 2)
	}
	return e
}

// TestTrialOfKeptRuns drops kept runs if the median of seven misses is above 0.4 and above three
// times the usual miss.
func TestTrialOfKeptRuns(t *testing.T) {
	for _, tt := range []struct {
		usual, miss float64
		dropped     bool
	}{{0, 0.399, false}, {0, 0.401, true}, {0.1, 0.401, true}, {0.2, 0.599, false}, {0.2, 0.601, true}} {
		e := New(Auto).Entry("f")
		f := e.Footprint(nil)
		for i := range 50 {
			e.learn(f, Moment{}, 1, tt.usual*float64(i%2*2-1))
		}
		e.Fit()
		f.locate(e.fits, &e.power, &e.local)
		low := f.local // the quantile: the lower of the two levels
		e.storedRuns = 50
		usual := e.usualMiss()
		for range 7 {
			if !e.isOnTrial() {
				t.Fatal("the trial is over")
			}
			e.try(&Prediction{answers: mixture.Answers{nan, low, nan, nan}}, low+tt.miss)
		}
		if e.isOnTrial() {
			t.Error("the trial goes on")
		}
		if e.HasDroppedKept() != (tt.miss > max(0.4, 3*usual)) {
			t.Errorf("%+v: dropped %v, usual miss %v", tt, e.HasDroppedKept(), usual)
		}
	}
}

// TestStoreLimits keeps the last 2048 runs of an entry, three builds of a function, for 90 days.
func TestStoreLimits(t *testing.T) {
	runs := func(n int, seconds float64) (all []StoredRun) {
		for range n {
			all = append(all, StoredRun{[]int64{1}, seconds})
		}
		return all
	}
	var s, later Store
	s.Set("f", 10, runs(2000, 1))
	later.Set("f", 5, runs(49, 2))
	s.Merge(&later)
	if got := s.Runs("f"); len(got) != 2048 || got[1998].Seconds != 1 || got[1999].Seconds != 2 || s.entries["f"].Last != 10 {
		t.Errorf("%d runs, last at %d", len(got), s.entries["f"].Last)
	}
	later.Replaces = map[string]bool{"f": true}
	if s.Merge(&later); len(s.Runs("f")) != 49 {
		t.Errorf("%d runs after others replace them", len(s.Runs("f")))
	}
	now := time.Unix(1e9, 0)
	const day = 24 * 3600
	var old Store
	for i := range 5 {
		old.Set(Key("f", "b"+strconv.Itoa(i)), 1e9-int64(i), runs(1, 1))
	}
	old.Set("in time", 1e9-90*day, runs(1, 1))
	old.Set("too old", 1e9-90*day-1, runs(1, 1))
	old.Prune(now)
	if got := old.Names(); !slices.Equal(got, []string{"f\x00b0", "f\x00b1", "f\x00b2", "in time"}) {
		t.Errorf("kept %q", got)
	}
	old.Forget(time.Unix(1e9-1, 0))
	if got := old.Names(); !slices.Equal(got, []string{"f\x00b0", "f\x00b1"}) {
		t.Errorf("kept %q", got)
	}
}

// TestListing sums kept runs up by their sizes, in order of the total size.
func TestListing(t *testing.T) {
	var s Store
	s.Set(Key("f", "b"), 100, []StoredRun{{[]int64{5, -1}, 1}, {[]int64{2, 2}, 3}, {[]int64{5, -1}, 4}, {[]int64{1, 3}, 7}})
	s.Set("g", 200, []StoredRun{{nil, 1}})
	all := s.List()
	if len(all) != 2 || all[0].Name != "f" || all[0].Build != "b" || all[0].Runs != 4 || all[0].Last != time.Unix(100, 0).UTC() || all[1].Build != "" {
		t.Fatalf("%+v", all)
	}
	want := []KeptSizes{{[]int64{1, 3}, 1, 7, 7, 7}, {[]int64{2, 2}, 1, 3, 3, 3}, {[]int64{5, -1}, 2, 1, 2.5, 4}}
	for i, w := range want {
		g := all[0].Sizes[i]
		if !slices.Equal(g.Sizes, w.Sizes) || g.Runs != w.Runs || g.Least != w.Least || g.Median != w.Median || g.Most != w.Most {
			t.Errorf("%+v, want %+v", g, w)
		}
	}
	if all[0].Sizes[2].Total() != 5 {
		t.Errorf("total %v", all[0].Sizes[2].Total())
	}
}

// TestExpertsByHand compares the four answers with those that a task's history gives by hand.
func TestExpertsByHand(t *testing.T) {
	e := New(Auto).Entry("f")
	f := e.Footprint([]int64{8})
	if a := e.answers(f, Moment{}); !math.IsNaN(a[median]) || !math.IsNaN(a[local]) || !math.IsNaN(a[near]) || !math.IsNaN(a[paced]) {
		t.Errorf("%v of no run", a)
	}
	for i, seconds := range []float64{2, 4, 8} {
		e.learn(f, Moment{Created: uint64(100 * (i + 1))}, seconds, math.Log(seconds))
	}
	// The process was slower by ln 2 at the second run and by ln 4 - its level at the third.
	now := e.model.speed.process.middle
	a := e.answers(f, Moment{Created: 290})
	if !agree(a[median], math.Log(4)) || !agree(a[near], math.Log(8)) || !agree(a[paced], f.level.value()+now) || !math.IsNaN(a[local]) {
		t.Errorf("%v", a)
	}
	e.Fit()
	other := e.Footprint([]int64{9})
	b := e.answers(other, Moment{Created: 290})
	if !math.IsNaN(b[median]) || math.IsNaN(b[local]) || !math.IsNaN(b[near]) || !agree(b[paced], other.along+now) {
		t.Errorf("%v of sizes that never ran", b)
	}
	e.learn(f, Moment{Created: 400}, 16, math.Log(16))
	along := f.along
	now = e.model.speed.process.middle
	b = e.answers(other, Moment{Created: 390})
	if !agree(b[near], other.along+math.Log(16)-along) || !agree(b[paced], other.along+math.Log(16)-along-now+now) {
		t.Errorf("%v after a run of others", b)
	}
}
