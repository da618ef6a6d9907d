package perfmodel

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// law is a time that grows as a power of a size, with relative noise.
func truth(r *rand.Rand, size int64, noise float64) float64 {
	return 1e-9 * math.Pow(float64(size), 1.5) * math.Exp(noise*r.NormFloat64())
}

func TestUntrained(t *testing.T) {
	e := New(Auto).Entry("f")
	fp := e.Footprint([]int64{100})
	for i := range FirstFit {
		if _, err := e.Predict(fp); !errors.Is(err, ErrUntrained) {
			t.Errorf("after %d runs: %v", i, err)
		}
		e.Observe(fp, 0.5)
	}
	p, err := e.Predict(fp)
	if err != nil || !(math.Abs(p.Value-0.5) <= 1e-9) {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestUnusableTimesTeachNothing(t *testing.T) {
	e := New(Auto).Entry("f")
	fp := e.Footprint([]int64{1})
	for _, s := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		e.Observe(fp, s)
	}
	if e.runs != 0 || fp.runs != 0 {
		t.Errorf("%d runs", e.runs)
	}
}

// Sizes never seen are answered from the law that the seen ones follow.
func TestUnseenSizes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, kind := range []string{Auto, "local", "median"} {
		e := New(kind).Entry("f")
		for range 500 {
			size := 1000 + r.Int64N(1_000_000)
			e.Observe(e.Footprint([]int64{size, size}), truth(r, size, 0.02))
		}
		for _, size := range []int64{2000, 50_000, 999_999} {
			p, err := e.Predict(e.Footprint([]int64{size, size}))
			want := 1e-9 * math.Pow(float64(size), 1.5)
			if err != nil || !(math.Abs(p.Value-want) <= 0.06*want) {
				t.Errorf("%v of %d: %v, want %v (%v)", kind, size, p.Value, want, err)
			}
			if !(p.Low <= p.Value && p.Value <= p.High) {
				t.Errorf("%v outside [%v, %v]", p.Value, p.Low, p.High)
			}
		}
	}
}

// Two arguments that vary apart have their own exponents.
func TestExponents(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	e := New(Auto).Entry("f")
	for range 400 {
		a, b := 1000+r.Int64N(100_000), 1000+r.Int64N(100_000)
		e.Observe(e.Footprint([]int64{a, b, 64}), 1e-12*math.Pow(float64(a), 1)*math.Pow(float64(b), 0.5))
	}
	exponents := e.power.b
	if e.power.fixed || !(math.Abs(exponents[0]-1) <= 0.01) || !(math.Abs(exponents[1]-0.5) <= 0.01) || exponents[2] != 0 {
		t.Errorf("exponents %v", exponents)
	}
}

// Numbers that the first tasks did not have count as 0 there, and have an exponent
// as soon as they vary.
func TestSizesThatComeLater(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 3))
	e := New(Auto).Entry("f")
	e.Observe(e.Footprint(nil), 1e-9)
	for range 400 {
		a := 1000 + r.Int64N(100_000)
		e.Observe(e.Footprint([]int64{a}), truth(r, a, 0.01))
	}
	p, err := e.Predict(e.Footprint([]int64{50_001}))
	if want := truth(r, 50_001, 0); err != nil || !(math.Abs(p.Value-want) <= 0.1*want) {
		t.Errorf("%v, want %v (%v)", p.Value, want, err)
	}
}

// Times that follow no law of the sizes are learned size by size.
func TestMedianServesWhereSizesDecide(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	times := []float64{5e-3, 1e-4, 2e-2, 3e-4, 8e-3, 6e-4}
	e := New(Auto).Entry("f")
	for i := range 600 {
		k := i % len(times)
		e.Observe(e.Footprint([]int64{int64(1000 * (k + 1))}), times[k]*math.Exp(0.01*r.NormFloat64()))
	}
	for k, want := range times {
		p, err := e.Predict(e.Footprint([]int64{int64(1000 * (k + 1))}))
		if err != nil || !(math.Abs(p.Value-want) <= 0.15*want) {
			t.Errorf("size %d: %+v, want %v (%v)", k, p, want, err)
		}
	}
	if w := e.mixture(usual).Weights; w[local] > w[median] {
		t.Errorf("weights %v: the law of the sizes serves", w)
	}
}

// One run in ten that was interrupted does not move the answer.
func TestOutliers(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for _, kind := range []string{"local", "median", Auto} {
		e := New(kind).Entry("f")
		for i := range 800 {
			size := int64(1000 * (1 + i%20))
			s := truth(r, size, 0.01)
			if i > 100 && r.IntN(10) == 0 {
				s *= 20
			}
			e.Observe(e.Footprint([]int64{size}), s)
		}
		p, err := e.Predict(e.Footprint([]int64{10_000}))
		want := 1e-9 * math.Pow(10_000, 1.5)
		if err != nil || !(math.Abs(p.Value-want) <= 0.1*want) {
			t.Errorf("%v: %v, want %v (%v)", kind, p.Value, want, err)
		}
	}
}

// A program that becomes slower is followed at once, and for sizes that have not
// run since as well.
func TestStep(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	e := New(Auto).Entry("f")
	run := func(n, sizes int, factor float64) {
		for i := range n {
			size := int64(1000 * (1 + i%sizes))
			e.Observe(e.Footprint([]int64{size}), factor*truth(r, size, 0.05))
		}
	}
	run(1000, 20, 1)
	run(100, 10, 3)
	for _, size := range []int64{5_000, 18_000, 15_500} { // ran since, did not, never did
		p, err := e.Predict(e.Footprint([]int64{size}))
		want := 3 * truth(r, size, 0)
		if err != nil || !(math.Abs(p.Value-want) <= 0.15*want) {
			t.Errorf("%d bytes: %v, want %v (%v)", size, p.Value, want, err)
		}
	}
}

// Once its window is full, a steady program of short tasks is learned from for a
// two-thousandth of its time, of every size, whatever the order of the sizes.
func TestSteadyRunsArePassedOver(t *testing.T) {
	for _, period := range []int{1, 2, 8, 21, 64} {
		r := rand.New(rand.NewPCG(7, uint64(period)))
		e := New(Auto).Entry("f")
		run := func(i int) {
			size := int64(1000 * (1 + i%period))
			e.Observe(e.Footprint([]int64{size}), 2e-4*math.Exp(0.05*r.NormFloat64()))
		}
		for i := 0; e.learned < 2*window; i++ {
			run(i)
		}
		warm := e.runs
		before := map[int64]int{}
		for _, f := range e.footprints {
			before[f.Sizes[0]] = f.runs
		}
		const runs = 64 * 400
		for i := range runs {
			run(i)
		}
		if e.runs != warm+runs {
			t.Errorf("period %d: %d runs of %d", period, e.runs, warm+runs)
		}
		for _, f := range e.footprints {
			want := float64(runs/period) * 2e-4 * learnShare / learnSeconds
			if got := float64(f.runs - before[f.Sizes[0]]); !(math.Abs(got-want) <= 0.1*want+3) {
				t.Errorf("period %d: %v runs of size %d learned, want %v", period, got, f.Sizes[0], want)
			}
		}
	}
}

// A program that changes is learned from at once, passed over or not.
func TestStepAfterSteadyRuns(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	e := New(Auto).Entry("f")
	fp := e.Footprint([]int64{10_000})
	for range 3 * window {
		e.Observe(fp, truth(r, 10_000, 0.05))
	}
	for range 200 {
		e.Observe(fp, 3*truth(r, 10_000, 0.05))
	}
	p, err := e.Predict(fp)
	want := 3 * truth(r, 10_000, 0)
	if err != nil || !(math.Abs(p.Value-want) <= 0.1*want) {
		t.Errorf("%v, want %v (%v)", p.Value, want, err)
	}
}

func TestIntervalHoldsItsShare(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	e := New(Auto).Entry("f")
	inside, asked := 0, 0
	for i := range 3000 {
		size := 1000 + r.Int64N(100_000)
		fp, s := e.Footprint([]int64{size}), truth(r, size, 0.3)
		if p, err := e.Predict(fp); err == nil && i > 500 {
			asked++
			if p.Low <= s && s <= p.High {
				inside++
			}
		}
		e.Observe(fp, s)
	}
	// 2500 draws: three standard errors are 2.4 %; the residuals' quantiles add theirs.
	if share := float64(inside) / float64(asked); !(math.Abs(share-0.9) <= 0.04) {
		t.Errorf("%.3f of the runs are in an interval of level 0.9", share)
	}
}

// Whatever is observed, answers are finite, above zero, in their interval,
// and the window is bounded.
func TestAnyRuns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom(Names()).Draw(t, "kind")
		e := New(kind).Entry("f")
		width := rapid.IntRange(0, 9).Draw(t, "width")
		sizes := rapid.SliceOfN(rapid.OneOf(rapid.Int64Range(-5, 1<<40), rapid.Just(int64(math.MaxInt64))), width, width+1)
		for range rapid.IntRange(1, 80).Draw(t, "runs") {
			e.Observe(e.Footprint(sizes.Draw(t, "sizes")), rapid.Float64Range(1e-12, 1e12).Draw(t, "seconds"))
			p, err := e.Predict(e.Footprint(sizes.Draw(t, "asked")))
			if errors.Is(err, ErrUntrained) {
				continue
			}
			if err != nil || !(p.Value > 0) || math.IsInf(p.Value, 0) || !(p.Low <= p.Value) || !(p.High >= p.Value) {
				t.Fatalf("%+v, %v", p, err)
			}
		}
	})
}

func TestWindowIsBounded(t *testing.T) {
	e := New(Auto).Entry("f")
	for i := range 3 * window {
		e.Observe(e.Footprint([]int64{int64(i)}), 1e-3*float64(1+i%7))
	}
	if len(e.samples) > 2*window {
		t.Errorf("%d samples", len(e.samples))
	}
}

// The middle of few runs is their median, whatever the farthest of them is; that of many
// follows a lasting change.
func TestTrackedMiddle(t *testing.T) {
	var m tracked
	for _, s := range []float64{1, 2, 3, 4, 100} {
		m.add(s)
	}
	if m.value != 3 {
		t.Errorf("%v, want 3", m.value)
	}
	for range 300 {
		m.add(5)
	}
	if !(math.Abs(m.value-5) <= 0.05) {
		t.Errorf("%v after 300 runs of 5 s", m.value)
	}
}

func TestKinds(t *testing.T) {
	for _, name := range append(Names(), "") {
		if err := Check(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := Check("oracle"); !errors.Is(err, ErrKind) {
		t.Error(err)
	}
}

// learned is an entry after the given number of runs of random sizes.
func learned(runs int) (*Entry, *rand.Rand) {
	r := rand.New(rand.NewPCG(9, 9))
	e := New(Auto).Entry("f")
	for range runs {
		size := 1000 + r.Int64N(1_000_000)
		e.Observe(e.Footprint([]int64{size, size, size}), truth(r, size, 0.1))
	}
	return e, r
}

func BenchmarkRefit(b *testing.B) {
	e, r := learned(20_000)
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		for range 64 { // what a fit has to take in
			size := 1000 + r.Int64N(1_000_000)
			seconds := truth(r, size, 0.1)
			e.learn(e.Footprint([]int64{size, size, size}), Moment{}, seconds, math.Log(seconds))
		}
		b.StartTimer()
		e.Fit()
	}
}

func BenchmarkPredict(b *testing.B) {
	e, r := learned(20_000)
	for _, seen := range []bool{true, false} {
		name := "sizes=unseen"
		if seen {
			name = "sizes=seen"
		}
		b.Run(name, func(b *testing.B) {
			fps := make([]*Footprint, 1<<10)
			for i := range fps {
				size := 1000 + r.Int64N(1_000_000)
				fps[i] = e.Footprint([]int64{size, size, size})
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				f := fps[i%len(fps)]
				if !seen {
					f.best = nil
				}
				if _, err := e.Predict(f); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkObserve(b *testing.B) {
	e, r := learned(5000)
	fps := make([]*Footprint, 8)
	for i := range fps {
		fps[i] = e.Footprint([]int64{int64(1000 * (i + 1))})
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		e.Observe(fps[i%8], truth(r, int64(1000*(i%8+1)), 0.1))
	}
}

// Sizes that never come back take bounded memory, and those that do keep their runs.
func TestFootprintsAreBounded(t *testing.T) {
	m := New(Auto)
	e := m.Entry("loop")
	for i := range 40_000 {
		e.Observe(e.Footprint([]int64{int64(1000 + i)}), 1e-6)
		e.Observe(e.Footprint([]int64{int64(i % 50)}), 2e-6)
	}
	if n := len(e.footprints); n > 1<<13 {
		t.Errorf("%d footprints", n)
	}
	if runs := e.Footprint([]int64{7}).runs; runs < 31 {
		t.Errorf("%d runs left of sizes that came 800 times", runs)
	}
}
