package backtest

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/foretime/foretime/mirage/internal/trace"
	"github.com/foretime/foretime/mirage/internal/wait"
	"github.com/foretime/foretime/shared/regression"
	"github.com/foretime/foretime/shared/uncertainty"
)

func isNear(a, b float64) bool { return math.Abs(a-b) <= 1e-12*max(1, math.Abs(b)) }

// drawCases returns judged jobs in blocks, with some open intervals and errors at the bounds
// that count.
func drawCases(rng *rand.Rand, n int) []judged {
	cases := make([]judged, n)
	for i := range cases {
		wait := float64(rng.IntN(5))
		value := wait + []float64{0, 1. / 6, -.125, .25, 1, -1, 1.5}[rng.IntN(7)]
		p := uncertainty.Prediction{Value: value, Low: value - float64(rng.IntN(2)), High: value + float64(rng.IntN(3)), Level: .8}
		if rng.IntN(4) == 0 {
			p.High = math.Inf(1)
		}
		cases[i] = judged{block: int64(i / 3), wait: wait, predicted: p}
		for b := range cases[i].simple {
			cases[i].simple[b] = wait + float64(rng.IntN(5)-2)
		}
	}
	return cases
}

// count returns the figures of predictions by their definitions.
func count(cases []judged, value func(judged) float64) (f Figures) {
	var off, predicted, waits []float64
	for _, c := range cases {
		o := math.Abs(value(c) - c.wait)
		off, predicted, waits = append(off, o), append(predicted, value(c)), append(waits, c.wait)
		f.MAEHours += o
		if o*6 <= 1 {
			f.Within10Min++
		}
		if o <= 1 {
			f.Within1H++
		}
	}
	n := float64(len(cases))
	f.MAEHours, f.Within10Min, f.Within1H = f.MAEHours/n, f.Within10Min/n, f.Within1H/n
	slices.Sort(off)
	f.MedianAEHours = (off[len(off)/2] + off[(len(off)-1)/2]) / 2
	if rho, err := regression.Spearman(predicted, waits); err == nil {
		f.Spearman = rho
	}
	return f
}

func alike(a, b Figures) bool {
	return isNear(a.MAEHours, b.MAEHours) && isNear(a.MedianAEHours, b.MedianAEHours) && isNear(a.Within10Min, b.Within10Min) && isNear(a.Within1H, b.Within1H) && isNear(a.Spearman, b.Spearman)
}

// TestReportByCounting compares each figure of a report with one counted by its definition.
func TestReportByCounting(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	names := []string{"last_100", "user_median", "shape_median", "class_median"}
	for _, n := range []int{1, 2, 3, 7, 8, 9, 15, 16, 40} {
		cases := drawCases(rng, n)
		var r Report
		if err := r.judge(cases); err != nil {
			t.Fatal(err)
		}
		simple := func(b int) func(judged) float64 { return func(c judged) float64 { return c.simple[b] } }
		best := 0
		for b, name := range names {
			want := count(cases, simple(b))
			if !alike(r.Baselines[name], want) {
				t.Errorf("%d jobs: %s %+v, want %+v", n, name, r.Baselines[name], want)
			}
			if want.MAEHours < count(cases, simple(best)).MAEHours-1e-12 {
				best = b
			}
		}
		mean, held, width, score, bounded := 0.0, 0.0, 0.0, 0.0, 0.0
		var waits []float64
		for _, c := range cases {
			mean += c.wait
			waits = append(waits, c.wait)
			if c.wait >= c.predicted.Low && c.wait <= c.predicted.High {
				held++
			}
			if !math.IsInf(c.predicted.High, 1) {
				bounded++
				width += c.predicted.High - c.predicted.Low
				score += c.predicted.High - c.predicted.Low + 10*(max(c.predicted.Low-c.wait, 0)+max(c.wait-c.predicted.High, 0)) // 2/(1-0.8)
			}
		}
		slices.Sort(waits)
		at := func(p float64) float64 {
			x := p * float64(n-1)
			i := int(x)
			return waits[i] + (x-float64(i))*(waits[min(i+1, n-1)]-waits[i])
		}
		bounded = max(bounded, 1)
		for name, pair := range map[string][2]float64{
			"mean wait": {r.MeanWaitHours, mean / float64(n)}, "coverage": {r.Coverage, held / float64(n)}, "width": {r.WidthHours, width / bounded}, "score": {r.Winkler, score / bounded},
			"tenth": {r.WaitP10Hours, at(.1)}, "nine tenths": {r.WaitP90Hours, at(.9)}, "error": {r.MAE.Value, count(cases, predictedHours).MAEHours},
		} {
			if math.Abs(pair[0]-pair[1]) > 1e-9 {
				t.Errorf("%d jobs: %s %v, want %v", n, name, pair[0], pair[1])
			}
		}
		gain := 0.0
		if least := count(cases, simple(best)).MAEHours; least > 0 {
			gain = 1 - count(cases, predictedHours).MAEHours/least
		}
		if r.Jobs != n || r.Best != names[best] || !alike(r.Figures, count(cases, predictedHours)) || math.Abs(r.Gain.Value-gain) > 1e-9 {
			t.Errorf("%d jobs: %d, best %s, gain %v; want %s, %v", n, r.Jobs, r.Best, r.Gain.Value, names[best], gain)
		}
		if known := r.MAE.IsBounded() && r.Gain.IsBounded(); known != (n > 3) {
			t.Errorf("%d jobs: an interval of the error is known: %+v", n, r.MAE)
		}
		if n < 8 {
			if len(r.Eighths) > 0 {
				t.Errorf("%d jobs have %d eighths", n, len(r.Eighths))
			}
			continue
		}
		if len(r.Eighths) != 8 {
			t.Fatalf("%d jobs have %d eighths", n, len(r.Eighths))
		}
		for i, p := range r.Eighths {
			part := cases[i*n/8 : (i+1)*n/8]
			least := math.Inf(1)
			inside := 0.0
			for b := range names {
				least = min(least, count(part, simple(b)).MAEHours)
			}
			for _, c := range part {
				if c.predicted.Contains(c.wait) {
					inside += 1 / float64(len(part))
				}
			}
			if !isNear(p.MAEHours, count(part, predictedHours).MAEHours) || !isNear(p.BestHours, least) || !isNear(p.Coverage, inside) {
				t.Errorf("%d jobs, eighth %d: %+v", n, i, p)
			}
		}
	}
	exact := drawCases(rng, 1)
	exact[0].simple = [baselines]float64{exact[0].wait, exact[0].wait, exact[0].wait, exact[0].wait}
	var r Report
	if err := r.judge(exact); err != nil || r.Gain.Value != 0 || r.Best != "last_100" {
		t.Errorf("baselines without an error: gain %v of %s, %v", r.Gain.Value, r.Best, err)
	}
	open := []judged{{wait: 1, predicted: uncertainty.Point(2)}}
	var of Report
	if err := of.judge(open); err != nil || of.WidthHours != 0 || of.Winkler != 0 {
		t.Errorf("no bounded interval: width %v, score %v, %v", of.WidthHours, of.Winkler, err)
	}
}

// Jobs from the first second of a range to before its last are judged, in
// blocks of days, or of weeks from eight weeks on.
func TestRangeAtItsEdges(t *testing.T) {
	for seconds, want := range map[int64]int{1: 1, 56*86400 - 1: 1, 56 * 86400: 7, 57 * 86400: 7} {
		if got := blockDays(1000, 1000+seconds); got != want {
			t.Errorf("%d s are judged in blocks of %d days, want %d", seconds, got, want)
		}
	}
	if got := baselineHours(wait.Rules{Mean: 3600, User: 7200, Shape: 1800, Class: 900}); got != [baselines]float64{1, 2, .5, .25} {
		t.Errorf("baselines %v", got)
	}
	var jobs []trace.Job
	for i := range int64(12) {
		jobs = append(jobs, trace.Job{User: "u", Nodes: 1, Limit: 3600, Submit: 100 * i, Start: 100*i + 60, End: 100*i + 70, NoStart: i == 5})
	}
	seen := 0
	r, err := Run(t.Context(), jobs, Range{From: 300, To: 900, Progress: func() { seen++ }}, wait.Settings{})
	if err != nil || r.Jobs != 5 || r.Unknown != 1 || seen != 9 || !isNear(r.MeanWaitHours, 1./60) || r.BlockDays != 1 {
		t.Errorf("%d judged, %d unknown, %d seen, %v", r.Jobs, r.Unknown, seen, err)
	}
	if _, err := Run(t.Context(), jobs, Range{From: 500, To: 600, Progress: func() {}}, wait.Settings{}); !errors.Is(err, ErrRange) {
		t.Errorf("no known wait: %v", err)
	}
	// The first judged job has no class to look at but those before it, which all waited a minute;
	// those of another class wait two.
	for i := range jobs {
		jobs[i].Start = jobs[i].Submit + 36 + 36*int64(i%2)
	}
	// Medians of 36, 72, ... by then: jobs 3 to 8 without 5, about the latest of one more each.
	want := 0.0
	var past []float64
	for i := range jobs {
		if i >= 3 && i <= 8 && i != 5 {
			v := slices.Clone(past)
			slices.Sort(v)
			want += math.Abs((v[len(v)/2]+v[(len(v)-1)/2])/2-float64(36+36*(i%2))) / 5 / 3600
		}
		if i != 5 {
			past = append(past, float64(36+36*(i%2)))
		}
	}
	if got := ClassMedian(jobs, 300, 900); !isNear(got, want) {
		t.Errorf("mean error %v, want %v", got, want)
	}
	if got := ClassMedian(jobs, 500, 600); got != 0 {
		t.Errorf("of no job %v", got)
	}
}
