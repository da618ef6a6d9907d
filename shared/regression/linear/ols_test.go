package linear

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/foretime/foretime/shared/regression"
	"github.com/foretime/foretime/shared/uncertainty"
)

// Reference: R 4.2.2, options(digits=17), coef(summary(lm(...))),
// summary(...)$sigma, and predict(lm(...), newdata, interval="prediction").
func TestOLSAgainstR(t *testing.T) {
	for _, c := range []struct {
		name         string // the R call
		s            regression.Samples
		o            OLS
		coefficients []float64 // the intercept first
		error0       float64   // standard error of the intercept
		sigma        float64
		at           []float64
		weight       float64
		prediction   uncertainty.Prediction
		relative     float64
	}{
		{
			"lm(Employed ~ ., longley); longley[16,]", longley, OLS{},
			[]float64{-3482.2586345958148, 0.015061872271372779, -0.035819179292591, -0.02020229803816824, -0.010332268671735891, -0.051104105653579195, 1.8291514646135503},
			890.4204, 0.3048540735619657,
			[]float64{116.9, 554.894, 400.7, 282.7, 130.081, 1962}, 1,
			uncertainty.Prediction{Value: 70.757757825194403, Low: 69.861609191667867, High: 71.65390645872094}, 1e-7,
		},
		{
			"lm(stack.loss ~ ., stackloss); stackloss[1,], level 0.9", stackloss, OLS{Level: 0.9},
			[]float64{-39.91967442012396, 0.71564020048528, 1.29528612438857, -0.15212251914865},
			11.89599685064427, 3.2433639181852292,
			[]float64{80, 27, 89}, 1,
			uncertainty.Prediction{Value: 38.765362772960088, Low: 32.328442948155327, High: 45.202282597764849}, 1e-12,
		},
		{
			"lm(dist ~ speed, cars); speed = 21", cars, OLS{},
			[]float64{-17.579094890510895, 3.9324087591240855}, 6.7584401693792335, 0,
			[]float64{21}, 1,
			uncertainty.Prediction{Value: 65.001489051094893, Low: 33.422573640464492, High: 96.580404461725294}, 1e-12,
		},
		{
			`the same, interval="confidence"`, cars, OLS{}, nil, 0, 0, []float64{21}, math.Inf(1),
			uncertainty.Prediction{Value: 65.001489051094893, Low: 58.597383784697207, High: 71.405594317492586}, 1e-12,
		},
		{
			"lm(dist ~ speed, cars, weights=1/speed); speed = 21, weights = 1/21",
			weighted(cars, func(i int) float64 { return 1 / cars.X[i] }), OLS{},
			[]float64{-12.9672923814120153, 3.6329410637280541}, 4.87875950349684651, 3.8129847406061095,
			[]float64{21}, 1.0 / 21,
			uncertainty.Prediction{Value: 63.324469956877117, Low: 27.537988896642382, High: 99.110951017111859}, 1e-12,
		},
		{
			"lm(dist ~ 1, cars)", regression.Samples{Y: cars.Y}, OLS{},
			[]float64{42.98}, 3.6443403143134989, 0, nil, 1,
			uncertainty.Prediction{Value: 42.98, Low: -9.3207942114650777, High: 95.280794211465093}, 1e-12,
		},
	} {
		m, err := c.o.Fit(context.Background(), c.s)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if c.coefficients != nil {
			closeAll(t, c.name, m, c.coefficients, c.relative)
			origin := make([]float64, m.Features())
			checkClose(t, c.name+" error of the intercept", m.Doubt.Sigma*math.Sqrt(m.Doubt.leverage(origin)), c.error0, c.relative)
		}
		if c.sigma != 0 {
			checkClose(t, c.name+" sigma", m.Doubt.Sigma, c.sigma, c.relative)
		}
		p, err := m.PredictWeighted(c.at, c.weight)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		checkClose(t, c.name+" value", p.Value, c.prediction.Value, c.relative)
		checkClose(t, c.name+" low", p.Low, c.prediction.Low, c.relative)
		checkClose(t, c.name+" high", p.High, c.prediction.High, c.relative)
	}
}

func TestExactFitHasNoInterval(t *testing.T) {
	m, err := OLS{}.Fit(context.Background(), table([][]float64{{1, 2}, {3, 6}}))
	if err != nil {
		t.Fatal(err)
	}
	closeAll(t, "line through two points", &Model{Intercept: m.Intercept + 1, Coefficients: m.Coefficients}, []float64{1, 2}, 1e-15)
	p, _ := m.Predict([]float64{2})
	if p.IsBounded() || len(m.Warnings()) != 1 || !errors.Is(m.Warnings()[0], regression.ErrTooFew) {
		t.Errorf("prediction %+v, warnings %v", p, m.Warnings())
	}
}

func TestModelInput(t *testing.T) {
	m, err := OLS{}.Fit(context.Background(), cars)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		x      []float64
		weight float64
		want   error
	}{
		{[]float64{1, 2}, 1, regression.ErrDimension},
		{nil, 1, regression.ErrDimension},
		{[]float64{math.NaN()}, 1, regression.ErrNotFinite},
		{[]float64{1}, 0, regression.ErrSetting},
		{[]float64{1}, math.NaN(), regression.ErrSetting},
	} {
		if _, err := m.PredictWeighted(c.x, c.weight); !errors.Is(err, c.want) {
			t.Errorf("x %v, weight %v: %v, want %v", c.x, c.weight, err, c.want)
		}
	}
}

func TestModelJSON(t *testing.T) {
	m, err := OLS{}.Fit(context.Background(), stackloss)
	if err != nil {
		t.Fatal(err)
	}
	stored, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var back Model
	if err := json.Unmarshal(stored, &back); err != nil {
		t.Fatal(err)
	}
	x := []float64{60, 20, 90}
	a, _ := m.Predict(x)
	b, _ := back.Predict(x)
	if a != b || !a.IsBounded() {
		t.Errorf("read back %+v, stored %+v", b, a)
	}
}

// TestOLSProperties checks that an exact line is found at any scale and offset, and
// that a weight of 2 equals a row given twice.
func TestOLSProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(1, 5).Draw(t, "features")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		place := rapid.SampledFrom([]float64{0, 1, 1e6}).Draw(t, "place")
		scale := rapid.SampledFrom([]float64{1e-6, 1, 1e6}).Draw(t, "scale")
		s := regression.Samples{Features: width}
		truth := make([]float64, width)
		for j := range truth {
			truth[j] = rng.NormFloat64()
		}
		for range 3*width + 4 {
			y := 2.0
			for j := range width {
				v := rng.NormFloat64()
				s.X = append(s.X, scale*(place+v))
				y += truth[j] * v
			}
			s.Y = append(s.Y, y)
		}
		m, err := OLS{}.Fit(context.Background(), s)
		if err != nil {
			t.Fatal(err)
		}
		for j, b := range truth {
			if !(math.Abs(m.Coefficients[j]*scale-b) <= 1e-7) {
				t.Fatalf("coefficient %d is %v, want %v", j, m.Coefficients[j]*scale, b)
			}
		}

		for i := range s.Y {
			s.Y[i] += rng.NormFloat64()
		}
		double := weighted(s, func(i int) float64 { return float64(1 + i%2) })
		var rows []int
		for i := range s.Y {
			rows = append(rows, i)
			if i%2 == 1 {
				rows = append(rows, i)
			}
		}
		a, errA := OLS{}.Fit(context.Background(), double)
		b, errB := OLS{}.Fit(context.Background(), s.Select(rows))
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		for j := range truth {
			if math.Abs(a.Coefficients[j]-b.Coefficients[j])*scale > 1e-7 {
				t.Fatalf("weighted %v, repeated %v", a.Coefficients, b.Coefficients)
			}
		}
	})
}

// TestOLSCoverage checks that 95 % intervals contain 95 % of new normal values:
// 4,000 lines of 6 samples leave ± 0.011 (three standard errors).
func TestOLSCoverage(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	covered := 0
	for range 4000 {
		s := regression.Samples{Features: 1}
		for i := range 6 {
			x := float64(i)
			s.X, s.Y = append(s.X, x), append(s.Y, 3+2*x+rng.NormFloat64())
		}
		m, err := OLS{}.Fit(context.Background(), s)
		if err != nil {
			t.Fatal(err)
		}
		if p, _ := m.Predict([]float64{9}); p.Contains(3 + 2*9 + rng.NormFloat64()) {
			covered++
		}
	}
	if share := float64(covered) / 4000; !(math.Abs(share-0.95) <= 0.011) {
		t.Errorf("covered %v of new values, want 0.95 ± 0.011", share)
	}
}
