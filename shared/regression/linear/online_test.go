package linear

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/foretime/foretime/shared/regression"
)

func online(t rapid.TB, features int, o OnlineSettings) *Online {
	t.Helper()
	out, err := NewOnline(features, o)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// sameModel compares what two fits predict at x, their intervals included.
func sameModel(t rapid.TB, got, want *Model, x []float64, tolerance float64) {
	t.Helper()
	g, errG := got.Predict(x)
	w, errW := want.Predict(x)
	if errG != nil || errW != nil {
		t.Fatal(errG, errW)
	}
	for _, pair := range [][2]float64{{g.Value, w.Value}, {g.Low, w.Low}, {g.High, w.High}} {
		if pair[0] != pair[1] && !(math.Abs(pair[0]-pair[1]) <= tolerance*(1+math.Abs(w.Value))) {
			t.Fatalf("online predicts %+v, batch %+v", g, w)
		}
	}
}

// Whatever rows come and go, Online is what OLS makes of the rows that are in.
func TestOnlineIsOLS(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(0, 4).Draw(t, "features")
		settings := OnlineSettings{NoIntercept: width > 0 && rapid.Bool().Draw(t, "no intercept")}
		place := rapid.SampledFrom([]float64{0, 100}).Draw(t, "place")
		if settings.NoIntercept {
			place = 0 // far from the origin such columns are nearly the same
		}
		fit := online(t, width, settings)
		var in regression.Samples
		in.Features, in.Weights = width, []float64{}
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 2))
		check := func() {
			// With no row to spare random rows may be nearly dependent, where the
			// two differ in how near they can tell.
			if k := fit.gram.SymmetricDim(); in.Len() >= k && in.Len() < k+3 {
				return
			}
			want, err := OLS{NoIntercept: settings.NoIntercept}.Fit(context.Background(), in)
			got, errOnline := fit.Model()
			if errors.Is(err, regression.ErrTooFew) && errors.Is(errOnline, regression.ErrTooFew) {
				return
			}
			if err != nil || errOnline != nil {
				t.Fatalf("%d rows: OLS %v, online %v", in.Len(), err, errOnline)
			}
			x := make([]float64, width)
			for j := range x {
				x[j] = place + rng.NormFloat64()
			}
			sameModel(t, got, want, x, 1e-5)
		}
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				x := make([]float64, width)
				for j := range x {
					x[j] = place + rng.NormFloat64()
				}
				y, w := 10*rng.NormFloat64(), 0.5+rng.Float64()
				if err := fit.AddWeighted(x, y, w); err != nil {
					t.Fatal(err)
				}
				in.X, in.Y, in.Weights = append(in.X, x...), append(in.Y, y), append(in.Weights, w)
			},
			"remove": func(t *rapid.T) {
				if in.Len() == 0 {
					t.Skip("no row")
				}
				i := rng.IntN(in.Len())
				if err := fit.RemoveWeighted(in.Row(i), in.Y[i], in.Weights[i]); err != nil {
					t.Fatal(err)
				}
				var rest []int
				for r := range in.Len() {
					if r != i {
						rest = append(rest, r)
					}
				}
				in = in.Select(rest)
			},
			"": func(t *rapid.T) {
				if fit.Rows() != in.Len() {
					t.Fatalf("%d rows, want %d", fit.Rows(), in.Len())
				}
				check()
			},
		})
	})
}

// Reference: R 4.2.2, lm(dist ~ speed, cars, weights=0.9^(49:0)).
func TestOnlineForgets(t *testing.T) {
	fit := online(t, 1, OnlineSettings{Forgetting: 0.9})
	for i := range cars.Len() {
		if err := fit.Add(cars.Row(i), cars.Y[i]); err != nil {
			t.Fatal(err)
		}
		if i > 5 {
			if _, err := fit.Model(); err != nil { // the factor is carried along
				t.Fatal(err)
			}
		}
	}
	m, err := fit.Model()
	if err != nil {
		t.Fatal(err)
	}
	closeAll(t, "forgetting 0.9", m, []float64{-44.9978215432340178, 5.3920090925559121}, 1e-10)
	if p, err := fit.Predict([]float64{20}); err != nil || !p.Bounded() {
		t.Errorf("prediction %+v, %v", p, err)
	}
	if err := fit.Remove(cars.Row(0), cars.Y[0]); !errors.Is(err, regression.ErrSetting) {
		t.Errorf("remove where rows are forgotten: %v", err)
	}
}

// A model that was handed out does not change with later rows.
func TestOnlineModelIsAPicture(t *testing.T) {
	fit := online(t, 1, OnlineSettings{})
	for i := range 3 {
		if err := fit.Add([]float64{float64(i)}, float64(i*i)); err != nil {
			t.Fatal(err)
		}
	}
	m, err := fit.Model()
	if err != nil {
		t.Fatal(err)
	}
	before, _ := m.Predict([]float64{5})
	if err := fit.Add([]float64{9}, -100); err != nil {
		t.Fatal(err)
	}
	if now, err := fit.Predict([]float64{5}); err != nil || now == before {
		t.Errorf("the fourth row changes nothing: %+v, %v", now, err)
	}
	if after, _ := m.Predict([]float64{5}); after != before {
		t.Errorf("the old model says %+v, then %+v", before, after)
	}
}

func TestOnlineErrors(t *testing.T) {
	for _, c := range []struct {
		features int
		o        OnlineSettings
		want     error
	}{
		{-1, OnlineSettings{}, regression.ErrDimension},
		{0, OnlineSettings{NoIntercept: true}, regression.ErrDimension},
		{1, OnlineSettings{Forgetting: 1.1}, regression.ErrSetting},
		{1, OnlineSettings{Forgetting: math.NaN()}, regression.ErrSetting},
		{1, OnlineSettings{Level: 2}, regression.ErrSetting},
	} {
		if _, err := NewOnline(c.features, c.o); !errors.Is(err, c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	fit := online(t, 2, OnlineSettings{})
	row := []float64{1, 2}
	for name, c := range map[string]struct{ got, want error }{
		"remove from nothing": {fit.Remove(row, 1), regression.ErrTooFew},
		"narrow row":          {fit.Add(row[:1], 1), regression.ErrDimension},
		"NaN":                 {fit.Add([]float64{1, math.NaN()}, 1), regression.ErrNotFinite},
		"infinite target":     {fit.Add(row, math.Inf(1)), regression.ErrNotFinite},
		"weight 0":            {fit.AddWeighted(row, 1, 0), regression.ErrSetting},
		"negative weight":     {fit.AddWeighted(row, 1, -1), regression.ErrNotFinite},
	} {
		if !errors.Is(c.got, c.want) {
			t.Errorf("%s: %v, want %v", name, c.got, c.want)
		}
	}
	if _, err := fit.Predict(row); fit.Rows() != 0 || !errors.Is(err, regression.ErrTooFew) {
		t.Errorf("%d rows after refusals, predict: %v", fit.Rows(), err)
	}
	// The second feature is twice the first.
	for i := range 5 {
		if err := fit.Add([]float64{float64(i), float64(2 * i)}, 1); err != nil {
			t.Fatal(err)
		}
	}
	var which *regression.CollinearError
	if _, err := fit.Model(); !errors.As(err, &which) || which.Column != 1 {
		t.Errorf("dependent feature: %v", err)
	}
}

// Times of day in seconds since 1970 keep their digits.
func TestOnlineFarFromZero(t *testing.T) {
	fit := online(t, 1, OnlineSettings{})
	s := regression.Samples{Features: 1}
	for i := range 50 {
		x, y := 1.8e9+float64(i), 5+0.25*float64(i)+math.Sin(float64(i))
		s.X, s.Y = append(s.X, x), append(s.Y, y)
		if err := fit.Add([]float64{x}, y); err != nil {
			t.Fatal(err)
		}
	}
	got, err := fit.Model()
	if err != nil {
		t.Fatal(err)
	}
	want, err := OLS{}.Fit(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	close(t, "slope", got.Coefficients[0], want.Coefficients[0], 1e-12)
	close(t, "sigma", got.Doubt.Sigma, want.Doubt.Sigma, 1e-12)
}
