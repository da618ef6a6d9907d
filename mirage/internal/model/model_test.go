package model

import (
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foretime/foretime/mirage/internal/chain"
	"github.com/foretime/foretime/mirage/internal/policy"
	"github.com/foretime/foretime/mirage/internal/samples"
)

// made returns samples of a queue in which a successor waits an hour for each
// ten pending jobs, plus noise.
func made(n int) *samples.Set { return madeFrom(rand.New(rand.NewPCG(1, 2)), n) }

func madeFrom(rng *rand.Rand, n int) *samples.Set {
	set := &samples.Set{}
	for i := range n {
		h := samples.History{Moments: make([]samples.Moment, samples.Steps), Service: chain.Service{Nodes: 1, Limit: 172800}}
		pending := rng.Float64() * 100
		for step := range h.Moments {
			row := &h.Moments[step].Snapshot
			row[0] = math.Round(pending + rng.Float64()*float64(samples.Steps-1-step)/10)
			row[12] = 70
		}
		wait := h.Moments[samples.Steps-1].Snapshot[0]/10 + rng.Float64()
		at := int64(1_670_000_000 + i*3600)
		set.Samples = append(set.Samples, samples.Sample{
			Episode: i / 7, Probe: i % 7, Decision: at, SuccStart: at + int64(wait*3600), PredEnd: at + 3600, X: h.Summary(),
		})
	}
	return set
}

func TestTrain(t *testing.T) { trainAndReload(t, "boost") }

// trainAndReload fits each kind to made-up samples, and reads back what it
// saved.
func trainAndReload(t *testing.T, kinds ...string) {
	t.Helper()
	for _, k := range kinds {
		t.Run(k, func(t *testing.T) {
			// The noise is uniform over an hour: a quarter of an hour is the
			// least mean absolute error; a tenth of the waits' spread is plenty.
			if r := reloaded(t, k); r.MAEHours > 1 || r.Spearman < .95 {
				t.Errorf("%+v", r)
			}
		})
	}
}

// reloaded fits a kind, compares it with what it saved, and with itself on one
// thread.
func reloaded(t *testing.T, k string) Report {
	t.Helper()
	const n = 1400
	set := made(n)
	s := Settings{OverlapCost: 1, Seed: 3, Threads: 2}
	m, r, err := Train(t.Context(), k, learner(t, k), []*samples.Set{set}, s)
	if err != nil || r.Rows+r.HeldOutRows+r.LeftOut != n {
		t.Fatalf("%+v, %v", r, err)
	}
	got := reload(t, m)
	if got.Kind != k || got.FromHours != m.FromHours {
		t.Errorf("%+v, saved %+v", got, m)
	}
	for _, sample := range set.Samples[:20] {
		x := sampleFeatures(&sample)
		a, err1 := m.scorer.Hours(x)
		b, err2 := got.scorer.Hours(x)
		if err1 != nil || err2 != nil || math.Abs(a-b) > 1e-6 {
			t.Fatalf("%v %v, read back %v %v", a, err1, b, err2)
		}
	}
	s.Threads = 1
	again, _, err := Train(t.Context(), k, learner(t, k), []*samples.Set{set}, s)
	if err != nil {
		t.Fatal(err)
	}
	a, _ := m.scorer.Save()
	b, _ := again.scorer.Save()
	if string(a) != string(b) {
		t.Error("one thread and two differ")
	}
	return r
}

func learner(t *testing.T, name string) Learner {
	t.Helper()
	l, err := Learners().Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// reload saves a model and reads it back.
func reload(t *testing.T, m *Model) *Model {
	t.Helper()
	path := filepath.Join(t.TempDir(), "m.json")
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	got, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// TestForecastModel: a model that sees forecasts uses them, says so in its
// file, and refuses to decide without.
func TestForecastModel(t *testing.T) {
	set := made(700)
	for i := range set.Samples {
		s := &set.Samples[i]
		s.ForecastFull = float64(s.SuccStart - s.Decision)
		s.ForecastPart = s.ForecastFull / 2
	}
	m, r, err := Train(t.Context(), "boost", learner(t, "boost"), []*samples.Set{set}, Settings{OverlapCost: 1, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if r.MAEHours > 0.3 {
		t.Errorf("%+v", r)
	}
	got := reload(t, m)
	s := &policy.State{Now: 1_670_000_000, PredEnd: 1_670_000_000 + 5*3600, History: samples.History{Moments: make([]samples.Moment, samples.Steps)}}
	if _, err := got.Decide(s); !errors.Is(err, policy.ErrForecast) {
		t.Errorf("without forecast: %v", err)
	}
	s.Queue = func() (policy.Queue, error) { return halves{}, nil }
	if d, err := got.Decide(s); err != nil || math.Abs(d.Expected.Value+5-4) > 1 {
		t.Errorf("%+v, %v; the forecast is 4 h", d, err)
	}
}

// halves is a queue whose waits are four hours for full limits.
type halves struct{ policy.Queue }

func (halves) Forecast(share float64, _ int64) (float64, error) {
	if share == 1 {
		return 4 * 3600, nil
	}
	return 2 * 3600, nil
}

// noWait is a queue that forecasts no wait.
type noWait struct{ policy.Queue }

func (noWait) Forecast(float64, int64) (float64, error) { return 0, nil }

// TestFeatures: each value has a name, and what a forecast tells stands at the end, in hours.
// TestOrigin: of several sets a model has seen the span from the first beginning to the last
// start of a successor before it was trained.
func TestOrigin(t *testing.T) {
	set := func(from int64, starts ...int64) *samples.Set {
		s := &samples.Set{Manifest: samples.Manifest{Plan: samples.Plan{Start: from, Interval: 50, Service: chain.Service{Nodes: int(from)}}}}
		for _, at := range starts {
			s.Samples = append(s.Samples, samples.Sample{SuccStart: at})
		}
		return s
	}
	late, early := set(500, 900, 700), set(200, 300)
	before := early.Manifest.Plan.Submit(0)
	for name, tt := range map[string]struct {
		sets     []*samples.Set
		until    int64
		from, to int64
	}{
		"one":                  {[]*samples.Set{late}, 0, late.Manifest.Plan.Submit(0), 900},
		"an earlier one later": {[]*samples.Set{late, early}, 0, before, 900},
		"a later one later":    {[]*samples.Set{early, late}, 0, before, 900},
		"until one starts":     {[]*samples.Set{late, early}, 900, before, 700},
	} {
		o := originOf(tt.sets, tt.until)
		if o.From != tt.from || o.To != tt.to || o.Service.Nodes != tt.sets[0].Manifest.Plan.Service.Nodes {
			t.Errorf("%s: %+v", name, o)
		}
	}
	o := Origin{From: 200, To: 900}
	for span, want := range map[[2]int64]bool{{100, 200}: false, {100, 201}: true, {899, 1000}: true, {900, 1000}: false, {300, 400}: true} {
		if o.Saw(span[0], span[1]) != want {
			t.Errorf("%v: seen %v", span, !want)
		}
	}
}

func TestFeatures(t *testing.T) {
	names := featureNames()
	x := features(made(1).Samples[0].X, 6*3600, 90, 2*3600, 3600, 1800)
	if len(names) != len(x) {
		t.Fatalf("%d names of %d values: %v", len(names), len(x), names)
	}
	if diff := cmp.Diff([]float64{90, 2, 1, 1.5}, x[len(x)-4:]); diff != "" || math.Abs(x[slices.Index(names, "hour_sin")]-1) > 1e-12 {
		t.Error(x, diff)
	}
}

func TestPolicyUsesTheModel(t *testing.T) {
	m, _, err := Train(t.Context(), "boost", learner(t, "boost"), []*samples.Set{made(700)}, Settings{OverlapCost: 1, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	s := &policy.State{Now: 1_670_000_000, PredEnd: 1_670_000_000 + 5*3600}
	for range samples.Steps {
		var moment samples.Moment
		moment.Snapshot[0], moment.Snapshot[12] = 80, 70
		s.History.Moments = append(s.History.Moments, moment)
	}
	s.History.Service = chain.Service{Nodes: 1, Limit: 172800}
	s.History.ElapsedSeconds = 43 * 3600
	s.Queue = func() (policy.Queue, error) { return noWait{}, nil }
	d, err := m.Decide(s)
	if err != nil || !d.Submit || math.Abs(d.Expected.Value-3.5) > 1.5 {
		t.Errorf("eight hours of queue, five to go: %+v, %v", d, err)
	}
	s.PredEnd += 20 * 3600
	if d, err := m.Decide(s); err != nil || d.Submit {
		t.Errorf("eight hours of queue, 25 to go: %+v, %v", d, err)
	}
}

func TestSplit(t *testing.T) {
	set := made(700)
	until := set.Samples[500].SuccStart
	train, held, left, err := split([]*samples.Set{set}, until)
	if err != nil {
		t.Fatal(err)
	}
	if train.Len()+held.Len()+left != 700 || left < 200 {
		t.Errorf("%d, %d, %d", train.Len(), held.Len(), left)
	}
	set.Manifest.LastSubmit = until
	if _, _, cut, err := split([]*samples.Set{set}, 0); err != nil || cut < 200 || cut > left {
		t.Errorf("a trace that ends there: %d left out, %v", cut, err)
	}
	if _, _, _, err := split(nil, 0); !errors.Is(err, ErrSamples) {
		t.Errorf("no samples: %v", err)
	}
}

func TestMargin(t *testing.T) {
	// Forecasts are two hours short each time: submitting two hours before the
	// forecast says so costs nothing.
	predicted, actual := []float64{1, 5, 9}, []float64{3, 7, 11}
	if from, cost := margin(predicted, actual, 1); from != -2 || cost != 0 {
		t.Errorf("from %v at %v", from, cost)
	}
	if from, cost := margin(actual, predicted, 1); from != 2 || cost != 0 {
		t.Errorf("from %v at %v", from, cost)
	}
	if from, _ := margin(actual, actual, 1); from != 0 {
		t.Errorf("perfect forecasts: from %v", from)
	}
}

func TestRefuses(t *testing.T) {
	if _, _, err := Train(t.Context(), "boost", learner(t, "boost"), []*samples.Set{made(100)}, Settings{}); !errors.Is(err, ErrSamples) {
		t.Errorf("no cost of overlap: error %v", err)
	}
	for text, want := range map[string]string{
		"x": "invalid character", `{"model":"boost","features":["a"]}`: "trained_on is missing",
		`{"model":"boost","trained_on":{},"features":["a"]}`: "1 features, this version has",
	} {
		path := filepath.Join(t.TempDir(), "m.json")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(path); !errors.Is(err, ErrFile) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v", text, err)
		}
	}
}

// TestNewsvendor: trees aim at the quantile that is cheapest to plan for
// (Arrow, Harris and Marschak, Econometrica 19(3), 1951): where an hour of
// overlap costs a quarter of one of interruption, four waits of five are to be
// shorter than what is predicted; where it costs four, one of five.
func TestNewsvendor(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	set := made(2800)
	for i := range set.Samples { // nothing tells how long within ten hours
		s := &set.Samples[i]
		s.SuccStart = s.Decision + int64(10*3600*rng.Float64())
		clear(s.X)
	}
	for cost, want := range map[float64]float64{0.25: .8, 4: .2} {
		m, _, err := Train(t.Context(), "boost", learner(t, "boost"), []*samples.Set{set}, Settings{OverlapCost: cost, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		below := 0
		for i := range set.Samples {
			s := &set.Samples[i]
			h, err := m.scorer.Hours(sampleFeatures(s))
			if err != nil {
				t.Fatal(err)
			}
			if float64(s.SuccStart-s.Decision)/3600 <= h {
				below++
			}
		}
		if got := float64(below) / float64(len(set.Samples)); math.Abs(got-want) > .08 {
			t.Errorf("overlap cost %v: %.2f of the waits are no longer than predicted, want %.2f", cost, got, want)
		}
	}
}
