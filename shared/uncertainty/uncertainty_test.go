package uncertainty_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/stat"
	"pgregory.net/rapid"

	"github.com/foretime/foretime/shared/stats"
	"github.com/foretime/foretime/shared/testkit/coveragetest"
	"github.com/foretime/foretime/shared/uncertainty"
)

type prediction = uncertainty.Prediction

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s: %v, want %v ± %v", what, got, want, tolerance)
	}
}

func TestPrediction(t *testing.T) {
	p := prediction{Value: 10, Low: 8, High: 13, Level: 0.9}
	odd := prediction{Value: 0.3, Low: 0.0075644516360746155, High: 0.7, Level: 0.9}
	for _, c := range []struct {
		name      string
		got, want any
	}{
		{"twice", p.Times(2), prediction{20, 16, 26, 0.9}},
		{"negative", p.Times(-1), prediction{-10, -13, -8, 0.9}},
		{"widened", p.Widen(2), prediction{10, 6, 16, 0.9}},
		{"widened by nothing", odd.Widen(1), odd},
		{"widened point", uncertainty.Point(3).Widen(2), uncertainty.Point(3)},
		{"lower end", p.Contains(8), true},
		{"upper end", p.Contains(13), true},
		{"below", p.Contains(7.9), false},
		{"NaN", p.Contains(math.NaN()), false},
		{"bounded", p.IsBounded(), true},
		{"unbounded", uncertainty.Point(1).IsBounded(), false},
		{"width", p.Width(), 5.0},
		{"score inside", p.Score(9), 5.0},
		{"score of a point", uncertainty.Point(1).Score(1), math.Inf(1)},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
	near(t, "score below", p.Score(6), 5+2/0.1*2, 1e-9)
	near(t, "score above", p.Score(14), 5+2/0.1*1, 1e-9)
}

func TestPredictionJSON(t *testing.T) {
	for text, p := range map[string]prediction{
		`{"value":1,"low":0.5,"high":2,"level":0.9}`: {1, 0.5, 2, 0.9},
		`{"value":1,"low":null,"high":null}`:         uncertainty.Point(1),
		`{"value":1,"low":0,"high":null}`:            {1, 0, math.Inf(1), 0},
	} {
		b, err := json.Marshal(p)
		if err != nil || string(b) != text {
			t.Errorf("%+v: %s, %v, want %s", p, b, err, text)
		}
		var back prediction
		if err := json.Unmarshal(b, &back); err != nil || back != p {
			t.Errorf("%s: %+v, %v", b, back, err)
		}
	}
	if _, err := json.Marshal(uncertainty.Point(math.NaN())); err == nil {
		t.Error("NaN was written")
	}
	if err := json.Unmarshal([]byte(`{"value":"x"}`), new(prediction)); err == nil {
		t.Error("a text was read as a value")
	}
}

// TestBandByHand checks that of 19 errors the first and the last are the ends at
// 0.9, and of 39 at 0.95; with 39 at 0.9 the second and the last but one.
func TestBandByHand(t *testing.T) {
	errs := func(n int) (predicted, actual []float64) {
		for i := range n {
			predicted, actual = append(predicted, 100), append(actual, 100+float64(i-n/2))
		}
		return predicted, actual
	}
	for _, c := range []struct {
		n           int
		level, half float64
	}{{19, 0.9, 9}, {39, 0.95, 19}, {39, 0.9, 18}, {3, 0.5, 1}} {
		predicted, actual := errs(c.n)
		b, err := uncertainty.NewBand(uncertainty.Offset, c.level, predicted, actual)
		if want := (prediction{50, 50 - c.half, 50 + c.half, c.level}); err != nil || b.Predict(50) != want {
			t.Errorf("%d at %v: %+v, %v", c.n, c.level, b.Predict(50), err)
		}
		b, err = uncertainty.NewBand(uncertainty.Factor, c.level, predicted, actual)
		if err != nil {
			t.Fatal(err)
		}
		p := b.Predict(50)
		near(t, "low of factors", p.Low, 50-c.half/2, 1e-9)
		near(t, "high of factors", p.High, 50+c.half/2, 1e-9)
	}
	biased, err := uncertainty.NewBand(uncertainty.Offset, 0.5, []float64{0, 0, 0}, []float64{5, 6, 7})
	if p := biased.Predict(1); err != nil || p.Low != 1 || p.High != 8 {
		t.Errorf("an interval without its value: %+v, %v", p, err)
	}
}

func TestBandErrors(t *testing.T) {
	ones := func(n int) []float64 {
		v := make([]float64, n)
		for i := range v {
			v[i] = 1
		}
		return v
	}
	for _, c := range []struct {
		name              string
		scale             uncertainty.Scale
		level             float64
		predicted, actual []float64
		want              error
	}{
		{"none", uncertainty.Offset, 0.9, nil, nil, uncertainty.ErrTooFew},
		{"18 at 0.9", uncertainty.Offset, 0.9, ones(18), ones(18), uncertainty.ErrTooFew},
		{"19 at 0.9", uncertainty.Offset, 0.9, ones(19), ones(19), nil},
		{"38 at 0.95", uncertainty.Offset, 0.95, ones(38), ones(38), uncertainty.ErrTooFew},
		{"39 at 0.95", uncertainty.Offset, 0.95, ones(39), ones(39), nil},
		{"level 1", uncertainty.Offset, 1, ones(50), ones(50), uncertainty.ErrLevel},
		{"level NaN", uncertainty.Offset, math.NaN(), ones(50), ones(50), uncertainty.ErrLevel},
		{"lengths", uncertainty.Offset, 0.9, ones(50), ones(49), uncertainty.ErrLength},
		{"NaN", uncertainty.Offset, 0.9, []float64{1}, []float64{math.NaN()}, uncertainty.ErrValue},
		{"factor of 0", uncertainty.Factor, 0.9, []float64{0}, ones(1), uncertainty.ErrValue},
		{"negative", uncertainty.Factor, 0.9, ones(1), []float64{-1}, uncertainty.ErrValue},
	} {
		if _, err := uncertainty.NewBand(c.scale, c.level, c.predicted, c.actual); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
		if _, err := uncertainty.NewBands(c.scale, c.level, make([]string, len(c.predicted)), c.predicted, c.actual); !errors.Is(err, c.want) {
			t.Errorf("%s by group: %v, want %v", c.name, err, c.want)
		}
	}
}

func TestBands(t *testing.T) {
	var groups []string
	var predicted, actual []float64
	add := func(group string, n int, spread float64) {
		for i := range n {
			groups, predicted = append(groups, group), append(predicted, 0)
			actual = append(actual, spread*float64(i-n/2))
		}
	}
	add("calm", 19, 0.01)
	add("wild", 19, 10)
	add("rare", 3, 1000)
	b, err := uncertainty.NewBands(uncertainty.Offset, 0.9, groups, predicted, actual)
	if err != nil {
		t.Fatal(err)
	}
	for group, want := range map[string]float64{"calm": 0.09, "wild": 90, "rare": 90, "unknown": 90} {
		band, own := b.Of(group)
		near(t, group, band.High, want, 1e-9)
		if own != (group == "calm" || group == "wild") {
			t.Errorf("%s: own is %v", group, own)
		}
	}
	text, err := json.Marshal(b)
	var back uncertainty.Bands[string]
	if err := errors.Join(err, json.Unmarshal(text, &back)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(b, back); diff != "" {
		t.Errorf("%s: %s", text, diff)
	}
	if err := json.Unmarshal([]byte(`{"all":{"scale":"log"}}`), &back); err == nil {
		t.Error("a scale that is none was read")
	}
	if _, err := uncertainty.NewBands(uncertainty.Offset, 0.9, groups[1:], predicted, actual); !errors.Is(err, uncertainty.ErrLength) {
		t.Errorf("got %v", err)
	}
}

// TestBootstrap checks that the percentile interval of a mean of 200 normal values
// agrees with Student's; 4000 replicates leave about 3 % of a half-width.
func TestBootstrap(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	values := make([]float64, 200)
	for i := range values {
		values[i] = 10 + rng.NormFloat64()
	}
	mean := func(v []float64) float64 { return stat.Mean(v, nil) }
	r := uncertainty.Resampling{Replicates: 4000, Seed: 1}
	p, err := uncertainty.Bootstrap(values, mean, r)
	if err != nil {
		t.Fatal(err)
	}
	s, err := uncertainty.Student(values, nil, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "value", p.Value, s.Value, 1e-12)
	near(t, "low", p.Low, s.Low, s.Width()*0.04)
	near(t, "high", p.High, s.High, s.Width()*0.04)
	if again, _ := uncertainty.Bootstrap(values, mean, r); again != p {
		t.Error("the same seed gave another interval")
	}
	if same, err := uncertainty.Bootstrap([]float64{4, 4}, mean, uncertainty.Resampling{}); err != nil || same != (prediction{4, 4, 4, 0.95}) {
		t.Errorf("equal values: %+v, %v", same, err)
	}
	// With blocks, each value ten times over has no more weight than once.
	var tenfold []float64
	for range 10 {
		tenfold = append(tenfold, values...)
	}
	blocks := uncertainty.Blocks(tenfold, func(v float64) float64 { return v })
	b, err := uncertainty.Bootstrap(blocks, func(blocks [][]float64) float64 {
		sum := 0.0
		for _, b := range blocks {
			sum += stat.Mean(b, nil) / float64(len(blocks))
		}
		return sum
	}, r)
	if err != nil || len(blocks) != 200 {
		t.Fatalf("%d blocks, %v", len(blocks), err)
	}
	near(t, "width over blocks", b.Width(), p.Width(), 1e-9)
}

// TestStudent compares with R 4.3: t.test(c(1, 2, 4, 7), conf.level = 0.9)$conf.int
// is 0.3852 6.6148 (mean 3.5, sd 2.6458, t 2.3534 on 3 degrees).
func TestStudent(t *testing.T) {
	p, err := uncertainty.Student([]float64{1, 2, 4, 7}, nil, 0.9)
	if err != nil || p.Value != 3.5 {
		t.Errorf("%+v, %v", p, err)
	}
	near(t, "low", p.Low, 3.5-2.3533634*2.6457513/2, 1e-6)
	near(t, "high", p.High, 3.5+2.3533634*2.6457513/2, 1e-6)
	// In its block, each value three times over has no more weight than once.
	var values []float64
	var blocks []int
	for range 3 {
		values, blocks = append(values, 1, 2, 4, 7), append(blocks, 1, 2, 3, 4)
	}
	b, err := uncertainty.Student(values, blocks, 0.9)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "low over blocks", b.Low, p.Low, 1e-12)
	if _, err := uncertainty.Student(values, make([]int, 12), 0.9); !errors.Is(err, uncertainty.ErrTooFew) {
		t.Errorf("one block: %v", err)
	}
	if _, err := uncertainty.Student(values, blocks[1:], 0.9); !errors.Is(err, uncertainty.ErrLength) {
		t.Errorf("a block short: %v", err)
	}
}

func TestResamplingErrors(t *testing.T) {
	mean := func(v []float64) float64 { return stat.Mean(v, nil) }
	for _, c := range []struct {
		name   string
		values []float64
		r      uncertainty.Resampling
		want   error
	}{
		{"none", nil, uncertainty.Resampling{}, uncertainty.ErrTooFew},
		{"one", []float64{1}, uncertainty.Resampling{}, uncertainty.ErrTooFew},
		{"infinite", []float64{1, math.Inf(1)}, uncertainty.Resampling{}, uncertainty.ErrValue},
		{"replicates", []float64{1, 2}, uncertainty.Resampling{Replicates: 1}, uncertainty.ErrTooFew},
		{"level", []float64{1, 2}, uncertainty.Resampling{Level: 1.5}, uncertainty.ErrLevel},
	} {
		if _, err := uncertainty.Bootstrap(c.values, mean, c.r); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
		if c.r.Replicates == 0 {
			if _, err := uncertainty.Student(c.values, nil, c.r.Level+0.5*missing(c.r.Level)); !errors.Is(err, c.want) {
				t.Errorf("Student, %s: %v, want %v", c.name, err, c.want)
			}
		}
	}
}

// missing returns 1 for a level that is not set.
func missing(level float64) float64 {
	if level == 0 {
		return 1
	}
	return 0
}

func TestJudge(t *testing.T) {
	p := prediction{Value: 1, Low: 0, High: 2, Level: 0.9}
	wide := prediction{Value: 1, Low: -1, High: 5, Level: 0.9}
	unbounded := prediction{Value: 1, Low: 0, High: math.Inf(1), Level: 0.9}
	v, err := uncertainty.Judge(0.9, []uncertainty.Case{
		{p, 1, "a"}, {p, 3, "a"}, {wide, 4, "b"}, {unbounded, 100, ""}, {p, 2, ""},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"cases", float64(v.Cases), 5}, {"blocks", float64(v.Blocks), 4}, {"unbounded", float64(v.Unbounded), 1},
		{"coverage", v.Coverage.Value, 0.8}, {"mean width", v.MeanWidth.Value, 3}, {"median width", v.MedianWidth.Value, 2},
		{"score", v.Score.Value, (2 + (2 + 20) + 6 + 2) / 4.0},
	} {
		near(t, c.name, c.got, c.want, 1e-9)
	}
	if v.Coverage.Low > 0.6 || v.Coverage.High != 1 || v.Coverage.Level != 0.95 {
		t.Errorf("coverage %+v", v.Coverage)
	}
	if _, err := json.Marshal(v); err != nil {
		t.Error(err)
	}
	for name, c := range map[string]struct {
		level float64
		cases []uncertainty.Case
		want  error
	}{
		"none":          {0.9, nil, uncertainty.ErrTooFew},
		"one block":     {0.9, []uncertainty.Case{{p, 1, "a"}, {p, 1, "a"}}, uncertainty.ErrTooFew},
		"all unbounded": {0.9, []uncertainty.Case{{unbounded, 1, ""}, {unbounded, 1, ""}}, uncertainty.ErrTooFew},
		"other promise": {0.95, []uncertainty.Case{{p, 1, ""}, {p, 1, ""}}, uncertainty.ErrLevel},
		"level":         {0, nil, uncertainty.ErrLevel},
		"NaN":           {0.9, []uncertainty.Case{{p, math.NaN(), ""}}, uncertainty.ErrValue},
		"crossed ends":  {0.9, []uncertainty.Case{{prediction{1, 2, 0, 0.9}, 1, ""}}, uncertainty.ErrValue},
	} {
		if _, err := uncertainty.Judge(c.level, c.cases); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

// TestJudgeMedian compares the median width with that of the widths themselves.
func TestJudgeMedian(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		widths := rapid.SliceOfN(rapid.Float64Range(0, 9), 2, 20).Draw(t, "widths")
		cases := make([]uncertainty.Case, len(widths))
		for i, w := range widths {
			cases[i] = uncertainty.Case{Prediction: prediction{Low: 0, High: w}}
		}
		v, err := uncertainty.Judge(0.5, cases)
		if err != nil {
			t.Fatal(err)
		}
		b, err := uncertainty.Student(widths, nil, 0.5)
		if err != nil {
			t.Fatal(err)
		}
		if want := stats.Median(widths); !(math.Abs(v.MedianWidth.Value-want) <= 1e-12) || !(math.Abs(v.MeanWidth.Value-b.Value) <= 1e-12) {
			t.Errorf("median %v, want %v; mean %v, want %v", v.MedianWidth.Value, want, v.MeanWidth.Value, b.Value)
		}
	})
}

// TestBlocksWidenTheVerdict checks that four copies of each case have no more
// weight than one.
func TestBlocksWidenTheVerdict(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	var once, copies, apart []uncertainty.Case
	for i := range 200 {
		c := uncertainty.Case{Prediction: prediction{0, -1, 1, 0.68}, Actual: rng.NormFloat64(), Block: fmt.Sprint(i)}
		once = append(once, c)
		for range 4 {
			copies = append(copies, c)
		}
		c.Block = ""
		apart = append(apart, c, c, c, c)
	}
	width := func(cases []uncertainty.Case) float64 {
		v, err := uncertainty.Judge(0.68, cases)
		if err != nil {
			t.Fatal(err)
		}
		return v.Coverage.Width()
	}
	near(t, "copies in a block", width(copies), width(once), 1e-12)
	near(t, "copies as units", width(apart)/width(once), 0.5, 0.1)
}

// TestPromises checks the package's own predictors on a few data sets.
func TestPromises(t *testing.T) { promises(t, coveragetest.CheckFew) }

// TestStatisticsPromises checks them on as many cases as the level needs.
func TestStatisticsPromises(t *testing.T) { promises(t, coveragetest.Check) }

func promises(t *testing.T, check func(*testing.T, []coveragetest.Predictor)) {
	check(t, []coveragetest.Predictor{
		{Name: "band of offsets", Level: 0.9, Run: band(uncertainty.Offset, 0.9, 99)},
		{Name: "band of factors", Level: 0.9, Run: band(uncertainty.Factor, 0.9, 99)},
		{Name: "band of few", Level: 0.9, Run: band(uncertainty.Offset, 0.9, 19)},
		{Name: "bands by group", Level: 0.8, Run: grouped},
		{Name: "bootstrap of 40", Level: 0.9, Run: meanOf(40, func(v []float64) (prediction, error) {
			return uncertainty.Bootstrap(v, func(v []float64) float64 { return stat.Mean(v, nil) }, uncertainty.Resampling{Replicates: 200, Level: 0.9})
		})},
		{Name: "Student of 4", Level: 0.9, Run: meanOf(4, func(v []float64) (prediction, error) { return uncertainty.Student(v, nil, 0.9) })},
	})
}

// noisy returns a value around 10 with skewed noise.
func noisy(rng *rand.Rand) float64 { return 9 + rng.ExpFloat64() }

// band learns from n errors of the prediction 10 and predicts 50 times.
func band(s uncertainty.Scale, level float64, n int) func(uint64) []uncertainty.Case {
	return func(seed uint64) []uncertainty.Case {
		rng := rand.New(rand.NewPCG(seed, 7))
		predicted, actual := make([]float64, n), make([]float64, n)
		for i := range n {
			predicted[i], actual[i] = 10, noisy(rng)
		}
		b, err := uncertainty.NewBand(s, level, predicted, actual)
		if err != nil {
			panic(err)
		}
		return answers(50, func() prediction { return b.Predict(10) }, func() float64 { return noisy(rng) })
	}
}

func answers(n int, predict func() prediction, actual func() float64) []uncertainty.Case {
	cases := make([]uncertainty.Case, n)
	for i := range cases {
		cases[i] = uncertainty.Case{Prediction: predict(), Actual: actual()}
	}
	return cases
}

// grouped returns cases of the wild group alone; bands by group must keep the level
// in each.
func grouped(seed uint64) []uncertainty.Case {
	rng := rand.New(rand.NewPCG(seed, 8))
	var groups []bool
	var predicted, actual []float64
	for i := range 198 {
		wild := i%2 == 0
		groups, predicted = append(groups, wild), append(predicted, 10)
		actual = append(actual, 10+rng.NormFloat64()*map[bool]float64{true: 5, false: 1}[wild])
	}
	b, err := uncertainty.NewBands(uncertainty.Offset, 0.8, groups, predicted, actual)
	if err != nil {
		panic(err)
	}
	wild, _ := b.Of(true)
	return answers(50, func() prediction { return wild.Predict(10) }, func() float64 { return 10 + 5*rng.NormFloat64() })
}

// meanOf computes an interval for the mean of normal values, 20 times.
func meanOf(n int, interval func([]float64) (prediction, error)) func(uint64) []uncertainty.Case {
	return func(seed uint64) []uncertainty.Case {
		rng := rand.New(rand.NewPCG(seed, 10))
		values := make([]float64, n)
		return answers(20, func() prediction {
			for i := range values {
				values[i] = rng.NormFloat64()
			}
			p, err := interval(values)
			if err != nil {
				panic(err)
			}
			return p
		}, func() float64 { return 0 })
	}
}
