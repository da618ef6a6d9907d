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
	e := New(Options{FirstFit: 3}).Entry("f")
	fp := e.Footprint([]int64{100})
	for i := range 3 {
		if _, err := e.Predict(fp); !errors.Is(err, ErrUntrained) {
			t.Errorf("after %d runs: %v", i, err)
		}
		e.Observe(fp, 0.5)
	}
	p, err := e.Predict(fp)
	if err != nil || math.Abs(p.Value-0.5) > 1e-9 {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestUnusableTimesTeachNothing(t *testing.T) {
	e := New(Options{FirstFit: 1}).Entry("f")
	fp := e.Footprint([]int64{1})
	for _, s := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		e.Observe(fp, s)
	}
	if e.Runs() != 0 || fp.Stats().Runs != 0 {
		t.Errorf("%d runs", e.Runs())
	}
}

// Sizes never seen are answered from the law that the seen ones follow.
func TestUnseenSizes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, kind := range []string{Auto, "local", "power", "history", "median"} {
		e := New(Options{Serve: kind}).Entry("f")
		for range 500 {
			size := 1000 + r.Int64N(1_000_000)
			e.Observe(e.Footprint([]int64{size, size}), truth(r, size, 0.02))
		}
		for _, size := range []int64{2000, 50_000, 999_999} {
			p, err := e.Predict(e.Footprint([]int64{size, size}))
			want := 1e-9 * math.Pow(float64(size), 1.5)
			if err != nil || math.Abs(p.Value-want) > 0.06*want {
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
	e := New(Options{}).Entry("f")
	for range 400 {
		a, b := 1000+r.Int64N(100_000), 1000+r.Int64N(100_000)
		e.Observe(e.Footprint([]int64{a, b, 64}), 1e-12*math.Pow(float64(a), 1)*math.Pow(float64(b), 0.5))
	}
	_, exponents, ok := e.Exponents()
	if !ok || math.Abs(exponents[0]-1) > 0.01 || math.Abs(exponents[1]-0.5) > 0.01 || exponents[2] != 0 {
		t.Errorf("exponents %v", exponents)
	}
}

// Times that follow no law of the sizes are learned size by size.
func TestHistoryServesWhereSizesDecide(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	times := []float64{5e-3, 1e-4, 2e-2, 3e-4, 8e-3, 6e-4}
	e := New(Options{}).Entry("f")
	for i := range 600 {
		k := i % len(times)
		e.Observe(e.Footprint([]int64{int64(1000 * (k + 1))}), times[k]*math.Exp(0.01*r.NormFloat64()))
	}
	for k, want := range times {
		p, err := e.Predict(e.Footprint([]int64{int64(1000 * (k + 1))}))
		if err != nil || math.Abs(p.Value-want) > 0.15*want {
			t.Errorf("size %d: %+v, want %v (%v)", k, p, want, err)
		}
	}
	if s := e.Serving(); s != "history" && s != "median" && s != "last" {
		t.Errorf("%v serves", s)
	}
}

// One run in ten that was interrupted does not move the answer.
func TestOutliers(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for _, kind := range []string{"history", "local", "power", "ridge", "median", Auto} {
		e := New(Options{Serve: kind}).Entry("f")
		for i := range 800 {
			size := int64(1000 * (1 + i%20))
			s := truth(r, size, 0.01)
			if i > 100 && r.IntN(10) == 0 {
				s *= 20
			}
			e.Observe(e.Footprint([]int64{size}), s)
		}
		if e.Outliers() < 45 {
			t.Errorf("%v: %d outliers of about 70", kind, e.Outliers())
		}
		p, err := e.Predict(e.Footprint([]int64{10_000}))
		want := 1e-9 * math.Pow(10_000, 1.5)
		if err != nil || math.Abs(p.Value-want) > 0.1*want {
			t.Errorf("%v: %v, want %v (%v)", kind, p.Value, want, err)
		}
	}
}

func TestDrift(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	e := New(Options{}).Entry("f")
	run := func(n int, factor float64) {
		for i := range n {
			size := int64(1000 * (1 + i%20))
			e.Observe(e.Footprint([]int64{size}), factor*truth(r, size, 0.05))
		}
	}
	run(1000, 1)
	if e.Drifts() != 0 {
		t.Errorf("%d drifts in a steady program", e.Drifts())
	}
	run(600, 3)
	if e.Drifts() == 0 {
		t.Error("three times slower is no drift")
	}
	p, err := e.Predict(e.Footprint([]int64{10_000}))
	want := 3e-9 * math.Pow(10_000, 1.5)
	if err != nil || math.Abs(p.Value-want) > 0.1*want {
		t.Errorf("%v, want %v (%v)", p.Value, want, err)
	}
}

// Once its window is full, a steady program is learned from one run in sixteen of
// every size, whatever the order of the sizes.
func TestRepeatsArePassedOver(t *testing.T) {
	for _, period := range []int{1, 2, 8, 21, 64} {
		r := rand.New(rand.NewPCG(7, uint64(period)))
		e := New(Options{}).Entry("f")
		run := func(i int) {
			size := int64(1000 * (1 + i%period))
			e.Observe(e.Footprint([]int64{size}), truth(r, size, 0.05))
		}
		for i := 0; e.n < window; i++ {
			run(i)
		}
		warm := e.Runs()
		before := map[int64]int{}
		for _, f := range e.Footprints() {
			before[f.Sizes[0]] = f.runs
		}
		const runs = 64 * 400
		for i := range runs {
			run(i)
		}
		if e.Runs() != warm+runs {
			t.Errorf("period %d: %d runs of %d", period, e.Runs(), warm+runs)
		}
		for _, f := range e.Footprints() {
			want := float64(runs / period / learnOneIn)
			if got := float64(f.runs - before[f.Sizes[0]]); math.Abs(got-want) > 0.1*want+2 {
				t.Errorf("period %d: %v runs of size %d learned, want %v", period, got, f.Sizes[0], want)
			}
		}
	}
}

// A program that changes is learned from at once, passed over or not.
func TestDriftAfterRepeats(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	e := New(Options{}).Entry("f")
	fp := e.Footprint([]int64{10_000})
	for range 3 * window {
		e.Observe(fp, truth(r, 10_000, 0.05))
	}
	for range 200 {
		e.Observe(fp, 3*truth(r, 10_000, 0.05))
	}
	p, err := e.Predict(fp)
	want := 3 * truth(r, 10_000, 0)
	if err != nil || math.Abs(p.Value-want) > 0.1*want {
		t.Errorf("%v, want %v (%v)", p.Value, want, err)
	}
}

// A stretch in which the machine did something else is not the program.
func TestShortDisturbanceIsNoDrift(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	e := New(Options{}).Entry("f")
	for i := range 2000 {
		s := truth(r, 10_000, 0.05)
		if i >= 1000 && i < 1000+2*stretch {
			s *= 2
		}
		e.Observe(e.Footprint([]int64{10_000}), s)
	}
	if e.Drifts() != 0 {
		t.Errorf("%d drifts", e.Drifts())
	}
}

func TestIntervalHoldsItsShare(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	e := New(Options{Level: 0.8}).Entry("f")
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
	if share := float64(inside) / float64(asked); math.Abs(share-0.8) > 0.05 {
		t.Errorf("%.3f of the runs are in an interval of level 0.8", share)
	}
}

// Whatever is observed, answers are finite, above zero, in their interval,
// and the window is bounded.
func TestAnyRuns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom(Names()).Draw(t, "kind")
		e := New(Options{Serve: kind, FirstFit: rapid.IntRange(1, 20).Draw(t, "first")}).Entry("f")
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
	e := New(Options{}).Entry("f")
	for i := range 3 * window {
		e.Observe(e.Footprint([]int64{int64(i)}), 1e-3*float64(1+i%7))
	}
	if len(e.samples) > window+2048 {
		t.Errorf("%d samples", len(e.samples))
	}
}

func TestStats(t *testing.T) {
	e := New(Options{}).Entry("f")
	fp := e.Footprint([]int64{8})
	if s := fp.Stats(); s != (Stats{}) {
		t.Errorf("%+v", s)
	}
	for _, s := range []float64{1, 2, 3, 4, 100} {
		e.Observe(fp, s)
	}
	s := fp.Stats()
	if s.Runs != 5 || math.Abs(s.Median-3) > 1e-9 || math.Abs(s.Trimmed-3) > 1e-9 || math.Abs(s.Deviation-1.4826) > 1e-9 {
		t.Errorf("%+v", s)
	}
}

func TestMerge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stretch := func(name string) []sample {
			at := rapid.SliceOf(rapid.Float64Range(0, 10)).Draw(t, name)
			out := make([]sample, len(at))
			for i, x := range at {
				out[i].at = math.Round(x)
			}
			return out
		}
		e := &Entry{history: history{samples: stretch("a")}}
		byAt(e.samples)
		fresh := stretch("b")
		byAt(fresh)
		n := len(e.samples)
		all := append(e.samples, fresh...)
		merged := merge(all[:n], all[n:])
		for i := 1; i < len(merged); i++ {
			if merged[i].at < merged[i-1].at {
				t.Fatalf("not sorted: %v", merged)
			}
		}
		if len(merged) != n+len(fresh) {
			t.Fatal("samples were lost")
		}
	})
}

func byAt(s []sample) {
	for i := range s {
		for j := i; j > 0 && s[j].at < s[j-1].at; j-- {
			s[j], s[j-1] = s[j-1], s[j]
		}
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
	if n := len(Models()); n > mostModels {
		t.Errorf("%d models, more than an entry has room for", n)
	}
}

// learned is an entry after the given number of runs of random sizes.
func learned(runs int) (*Entry, *rand.Rand) {
	r := rand.New(rand.NewPCG(9, 9))
	e := New(Options{}).Entry("f")
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
			fp := e.Footprint([]int64{size, size, size})
			y := math.Log(truth(r, size, 0.1))
			e.learn(fp, Moment{}, y, true)
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
					f.fit = 0
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

// The moments give weighted least squares: two points of weight 3 count as six.
func TestMomentsWeigh(t *testing.T) {
	points := []struct{ x, y, weight float64 }{{0, 1, 3}, {1, 3, 1}, {2, 2, 3}, {5, 9, 2}}
	var weighted, repeated moments
	for _, p := range points {
		weighted.add([]float64{p.x}, p.y, p.weight)
		for range int(p.weight) {
			repeated.add([]float64{p.x}, p.y, 1)
		}
	}
	a, _ := weighted.solve(1, 0, 0)
	b, _ := repeated.solve(1, 0, 0)
	// numpy: np.polyfit([0,1,2,5], [1,3,2,9], 1, w=np.sqrt([3,1,3,2])) = [1.5647482, 0.37769784].
	if math.Abs(a[0]-1.5647482) > 1e-7 || math.Abs(a[0]-b[0]) > 1e-12 || math.Abs(weighted.mean[1]-repeated.mean[1]) > 1e-12 {
		t.Errorf("slope %v and mean %v, repeated points %v and %v", a[0], weighted.mean[1], b[0], repeated.mean[1])
	}
}
