package tree

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/foretime/foretime/shared/regression"
)

// definition computes what a fit must give, node by node, from the rows alone.
type definition struct {
	b       Boost // with its settings spelled out
	s       regression.Samples
	g, h    []float64
	problem func(format string, args ...any)
}

func (d *definition) sum(rows []int) (g, h float64) {
	for _, r := range rows {
		g += d.g[r]
		h += d.h[r]
	}
	return g, h
}

func (d *definition) score(rows []int) float64 {
	g, h := d.sum(rows)
	return g * g / (h + d.b.Lambda)
}

// bestGain tries every division of the rows that a threshold, one category or a run of categories
// in order of their weights can make, missing values on either side.
func (d *definition) bestGain(rows []int) float64 {
	best := 0.0
	try := func(column int, goesLeft func(x float64) bool) {
		for _, missingLeft := range []bool{false, true} {
			var left, right []int
			for _, r := range rows {
				x := d.s.Row(r)[column]
				if math.IsNaN(x) && missingLeft || !math.IsNaN(x) && goesLeft(x) {
					left = append(left, r)
				} else {
					right = append(right, r)
				}
			}
			_, hl := d.sum(left)
			_, hr := d.sum(right)
			if min(hl, hr) > 0 && min(hl, hr) >= d.b.MinChildWeight-1e-9 {
				best = max(best, d.score(left)+d.score(right)-d.score(rows))
			}
		}
	}
	for column := range d.s.Features {
		with := map[float64][]int{}
		for _, r := range rows {
			if x := d.s.Row(r)[column]; !math.IsNaN(x) && d.h[r] > 0 {
				with[x] = append(with[x], r)
			}
		}
		var values []float64
		for x := range with {
			values = append(values, x)
		}
		slices.Sort(values)
		switch {
		case !d.b.Categorical[column]:
			for _, v := range values {
				try(column, func(x float64) bool { return x <= v })
			}
		case len(values) <= 4:
			for _, v := range values {
				try(column, func(x float64) bool { return x != v })
			}
		default:
			slices.SortStableFunc(values, func(a, b float64) int {
				ga, ha := d.sum(with[a])
				gb, hb := d.sum(with[b])
				return -int(math.Copysign(1, ga/(ha+d.b.Lambda)-gb/(hb+d.b.Lambda)))
			})
			for n := 1; n < len(values); n++ {
				try(column, func(x float64) bool { return !slices.Contains(values[:n], x) })
				try(column, func(x float64) bool { return slices.Contains(values[:n], x) })
			}
		}
	}
	return best
}

// check compares a node and those below with the definition, and adds the leaves' values to the
// rows' predictions.
func (d *definition) check(t *decisionTree, at, depth int, rows []int, l loss, predicted []float64) {
	n, f := t.nodes[at], t.facts[at]
	g, h := d.sum(rows)
	weight := -g / (h + d.b.Lambda)
	if math.Abs(float64(f.cover)-h) > 1e-5*h || math.Abs(float64(f.weight)-weight) > 1e-5*(0.01+math.Abs(weight)) {
		d.problem("node %d covers %v with weight %v, want %v and %v", at, f.cover, f.weight, h, weight)
	}
	best := 0.0
	if d.b.MaxDepth < 0 || depth < d.b.MaxDepth {
		best = d.bestGain(rows)
	}
	if math.Abs(float64(f.gain)-best) > 1e-5*(0.01+best) {
		d.problem("node %d of %d rows gains %v, want %v", at, len(rows), f.gain, best)
	}
	if n.feature < 0 {
		value := d.leafValue(rows, l, predicted, weight)
		if math.Abs(float64(n.value)-value) > 1e-5*(0.01+math.Abs(value)) {
			d.problem("leaf %d answers %v, want %v", at, n.value, value)
		}
		for _, r := range rows {
			predicted[r] += float64(n.value)
		}
		return
	}
	var sides [2][]int
	absent := false
	for _, r := range rows {
		x := d.s.Row(r)[n.feature]
		right := x >= float64(n.value)
		if n.set() >= 0 {
			right = slices.Contains(t.sets[n.set()].codes(), int(x))
		}
		if math.IsNaN(x) {
			right = n.flags%2 == 0
			absent = true
		}
		side := 0
		if right {
			side = 1
		}
		sides[side] = append(sides[side], r)
	}
	_, left := d.sum(sides[0])
	if !absent && n.set() < 0 && (n.flags%2 == 1) != (2*left >= h) && math.Abs(2*left-h) > 1e-9 {
		d.problem("node %d sends missing values against its majority: %v of %v go left", at, left, h)
	}
	d.check(t, int(n.left), depth+1, sides[0], l, predicted)
	d.check(t, int(n.left)+1, depth+1, sides[1], l, predicted)
}

// leafValue returns a part of the best value of a leaf, or of the quantile of its residuals.
func (d *definition) leafValue(rows []int, l loss, predicted []float64, weight float64) float64 {
	if d.b.Objective != Quantile {
		return d.b.Eta * weight
	}
	type residual struct{ y, w float64 }
	var all []residual
	total := 0.0
	for _, r := range rows {
		all = append(all, residual{d.s.Y[r] - predicted[r], d.s.Weight(r)})
		total += d.s.Weight(r)
	}
	slices.SortFunc(all, func(a, b residual) int { return int(math.Copysign(1, a.y-b.y)) })
	if d.s.Weights == nil { // between the two nearest
		at := l.alpha * float64(len(all)-1)
		i := int(at)
		j := min(i+1, len(all)-1)
		return d.b.Eta * (all[i].y + (at-float64(i))*(all[j].y-all[i].y))
	}
	sum := 0.0
	for _, r := range all {
		if sum += r.w; sum >= l.alpha*total-1e-12 && r.w > 0 {
			return d.b.Eta * r.y
		}
	}
	return math.NaN()
}

// irregular draws samples whose targets have no ties, with missing values and codes below some
// number in the last feature.
func irregular(seed uint64, rows, codes int, weighted bool) regression.Samples {
	r := rand.New(rand.NewPCG(seed, 11))
	s := regression.Samples{Features: 3}
	for range rows {
		x := []float64{float64(r.IntN(7)), r.NormFloat64(), float64(r.IntN(codes))}
		s.Y = append(s.Y, x[0]+3*math.Mod(x[2]*0.618, 1)+r.NormFloat64())
		for c := range x {
			x[c] = float64(float32(x[c]))
			if r.IntN(7) == 0 {
				x[c] = math.NaN()
			}
		}
		s.X = append(s.X, x...)
		if weighted {
			s.Weights = append(s.Weights, float64(r.IntN(4))/2+0.25)
		}
	}
	return s
}

// TestFitByDefinition recomputes every node of small fits: gain, cover and value.
func TestFitByDefinition(t *testing.T) {
	for name, b := range map[string]Boost{
		"as by default":   {Eta: 0.3, MaxDepth: 6, Lambda: 1, MinChildWeight: 1},
		"without a limit": {Eta: 1, MaxDepth: -1, Lambda: 0.1, MinChildWeight: 1e-9},
		"one division":    {Eta: 0.5, MaxDepth: 1, Lambda: 3, MinChildWeight: 2.5},
		"large children":  {Eta: 0.1, MaxDepth: 3, Lambda: 1e-9, MinChildWeight: 7},
		"quantile":        {Eta: 0.4, MaxDepth: 3, Lambda: 1, MinChildWeight: 2, Objective: Quantile, QuantileAlpha: 0.8},
		"median":          {Eta: 1, MaxDepth: 2, Lambda: 0.5, MinChildWeight: 1, Objective: Quantile, QuantileAlpha: 0.5},
	} {
		b.Rounds = 3
		b.Categorical = []bool{false, false, true}
		for draw := range 8 {
			s := irregular(uint64(draw), 45, []int{3, 4, 5, 9}[draw%4], draw >= 4)
			e := fit(t, b, s)
			l := loss{b.Objective, b.QuantileAlpha}
			d := &definition{b: b, s: s, g: make([]float64, s.Len()), h: make([]float64, s.Len())}
			d.problem = func(format string, args ...any) {
				t.Helper()
				t.Errorf(name+", draw %d: "+format, append([]any{draw}, args...)...)
			}
			predicted := make([]float64, s.Len())
			var rows []int
			for i := range predicted {
				predicted[i] = e.base
				rows = append(rows, i)
			}
			for _, tr := range e.trees {
				for i, y := range s.Y {
					z := predicted[i] - y
					switch {
					case b.Objective != Quantile:
					case z < 0:
						z = -l.alpha
					default:
						z = 1 - l.alpha
					}
					d.g[i] = s.Weight(i) * z
					d.h[i] = s.Weight(i)
				}
				d.check(tr, 0, 0, rows, l, predicted)
			}
			out := make([]float64, s.Len())
			if err := e.PredictAll(s.X, out, 1); err != nil {
				t.Fatal(err)
			}
			for i, want := range predicted {
				if p, err := e.Predict(s.Row(i)); err != nil || math.Abs(p.Value-want) > 1e-9 || math.Abs(out[i]-want) > 1e-9 {
					t.Fatalf("%s, draw %d: row %d: %v and %v, want %v", name, draw, i, p.Value, out[i], want)
				}
			}
		}
	}
}

// TestBinsByHand closes a bin when it holds its part of the weight that is left, and cuts midway.
func TestBinsByHand(t *testing.T) {
	nan := math.NaN()
	for _, tt := range []struct {
		name    string
		values  []float64
		weights []float64
		limit   int
		cuts    []float32 // but the last, which is just above the largest value
		codes   []uint8
	}{
		{"a bin each", []float64{4, 1, 2}, nil, 3, []float32{1.5, 3}, []uint8{2, 0, 1}},
		{"six in three", []float64{1, 2, 3, 4, 5, 6}, nil, 3, []float32{2.5, 4.5}, []uint8{0, 0, 1, 1, 2, 2}},
		{"seven in three", []float64{1, 2, 3, 4, 5, 6, 7}, nil, 3, []float32{3.5, 5.5}, []uint8{0, 0, 0, 1, 1, 2, 2}},
		{"ties", []float64{1, 1, 1, 1, 2, 3}, nil, 2, []float32{1.5}, []uint8{0, 0, 0, 0, 1, 1}},
		{"ties at the end", []float64{1, 2, 3, 3, 3, 3}, nil, 2, []float32{}, []uint8{0, 0, 0, 0, 0, 0}},
		{"weights", []float64{1, 2, 3, 4}, []float64{3, 1, 1, 1}, 2, []float32{1.5}, []uint8{0, 1, 1, 1}},
		{"weights at the end", []float64{1, 2, 3, 4}, []float64{1, 1, 1, 2.9}, 2, []float32{3.5}, []uint8{0, 0, 0, 1}},
		{"missing", []float64{nan, 5, 3}, nil, 8, []float32{4}, []uint8{2, 1, 0}},
		{"signs of zero", []float64{math.Copysign(0, -1), 0, 1}, nil, 3, []float32{0.5}, []uint8{0, 0, 1}},
		{"negative", []float64{-4, -1, -2}, nil, 3, []float32{-3, -1.5}, []uint8{0, 2, 1}},
	} {
		m, err := bin(regression.Samples{Features: 1, X: tt.values, Y: make([]float64, len(tt.values)), Weights: tt.weights}, tt.limit, nil, 1)
		if err != nil {
			t.Fatal(err)
		}
		f := m.features[0]
		if !slices.Equal(f.cuts[:len(f.cuts)-1], tt.cuts) || !slices.Equal(m.byColumn[0], tt.codes) || f.bins != len(f.cuts) || f.missing != (tt.name == "missing") {
			t.Errorf("%s: cuts %v, bins %v", tt.name, f.cuts, m.byColumn[0])
		}
		largest := float32(math.Inf(-1))
		for _, v := range tt.values {
			if v > float64(largest) {
				largest = float32(v)
			}
		}
		if last := f.cuts[len(f.cuts)-1]; last != math.Nextafter32(largest, float32(math.Inf(1))) && largest != 0 {
			t.Errorf("%s: the last cut is %v", tt.name, last)
		}
	}
	next := math.Nextafter32(1, 2)
	for _, tt := range [][3]float32{{1, 3, 2}, {1, next, next}, {-3, -1, -2}, {math.MaxFloat32, float32(math.Inf(1)), float32(math.Inf(1))}, {-math.MaxFloat32, math.MaxFloat32, 0}} {
		if got := midway(tt[0], tt[1]); got != tt[2] {
			t.Errorf("midway between %v and %v: %v, want %v", tt[0], tt[1], got, tt[2])
		}
	}
	ordered := []float32{float32(math.Inf(-1)), -math.MaxFloat32, -1, -math.SmallestNonzeroFloat32, 0, math.SmallestNonzeroFloat32, 1, math.MaxFloat32}
	for i, v := range ordered {
		if fromOrdered(toOrdered(v)) != v || i > 0 && (toOrdered(ordered[i-1]) >= toOrdered(v) || orderKey(ordered[i-1]) >= orderKey(v)) {
			t.Errorf("%v is out of order", v)
		}
	}
}

// TestMostBins gives a column 256 numbers, of which missing values take one.
func TestMostBins(t *testing.T) {
	for _, missing := range []bool{false, true} {
		s := regression.Samples{Features: 1, Y: make([]float64, 1000)}
		for i := range s.Y {
			s.X = append(s.X, float64(i))
		}
		want := 256
		if missing {
			s.X[500] = math.NaN()
			want = 255
		}
		m, err := bin(s, maxBins, nil, 1)
		if err != nil {
			t.Fatal(err)
		}
		if f := m.features[0]; f.bins != want || f.codes() != 256 || int(slices.Max(m.byColumn[0])) != 255 {
			t.Errorf("missing %v: %d bins, %d numbers", missing, f.bins, f.codes())
		}
	}
}

// TestRadixSort sorts 5000 values by their upper halves and keeps equal ones in order.
func TestRadixSort(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for _, values := range []uint32{1 << 31, 1 << 12, 3} {
		for _, n := range []int{2047, 2048, 5000} {
			var s sorter
			for i := range n {
				s.values = append(s.values, uint64(r.Uint32N(values))<<32|uint64(i))
			}
			want := slices.Sorted(slices.Values(s.values))
			if got := s.sort(); !slices.Equal(got, want) {
				t.Errorf("%d values below %d are not in order", n, values)
			}
		}
	}
}

// TestCategoryCodes accepts codes from 0 to 254.
func TestCategoryCodes(t *testing.T) {
	for code, ok := range map[float64]bool{0: true, 254: true, 255: false, -1: false, 0.5: false} {
		m, err := bin(regression.Samples{Features: 1, X: []float64{code, math.NaN()}, Y: make([]float64, 2)}, maxBins, []bool{true}, 1)
		if (err == nil) != ok || err != nil && !errors.Is(err, regression.ErrNotFinite) {
			t.Errorf("code %v: %v", code, err)
		}
		if err == nil && (m.features[0].bins != int(code)+1 || m.byColumn[0][0] != uint8(code) || m.byColumn[0][1] != uint8(code)+1 || m.features[0].codes() != int(code)+2) {
			t.Errorf("code %v: %+v", code, m.features[0])
		}
	}
}

// TestSettingLimits accepts settings at their limits and refuses those beyond.
func TestSettingLimits(t *testing.T) {
	s := regression.Samples{Features: 1}
	for _, tt := range []struct {
		b  Boost
		ok bool
	}{
		{Boost{}, true}, {Boost{Objective: "x"}, false}, {Boost{Objective: Quantile}, true},
		{Boost{QuantileAlpha: 1}, false}, {Boost{QuantileAlpha: 0.999}, true}, {Boost{QuantileAlpha: -0.1}, false}, {Boost{Rounds: 1}, true}, {Boost{Rounds: -1}, false},
		{Boost{Eta: 1e-9}, true}, {Boost{Eta: -1}, false}, {Boost{Eta: math.Inf(1)}, false}, {Boost{MaxDepth: -1}, true}, {Boost{MaxDepth: -2}, false},
		{Boost{MaxBin: 2}, true}, {Boost{MaxBin: 1}, false}, {Boost{MaxBin: 256}, true}, {Boost{MaxBin: 257}, false},
		{Boost{Lambda: -1e-9}, false}, {Boost{Lambda: 1e-9}, true}, {Boost{MinChildWeight: -1e-9}, false}, {Boost{MinChildWeight: math.Inf(1)}, false},
		{Boost{Subsample: 1}, true}, {Boost{Subsample: 1.001}, false}, {Boost{Subsample: -0.5}, false}, {Boost{ColsampleTree: 1.001}, false},
		{Boost{Patience: 1}, true}, {Boost{Patience: -1}, false}, {Boost{Threads: 1}, true}, {Boost{Threads: -1}, false},
		{Boost{Categorical: []bool{true}}, true}, {Boost{Categorical: []bool{true, true}}, false}, {Boost{Categorical: []bool{}}, false},
	} {
		got, err := tt.b.withDefaults(s)
		if (err == nil) != tt.ok || err != nil && !errors.Is(err, regression.ErrSetting) {
			t.Errorf("%+v: %v", tt.b, err)
		}
		if tt.b.Objective == "" && tt.ok && got.Objective != SquaredError {
			t.Errorf("objective %q", got.Objective)
		}
	}
	got, err := Boost{}.withDefaults(s)
	want := Boost{Objective: SquaredError, QuantileAlpha: 0.5, Rounds: 100, Eta: 0.3, MaxDepth: 6, MaxBin: 256, Lambda: 1, MinChildWeight: 1, Subsample: 1, ColsampleTree: 1, Patience: 10, Threads: 1}
	if err != nil || fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
		t.Errorf("defaults %+v, want %+v (%v)", got, want, err)
	}
	if usefulThreads(9, 1<<15-1) != 1 || usefulThreads(9, 1<<15) != 2 || usefulThreads(2, 1<<20) != 2 {
		t.Error("threads that are worth starting")
	}
}

// TestSampling draws rows and columns as stated: each row with the share, a rounded share of the
// columns, and at least one of either.
func TestSampling(t *testing.T) {
	for _, share := range []float64{0.001, 0.3, 0.9, 1} {
		rng, same := rand.New(rand.NewPCG(2, 2)), rand.New(rand.NewPCG(2, 2))
		seen, left := Boost{Subsample: share}.sample(make([]uint32, 50), rng)
		var wantSeen, wantLeft []uint32
		for i := range uint32(50) {
			if share == 1 || same.Float64() < share {
				wantSeen = append(wantSeen, i)
			} else {
				wantLeft = append(wantLeft, i)
			}
		}
		if len(wantSeen) == 0 {
			wantSeen, wantLeft = wantLeft[:1], wantLeft[1:]
		}
		if !slices.Equal(seen, wantSeen) || !slices.Equal(left, wantLeft) {
			t.Errorf("share %v: %v and %v, want %v", share, seen, left, wantSeen)
		}
	}
	for share, want := range map[float64]int{0.01: 1, 0.24: 2, 0.25: 3, 0.34: 3, 0.35: 4, 1: 10} {
		got := 0
		for _, drawn := range drawFeatures(10, share, rand.New(rand.NewPCG(1, 1))) {
			if drawn {
				got++
			}
		}
		if got != want {
			t.Errorf("share %v of 10: %d drawn, want %d", share, got, want)
		}
	}
	limits := Boost{MaxDepth: -1, ColsampleTree: 0.5, Lambda: 3}.growth(10, rand.New(rand.NewPCG(1, 1)))
	if limits.maxDepth != 0 || limits.lambda != 3 || len(limits.allowed) != 10 {
		t.Errorf("%+v", limits)
	}
	if (Boost{ColsampleTree: 1}).growth(10, nil).allowed != nil {
		t.Error("columns are drawn though all are allowed")
	}
}

// TestLossesByHand compares start, derivatives and mean with figures by hand.
func TestLossesByHand(t *testing.T) {
	y, w := []float64{1, 2, 6}, []float64{1, 2, 1}
	squared, upper := loss{SquaredError, 0.5}, loss{Quantile, 0.75}
	for _, tt := range []struct {
		name      string
		got, want float64
	}{
		{"start", squared.start(y, nil), 3}, {"weighted start", squared.start(y, w), 11.0 / 4}, {"quantile", upper.start(y, nil), 4}, {"weighted quantile", upper.start(y, w), 2},
		{"derivative below", upper.derivative(-0.001), -0.75}, {"at", upper.derivative(0), 0.25}, {"above", upper.derivative(5), 0.25}, {"squared", squared.derivative(-5), -5},
		{"mean", squared.mean(y, nil, []float64{2, 2, 4}), math.Sqrt(5.0 / 3)}, {"weighted mean", squared.mean(y, w, []float64{2, 3, 4}), math.Sqrt((1 + 2 + 4) / 4.0)},
		{"mean of the quantile", upper.mean(y, nil, []float64{2, 2, 4}), (0.25 + 0.75*2) / 3}, {"weighted", upper.mean(y, w, []float64{2, 0, 4}), (0.25 + 2*0.75*2 + 0.75*2) / 4},
		{"half of the weight", weightedQuantile([]float64{3, 1, 2}, []float64{2, 1, 1}, 0.5), 2}, {"just above", weightedQuantile([]float64{3, 1, 2}, []float64{2, 1, 1}, 0.501), 3},
		{"no weight", weightedQuantile([]float64{1, 2, 3}, []float64{0, 1, 1}, 0), 2}, {"all", weightedQuantile([]float64{1, 2, 3}, []float64{1, 1, 1}, 1), 3},
	} {
		if !(math.Abs(tt.got-tt.want) <= 1e-12) {
			t.Errorf("%s: %v, want %v", tt.name, tt.got, tt.want)
		}
	}
	g, h := make([]float64, 3), make([]float64, 3)
	squared.derivatives(y, w, []float64{2, 2, 2}, g, h, 0, 2)
	if !slices.Equal(g, []float64{1, 0, 0}) || !slices.Equal(h, []float64{1, 2, 0}) {
		t.Errorf("derivatives %v and %v of the first two", g, h)
	}
	if squared.derivatives(y, nil, []float64{2, 2, 2}, g, nil, 1, 3); !slices.Equal(g, []float64{1, 0, -4}) {
		t.Errorf("derivatives %v", g)
	}
}

// TestPatience stops when as many trees as the patience have not improved the score.
func TestPatience(t *testing.T) {
	s := regression.Samples{Features: 1, X: []float64{0}, Y: []float64{1}}
	w, err := Boost{Validation: s}.watcher(1)
	if err != nil {
		t.Fatal(err)
	}
	w.begin(0)
	leaf := func(v float32) *decisionTree { return &decisionTree{nodes: []node{{feature: -1, value: v}}} }
	// Predictions 0.5, 0.9, 0.9 and so on: the second is the best.
	for i, tt := range []struct {
		value float32
		stops bool
		best  int
	}{{0.5, false, 1}, {0.4, false, 2}, {0, false, 2}, {0.3, false, 2}, {0, true, 2}} {
		if stops := w.stop(leaf(tt.value), loss{SquaredError, 0}, i+1, 3); stops != tt.stops || w.best != tt.best {
			t.Errorf("tree %d: stops %v, best %d", i+1, stops, w.best)
		}
	}
	if _, err := (Boost{Validation: s}).watcher(2); !errors.Is(err, regression.ErrDimension) {
		t.Error(err)
	}
}

// TestFixedPoint keeps sums within their bits, and hessians that are whole in the same integer.
func TestFixedPoint(t *testing.T) {
	for _, tt := range []struct {
		sum  float64
		bits int
		want float64
	}{{0, 61, 1}, {1, 61, math.Ldexp(1, 60)}, {0.75, 61, math.Ldexp(1, 61)}, {1000, 20, math.Ldexp(1, 10)}, {1024, 20, math.Ldexp(1, 9)}, {1e-320, 61, math.Ldexp(1, 1000)}} {
		if got := fixedPoint(tt.sum, tt.bits); got != tt.want {
			t.Errorf("%v in %d bits: %v, want %v", tt.sum, tt.bits, got, tt.want)
		}
	}
	for _, tt := range []struct {
		h      []float64
		packed bool
	}{{nil, true}, {[]float64{1, 2, 0, 3}, true}, {[]float64{1, 2.5, 0, 3}, false}, {[]float64{1 << 32, 0, 0, 0}, false}, {[]float64{1<<32 - 1, 0, 0, 0}, true}} {
		var q gradients
		g := []float64{-1.5, 2.25, 0.125, -7}
		q.load(g, tt.h, 1)
		if q.packed != tt.packed {
			t.Errorf("%v: packed %v", tt.h, q.packed)
		}
		sumG, sumH := 0.0, 0.0
		for _, r := range []uint32{0, 1, 3} {
			sumG += g[r]
			if tt.h == nil {
				sumH++
			} else {
				sumH += tt.h[r]
			}
		}
		c := q.total([]uint32{0, 1, 3}, 1)
		if gotG, gotH := float64(c.g)*q.gUnit, float64(c.h)*q.hUnit; gotG != sumG || gotH != sumH {
			t.Errorf("%v: sums %v and %v, want %v and %v", tt.h, gotG, gotH, sumG, sumH)
		}
	}
	for child, want := range map[float64]int64{0: 1, 0.5: 2, 0.6: 3, 1: 4} {
		p := penalty{packing: packing{hUnit: 0.25}, minChildWeight: child}
		if p.minimum() != want || p.divisible(cell{h: 2*want - 1}) || !p.divisible(cell{h: 2 * want}) {
			t.Errorf("children of %v: at least %d steps, want %d", child, p.minimum(), want)
		}
	}
	if p := (penalty{packing: packing{gUnit: 1, hUnit: 1}}); p.weight(cell{g: 3}) != 0 || p.score(cell{g: 3}) != 0 || p.weight(cell{g: 3, h: 2}) != -1.5 || p.score(cell{g: 3, h: 2}) != 4.5 {
		t.Error("weight and score of a node")
	}
	var s categorySet
	for _, code := range []int{0, 63, 64, 200, 255} {
		s.add(code)
	}
	if !slices.Equal(s.codes(), []int{0, 63, 64, 200, 255}) {
		t.Errorf("codes %v", s.codes())
	}
}
