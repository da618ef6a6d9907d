package backtest

import (
	"errors"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foretime/foretime/mirage/internal/trace"
	"github.com/foretime/foretime/shared/uncertainty"
)

const day = 86400

// queue is a log of so many jobs of a few users, each of whom waits about as
// long as lately, and one who has a backlog.
func queue(n int, seed uint64) []trace.Job {
	rng := rand.New(rand.NewPCG(seed, 1))
	jobs := make([]trace.Job, n)
	at := int64(1_670_000_000)
	for i := range jobs {
		at += int64(600 * rng.ExpFloat64())
		user := rng.IntN(6)
		wait := int64(float64(user*user) * 1200 * (.5 + rng.Float64()))
		run := int64(3600 * rng.ExpFloat64())
		jobs[i] = trace.Job{
			ID: string(rune('a' + user)), User: string(rune('a' + user)), Nodes: 1 + rng.IntN(4), Priority: rng.Float64(),
			Submit: at, Start: at + wait, End: at + wait + run, Limit: max(run, 7200),
		}
	}
	return jobs
}

func predict(t *testing.T, jobs []trace.Job, s Settings) []uncertainty.Prediction {
	t.Helper()
	f, err := NewForecaster(jobs, s)
	if err != nil {
		t.Fatal(err)
	}
	var out []uncertainty.Prediction
	for !f.Done() {
		p, err := f.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, p)
	}
	return out
}

// TestNothingLater: whatever happens at an instant or after it, forecasts up to
// then stay what they are: jobs that start, end or come later, or never come.
func TestNothingLater(t *testing.T) {
	jobs := queue(300, 1)
	cuts := []int{0, 150, 299}
	for _, cut := range cuts[1:] { // some start and end in that very second
		at := jobs[cut].Submit
		for i := range cut {
			if j := &jobs[i]; i%2 == 0 && j.Start > at {
				j.Start = at
				j.End = max(j.End, at)
			} else if j.Start < at && j.End > at {
				j.End = at
			}
		}
	}
	want := predict(t, jobs, Settings{Seed: 1})
	for _, cut := range cuts {
		at := jobs[cut].Submit
		var other []trace.Job
		for i, j := range jobs {
			switch {
			case j.Start >= at: // it starts far later, and runs for another time
				j.Start += 5 * day
				j.End = j.Start + 7
			case j.End >= at:
				j.End += 3 * day
			}
			if i > cut && i%2 == 0 {
				continue
			}
			if i > cut {
				j.Nodes, j.User = 500, "late"
			}
			other = append(other, j)
		}
		if diff := cmp.Diff(want[:cut+1], predict(t, other, Settings{Seed: 1})[:cut+1]); diff != "" {
			t.Errorf("from job %d on the log is another one, and forecasts before it too:\n%s", cut, diff)
		}
	}
}

// TestRun: what users' waits have been tells what they will be, intervals hold
// what they promise, and neither threads nor a second run change anything.
func TestRun(t *testing.T) {
	jobs := queue(600, 2)
	from, to := jobs[300].Submit, jobs[560].Submit
	jobs[500].NoStart = true
	run := func(threads int) *Report {
		r, err := Run(t.Context(), jobs, Range{from, to, func() {}}, Settings{Seed: 1, Threads: threads})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := run(1)
	if r.Jobs != 259 || r.Unknown != 1 || r.BlockDays != 1 {
		t.Errorf("%d jobs, %d unknown, blocks of %d days", r.Jobs, r.Unknown, r.BlockDays)
	}
	// A wait is even within half of its user's mean, of 3.06 h on average: to
	// know the user leaves a quarter of that.
	if r.MAEHours > 1 || r.Spearman < .85 || r.MAEHours > r.Baselines["last_100"].MAEHours {
		t.Errorf("%+v, baselines %+v", r.Figures, r.Baselines)
	}
	if r.Coverage < .85 || r.Interval == nil || r.MeanWidthHours <= 0 || !r.Gain.Bounded() || r.MAE.Value != r.MAEHours && math.Abs(r.MAE.Value-r.MAEHours) > 1e-9 {
		t.Errorf("coverage %v, width %v, gain %v, error %v", r.Coverage, r.MeanWidthHours, r.Gain, r.MAE)
	}
	if diff := cmp.Diff(r, run(3)); diff != "" {
		t.Error("one thread and three differ:", diff)
	}
	if _, err := Run(t.Context(), jobs, Range{to + 400*day, to + 500*day, func() {}}, Settings{}); !errors.Is(err, ErrRange) {
		t.Errorf("nobody: %v", err)
	}
	if _, err := NewForecaster(jobs, Settings{Level: 2}); !errors.Is(err, ErrSettings) {
		t.Errorf("level 2: %v", err)
	}
}

// TestAsk: a job that is not in the log is asked for without being submitted,
// and its chances rise from 0 to 1.
func TestAsk(t *testing.T) {
	jobs := queue(400, 3)
	f, err := NewForecaster(jobs, Settings{Level: .8})
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Reach(t.Context(), jobs[350].Submit+1); err != nil {
		t.Fatal(err)
	}
	j := trace.Job{User: "f", Nodes: 2, Limit: 7200, Submit: jobs[350].Submit + 1}
	a, err := f.Ask(j)
	if err != nil || a.Value < 3600 || a.Value > 12*3600 || !a.Contains(a.Value) || a.Level != .8 {
		t.Errorf("%+v, %v", a, err)
	}
	if again, err := f.Ask(j); err != nil || again.Prediction != a.Prediction {
		t.Errorf("%+v, then %+v, %v", a, again, err)
	}
	if _, known := (Answer{}).By(.5); known {
		t.Error("a start is told of nothing")
	}
	none, _ := a.Chance(-1)
	half, known := a.Chance(a.Value)
	all, _ := a.Chance(1e9)
	for _, chance := range []float64{.02, .1, .33, .5, .95} {
		by, _ := a.By(chance)
		if got, _ := a.Chance(by); math.Abs(got-chance) > 1e-9 {
			t.Errorf("by %v s with a chance of %v, but %v", by, chance, got)
		}
	}
	if none != 0 || all < .999 || !known || math.Abs(half-.5) > 1e-9 { // the wait is the median of what is promised
		t.Errorf("chances %v, %v, %v", none, half, all)
	}
}

// TestBacklog: four of a user's jobs of a shape wait, and the last ten started one
// an hour until four hours ago, so that one starts in thirteen tenths of an hour.
func TestBacklog(t *testing.T) {
	var jobs []trace.Job
	add := func(user string, submit, start, end int64) {
		jobs = append(jobs, trace.Job{User: user, Nodes: 1, Limit: 7200, Submit: submit, Start: start, End: end})
	}
	for i := range int64(10) {
		add("u", i, i*3600, i*3600+3600)
	}
	add("v", 40000, 1e6, 1e6+3600)
	for range 4 {
		add("u", 40000, 1e6, 1e6+3600)
	}
	k := newKnown(jobs)
	for i := range jobs {
		k.advance(jobs[i].Submit, func(int) {})
		k.submit(i)
	}
	k.advance(46800, func(int) {})
	j := trace.Job{User: "u", Nodes: 1, Limit: 7200}
	g := k.groups(&j)
	user, same := k.queued(new(row), &j, g)
	if user != 4 || same != 4 || g[ofItsUser].startInterval(k.now) != 4680 {
		t.Errorf("%v of the user's pending, %v of the shape, one in %v s", user, same, g[ofItsUser].startInterval(k.now))
	}
}

func TestScales(t *testing.T) {
	for _, s := range []float64{0, 1, 59, 3600, 1e6} {
		if got := inverse(transformed(s)); math.Abs(got-s) > 1e-6*max(s, 1) {
			t.Errorf("eased: %v became %v", s, got)
		}
	}
}

// TestLists: on two nodes one job runs an hour more, three of an hour each wait
// for one, two and one nodes, the last of them the most important. In the order of
// submission the first starts now and the third when both have ended, an hour from
// now, beside none; a fourth of one node follows when that of two nodes has ended.
// Of those more important there is one, which takes the free node.
func TestLists(t *testing.T) {
	job := func(nodes int, submit, start, end int64, priority float64) trace.Job {
		return trace.Job{User: "u", Nodes: nodes, Limit: 3600, Submit: submit, Start: start, End: end, Priority: priority}
	}
	jobs := []trace.Job{
		job(1, 0, 0, 3600, 0), job(1, 3600, 3600, 7200, 0), // an hour is what they take
		job(1, 7200, 7200, 10800, 0),
		job(1, 7201, 90000, 93600, 1), job(2, 7202, 90000, 93600, 1), job(1, 7203, 90000, 93600, 9),
	}
	k := newKnown(jobs)
	for i := range jobs {
		k.advance(jobs[i].Submit, func(int) {})
		k.submit(i)
	}
	k.advance(7204, func(int) {})
	j := job(1, 7204, 0, 0, 5)
	// In the order of submission: now the first; at 3596 s that running ends and the
	// third fits, which the one of two nodes lets pass; at 3600 s the first has ended
	// and this one fits.
	running := k.releases()
	got := k.lists(&j, k.groups(&j), 2, running)
	if math.Abs(got[0]-3600) > 5 || math.Abs(got[1]-3596) > 5 {
		t.Errorf("%v", got)
	}
	// One that is as important goes first, for it was submitted before.
	same := job(1, 7204, 0, 0, 9)
	if got := k.lists(&same, k.groups(&same), 2, running); math.Abs(got[1]-3596) > 5 {
		t.Errorf("as important as one before it: %v", got)
	}
	// A long list counts as work: that of the running, and 1,200 hours of one node.
	many := make([]waiting, 1200, 1201)
	for i := range many {
		many[i] = waiting{nodes: 1, length: 3600}
	}
	if got, want := served(append(many, waiting{nodes: 1, asked: true}), running, 1, 2), (1200*3600.+3596)/2; math.Abs(got-want) > 1 {
		t.Errorf("a long list: %v s, want %v", got, want)
	}
}

// TestColdStart: a log begins with a job on one node of a hundred; ten of ten hours start
// a minute after their submission. The first forecasts go by the waits, not by a list on a
// machine of one node; a known size brings the list back.
func TestColdStart(t *testing.T) {
	var jobs []trace.Job
	for i := range int64(10) {
		at := 600 * i
		jobs = append(jobs, trace.Job{ID: strconv.Itoa(int(i)), User: "u", Nodes: 1 + int(i), Submit: at, Start: at + 60, End: at + 36060, Limit: 36000})
	}
	for size, most := range map[int]float64{0: 120, 8: 1e6} {
		f, err := NewForecaster(jobs, Settings{Size: size})
		if err != nil {
			t.Fatal(err)
		}
		longest := 0.0
		for !f.Done() {
			p, err := f.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			longest = max(longest, p.Value)
		}
		if longest > most || size > 0 && longest < 300 {
			t.Errorf("size %d: a forecast of %.0f s", size, longest)
		}
	}
}
