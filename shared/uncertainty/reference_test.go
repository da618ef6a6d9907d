package uncertainty

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
)

// agree reports whether two numbers are equal to 12 digits.
func agree(a, b float64) bool {
	return a == b || math.Abs(a-b) <= 1e-12*max(math.Abs(a), math.Abs(b))
}

// TestTrackerSteps compares a stream with the stated rule: the factor moves by a tenth of the
// largest of the last 50 scores, up by the level or down by one minus it, stays in 0.05 to the
// cap, and the cap is 10 or the tenth largest of the last 50.
func TestTrackerSteps(t *testing.T) {
	tracker, err := NewTracker(0.8)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(8, 8))
	var raw, counted []float64
	factor := 1.0
	for i := range 400 {
		score := rng.Float64()
		if i > 120 && i < 240 {
			score *= 60
		}
		if i > 300 {
			score = 0
		}
		truth, end := 100+4*score, 4.0
		if i%2 == 0 {
			truth, end = 100-8*score, 8
		}
		score = math.Abs(truth-100) / end
		tracker.Observe(Prediction{Value: 100, Low: 92, High: 104, Level: 0.8}, truth)
		raw = append(raw, score)
		recentScores := slices.Sorted(slices.Values(raw[max(0, len(raw)-50):]))
		most := 10.0
		if n := len(recentScores); n >= 10 {
			most = max(10, recentScores[n-10])
		}
		score = min(score, most)
		counted = append(counted, score)
		step := 0.1 * slices.Max(counted[max(0, len(counted)-50):])
		if score > factor {
			factor += 0.8 * step
		} else {
			factor -= (1 - 0.8) * step
		}
		factor = min(max(factor, 0.05), most)
		if !agree(tracker.Factor(), factor) {
			t.Fatalf("after %d: factor %v, want %v", i+1, tracker.Factor(), factor)
		}
	}
	if tracker.Factor() != 0.05 {
		t.Errorf("factor %v after truths that all were the value", tracker.Factor())
	}
}

// TestTrackerCap counts one gross error as 10, and ten of them in full.
func TestTrackerCap(t *testing.T) {
	for n, want := range map[int]float64{1: 10, 9: 10, 10: 400} {
		var r recent
		for range 20 {
			r.add(1)
		}
		for range n {
			r.add(400)
		}
		if got := r.largestAgreed(); got != want {
			t.Errorf("%d large scores: %v, want %v", n, got, want)
		}
	}
	var r recent
	for n := 1; n <= 10; n++ {
		r.add(30)
		if got := r.largestAgreed(); (got == 30) != (n == 10) {
			t.Errorf("%d scores: %v", n, got)
		}
	}
}

// TestTrackerAtTheEnd counts a truth at an end as inside.
func TestTrackerAtTheEnd(t *testing.T) {
	for truth, want := range map[float64]float64{4: 1 - 0.1*0.25, 4.000001: 1 + 0.1*1.0000005*0.75} {
		tracker, err := NewTracker(0.75)
		if err != nil {
			t.Fatal(err)
		}
		tracker.Observe(Prediction{Value: 2, Low: 1, High: 4}, truth)
		if got := tracker.Factor(); !(math.Abs(got-want) <= 1e-9) {
			t.Errorf("truth %v: factor %v, want %v", truth, got, want)
		}
	}
}

// TestCurveSteps compares a stream with the stated rule: a step is 0.03 of the largest of the
// last 50 errors.
func TestCurveSteps(t *testing.T) {
	shares := []float64{0.1, 0.5, 0.9}
	curve, err := NewCurve(shares...)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(9, 9))
	at := make([]float64, len(shares))
	var sizes []float64
	for i := range 200 {
		score := rng.NormFloat64() * float64(1+i/100*5)
		if err := curve.Observe(7, 7+score); err != nil {
			t.Fatal(err)
		}
		score = 7 + score - 7
		sizes = append(sizes, math.Abs(score))
		step := 0.03 * slices.Max(sizes[max(0, len(sizes)-50):])
		for k, share := range shares {
			if score > at[k] {
				at[k] += share * step
			} else {
				at[k] -= (1 - share) * step
			}
		}
		for k, got := range curve.About(0) {
			if !agree(got, slices.Sorted(slices.Values(at))[k]) {
				t.Fatalf("after %d: %v, want %v", i+1, curve.About(0), at)
			}
		}
		if curve.Seen() != i+1 {
			t.Fatalf("%d seen of %d", curve.Seen(), i+1)
		}
	}
}

// TestJudgeByDefinition draws the blocks as Judge says, 1000 times with seed 0, and computes
// every figure of a draw from the list of its cases.
func TestJudgeByDefinition(t *testing.T) {
	inf := math.Inf(1)
	cases := []Case{
		{Prediction{Value: 1, Low: 0, High: 2}, 1, "a"}, {Prediction{Value: 1, Low: 0, High: 3}, 4, "a"},
		{Prediction{Value: 1, Low: -1, High: 5}, 5, "b"}, {Prediction{Value: 1, Low: 0, High: inf}, 9, "c"},
		{Prediction{Value: 1, Low: 0, High: 7}, -1, ""}, {Prediction{Value: 1, Low: 0, High: 11}, 3, ""}, {Prediction{Value: 1, Low: -inf, High: 1}, 3, ""},
	}
	blocks := [][]int{{0, 1}, {2}, {3}, {4}, {5}, {6}}
	for len(blocks) < 30 { // widths of many values, so each draw has figures of its own
		n := len(cases)
		blocks = append(blocks, []int{n})
		cases = append(cases, Case{Prediction{Value: 1, Low: 0, High: math.Exp(math.Mod(float64(n)*0.618, 1) * 4)}, float64(n % 9), ""})
	}
	got, err := Judge(0.8, cases)
	if err != nil {
		t.Fatal(err)
	}
	figuresOf := func(drawn []int) (f [4]float64, known bool) {
		var widths []float64
		covered, scores, n := 0.0, 0.0, 0.0
		for _, b := range drawn {
			for _, k := range blocks[b] {
				c := cases[k]
				n++
				if c.Low <= c.Actual && c.Actual <= c.High {
					covered++
				}
				if math.IsInf(c.High-c.Low, 1) {
					continue
				}
				widths = append(widths, c.High-c.Low)
				scores += c.High - c.Low + 10*max(0, c.Low-c.Actual, c.Actual-c.High)
			}
		}
		if len(widths) == 0 {
			return f, false
		}
		slices.Sort(widths)
		m, sum := len(widths), 0.0
		for _, w := range widths {
			sum += w
		}
		return [4]float64{covered / n, sum / float64(m), (widths[(m-1)/2] + widths[m/2]) / 2, scores / float64(m)}, true
	}
	each := make([]int, len(blocks))
	for i := range each {
		each[i] = i
	}
	whole, _ := figuresOf(each)
	rng := rand.New(rand.NewPCG(0, 0x9e3779b97f4a7c15))
	var replicates [4][]float64
	for len(replicates[0]) < 1000 {
		drawn := make([]int, len(blocks))
		for i := range drawn {
			drawn[i] = rng.IntN(len(blocks))
		}
		if f, known := figuresOf(drawn); known {
			for k, v := range f {
				replicates[k] = append(replicates[k], v)
			}
		}
	}
	for k, p := range []Prediction{got.Coverage, got.MeanWidth, got.MedianWidth, got.Score} {
		want := Prediction{Value: whole[k], Low: quantileOf(replicates[k], 0.025), High: quantileOf(replicates[k], 0.975), Level: 0.95}
		if !agree(p.Value, want.Value) || !agree(p.Low, want.Low) || !agree(p.High, want.High) || p.Level != 0.95 {
			t.Errorf("figure %d: %+v, want %+v", k, p, want)
		}
	}
	if got.Cases != 31 || got.Blocks != 30 || got.Unbounded != 2 || got.Level != 0.8 {
		t.Errorf("%+v", got)
	}
}

// quantileOf interpolates linearly between order statistics.
func quantileOf(values []float64, p float64) float64 {
	s := slices.Sorted(slices.Values(values))
	at := p * float64(len(s)-1)
	low := math.Floor(at)
	high := min(int(low)+1, len(s)-1)
	return s[int(low)] + (at-low)*(s[high]-s[int(low)])
}

// TestJudgeLimits wants two blocks and one bounded case, and levels that agree to a billionth.
func TestJudgeLimits(t *testing.T) {
	bounded := func(level float64) Case { return Case{Prediction{Value: 1, Low: 0, High: 2, Level: level}, 1, ""} }
	unbounded := Case{Prediction: Point(1), Actual: 1}
	for name, tt := range map[string]struct {
		cases []Case
		want  error
	}{
		"two blocks":               {[]Case{bounded(0.9), bounded(0.9)}, nil},
		"one block":                {[]Case{bounded(0.9)}, ErrTooFew},
		"one bounded case":         {[]Case{bounded(0.9), unbounded}, nil},
		"no bounded case":          {[]Case{unbounded, unbounded}, ErrTooFew},
		"no level":                 {[]Case{bounded(0), bounded(0)}, nil},
		"level by rounding above":  {[]Case{bounded(0.9 + 0.9e-9), bounded(0.9)}, nil},
		"level by rounding below":  {[]Case{bounded(0.9 - 0.9e-9), bounded(0.9)}, nil},
		"a level above":            {[]Case{bounded(0.9 + 1.1e-9), bounded(0.9)}, ErrLevel},
		"a level below":            {[]Case{bounded(0.9 - 1.1e-9), bounded(0.9)}, ErrLevel},
		"no width":                 {[]Case{{Prediction{Value: 1, Low: 1, High: 1}, 1, ""}, bounded(0.9)}, nil},
		"a value that is infinite": {[]Case{{Prediction{Value: math.Inf(1), Low: 1, High: 1}, 1, ""}, bounded(0.9)}, ErrValue},
	} {
		if _, err := Judge(0.9, tt.cases); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", name, err, tt.want)
		}
	}
}

// TestBootstrapByDefinition draws as Bootstrap says and takes the central quantiles.
func TestBootstrapByDefinition(t *testing.T) {
	units := []float64{1, 2, 4, 8, 16}
	sum := func(v []float64) (s float64) {
		for _, x := range v {
			s += x
		}
		return s
	}
	for _, r := range []Resampling{{}, {Replicates: 2, Level: 0.5, Seed: 3}, {Replicates: 77, Level: 0.8, Seed: 1}} {
		got, err := Bootstrap(units, sum, r)
		if err != nil {
			t.Fatal(err)
		}
		n, level := r.Replicates, r.Level
		if n == 0 {
			n, level = 1000, 0.95
		}
		rng := rand.New(rand.NewPCG(r.Seed, 0x9e3779b97f4a7c15))
		found := make([]float64, n)
		for b := range found {
			for range units {
				found[b] += units[rng.IntN(5)]
			}
		}
		want := Prediction{31, quantileOf(found, (1-level)/2), quantileOf(found, (1+level)/2), level}
		if got != want {
			t.Errorf("%+v: %+v, want %+v", r, got, want)
		}
	}
	for _, tt := range []struct {
		units []float64
		r     Resampling
		want  error
	}{
		{units[:2], Resampling{Replicates: 2}, nil}, {units[:2], Resampling{Replicates: 1}, ErrTooFew},
		{units[:1], Resampling{Replicates: 2}, ErrTooFew}, {units, Resampling{Replicates: 9, Level: 1}, ErrLevel},
	} {
		if _, err := Bootstrap(tt.units, sum, tt.r); !errors.Is(err, tt.want) {
			t.Errorf("%+v: %v, want %v", tt, err, tt.want)
		}
	}
	if _, err := Student([]float64{1}, nil, 0.9); !errors.Is(err, ErrTooFew) {
		t.Errorf("one value: %v", err)
	}
	if p, err := Student([]float64{1, 2}, nil, 0.9); err != nil || !(math.Abs(p.Width()-6.313751514675043) <= 1e-9) { // R: qt(0.95, 1)
		t.Errorf("two values: %+v, %v", p, err)
	}
}

// TestBandRank takes the ranks floor((n+1)(1-level)/2) from both ends of n errors.
func TestBandRank(t *testing.T) {
	for _, tt := range []struct {
		n     int
		level float64
		rank  int // 0: too few
	}{
		{18, 0.9, 0}, {19, 0.9, 1}, {38, 0.9, 1}, {39, 0.9, 2}, {58, 0.9, 2}, {59, 0.9, 3},
		{8, 0.8, 0}, {9, 0.8, 1}, {18, 0.8, 1}, {19, 0.8, 2}, {2, 0.5, 0}, {3, 0.5, 1}, {6, 0.5, 1}, {7, 0.5, 2},
	} {
		var predicted, actual []float64
		for i := range tt.n {
			predicted, actual = append(predicted, 2), append(actual, 2+float64(i)-float64(tt.n-1)/2)
		}
		b, err := NewBand(Offset, tt.level, predicted, actual)
		if tt.rank == 0 {
			if !errors.Is(err, ErrTooFew) {
				t.Errorf("%+v: %v", tt, err)
			}
			continue
		}
		half := float64(tt.n-1)/2 - float64(tt.rank-1)
		if want := (Band{Offset, tt.level, -half, half, tt.n}); err != nil || b != want {
			t.Errorf("%+v: %+v, %v, want %+v", tt, b, err, want)
		}
	}
	low, err := NewBand(Factor, 0.5, []float64{1, 1, 1}, []float64{0.5, 0.25, 0})
	if err != nil || low.Low != 0 || low.High != 1 {
		t.Errorf("outcomes below the value: %+v, %v", low, err)
	}
}

// TestDecimals wants two digits of the distance to the nearer end, but no more than those of a
// hundredth of the width; without ends three digits of the value; 0 to 12 of them.
func TestDecimals(t *testing.T) {
	inf := math.Inf(1)
	for _, tt := range []struct {
		p    Prediction
		want int
	}{
		{Prediction{Value: 10, Low: 9, High: 12}, 1}, {Prediction{Value: 10, Low: 9.01, High: 12}, 2}, {Prediction{Value: 10, Low: 8, High: 10.99}, 2},
		{Prediction{Value: 100, Low: 90, High: 120}, 0}, {Prediction{Value: 100, Low: 90.5, High: 120}, 1}, {Prediction{Value: 1e6, Low: 0, High: 2e6}, 0},
		{Prediction{Value: 10, Low: 10 - 1e-9, High: 10.5}, 4}, {Prediction{Value: 10, Low: 10 - 1e-9, High: 110}, 1}, {Prediction{Value: 10, Low: 10 - 1e-9, High: 109}, 2},
		{Point(1), 2}, {Point(0.99), 3}, {Point(-9.9), 2}, {Point(10), 1}, {Point(100), 0}, {Point(1e5), 0}, {Point(0), 0}, {Point(1e-9), 11}, {Point(1e-10), 12}, {Point(1e-15), 12},
		{Prediction{Value: 5, Low: 5, High: 9}, 2}, {Prediction{Value: 5, Low: 4, High: inf}, 2}, {Prediction{Value: 0, Low: 0, High: 0}, 0},
	} {
		if got := tt.p.Decimals(); got != tt.want {
			t.Errorf("%+v: %d decimals, want %d", tt.p, got, tt.want)
		}
	}
	for x, want := range map[float64]string{1.25: "1.2", -0.06: "-0.1", inf: "-", -inf: "-"} {
		if got := Digits(x, 1); got != want {
			t.Errorf("%v: %s, want %s", x, got, want)
		}
	}
}

// TestUnits changes the unit at the stated values: a minute and a day begin at two of them.
func TestUnits(t *testing.T) {
	for _, tt := range []struct {
		seconds float64
		value   float64
		unit    string
	}{
		{0, 0, "s"}, {9e-4, 900, "µs"}, {1e-3, 1, "ms"}, {-1e-3, -1, "ms"}, {0.999, 999, "ms"}, {1, 1, "s"}, {119.5, 119.5, "s"}, {120, 2, "min"},
		{3599, 3599.0 / 60, "min"}, {3600, 1, "h"}, {172799, 172799.0 / 3600, "h"}, {172800, 2, "d"}, {1e-8, 0.01, "µs"},
	} {
		if got := Seconds(Point(tt.seconds)); got.Unit != tt.unit || !agree(got.Value, tt.value) {
			t.Errorf("%v s: %v %s, want %v %s", tt.seconds, got.Value, got.Unit, tt.value, tt.unit)
		}
	}
	if got := Seconds(Prediction{Value: 120, Low: 60, High: 240, Level: 0.1}).String(); got != "2.0 min, 1.0 to 4.0 (10 %)" {
		t.Error(got)
	}
}

// TestExceedsTails compares with R to 9 digits, on both sides and on both scales: pnorm(z) for
// z standard deviations, and qnorm(0.95) = 1.6448536269514722 to an end at 0.9.
func TestExceedsTails(t *testing.T) {
	const z, oneTail, twoTails = 1.6448536269514722, 0.15865525393145707, 0.022750131948179195
	log := Prediction{Value: 10, Low: 5, High: 40, Level: 0.9}
	normal := Prediction{Value: 10, Low: -10, High: 30, Level: 0.9}
	for _, tt := range []struct {
		name    string
		p       Prediction
		y, want float64
	}{
		{"one above", log, 10 * math.Pow(4, 1/z), oneTail}, {"two above", log, 10 * math.Pow(4, 2/z), twoTails},
		{"one below", log, 10 * math.Pow(2, -1/z), 1 - oneTail}, {"two below", log, 10 * math.Pow(2, -2/z), 1 - twoTails},
		{"half an end below, normal", normal, 5, 0.6595419707705937}, // R: pnorm(qnorm(0.95)/4)
		{"one above, log-normal", normal, 10 * math.Pow(3, 1/z), oneTail},
		{"tiny", log, 1e-300, 1}, {"below zero", log, -1, 1}, {"at the value", log, 10, 0.5},
		{"a value below zero is normal", Prediction{Value: -5, Low: -9, High: 5, Level: 0.9}, 5, 0.05},
	} {
		if got, known := tt.p.Exceeds(tt.y); !known || !(math.Abs(got-tt.want) <= 1e-7) {
			t.Errorf("%s: %v, %v, want %v", tt.name, got, known, tt.want)
		}
	}
	for _, level := range []float64{0, 1, -0.5, 1.5, math.NaN()} {
		if _, known := (Prediction{Value: 10, Low: 5, High: 40, Level: level}).Exceeds(20); known {
			t.Errorf("level %v: known", level)
		}
	}
}

// TestScales wants residuals of 0 and above for factors, and any finite offset.
func TestScales(t *testing.T) {
	for _, tt := range []struct {
		s                 Scale
		predicted, actual float64
		want              float64
		ok                bool
	}{
		{Offset, 3, 1, -2, true}, {Offset, -3, 1, 4, true}, {Offset, 0, math.Inf(1), 0, false},
		{Factor, 4, 1, 0.25, true}, {Factor, 4, 0, 0, true}, {Factor, 0, 1, 0, false}, {Factor, -1, 1, 0, false}, {Factor, 1, -1, 0, false}, {Factor, 1e-300, 1e300, 0, false},
	} {
		if r, ok := tt.s.residual(tt.predicted, tt.actual); ok != tt.ok || ok && r != tt.want {
			t.Errorf("%+v: %v, %v", tt, r, ok)
		}
	}
	for _, level := range []float64{0, 1, math.NaN()} {
		if _, err := NewTracker(level); !errors.Is(err, ErrLevel) {
			t.Errorf("level %v: %v", level, err)
		}
	}
	if got := strconv.Itoa(minErrors(0.05)) + " " + strconv.Itoa(minErrors(0.025)) + " " + strconv.Itoa(minErrors(0.1)) + " " + strconv.Itoa(minErrors(0.3)); got != "19 39 9 3" {
		t.Errorf("least numbers of errors: %s", got)
	}
}
