package wait

import (
	"errors"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foretime/foretime/mirage/internal/lengths"
	"github.com/foretime/foretime/mirage/internal/trace"
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

func predictAll(t *testing.T, jobs []trace.Job, s Settings) []Distribution {
	t.Helper()
	f, err := NewForecaster(jobs, s)
	if err != nil {
		t.Fatal(err)
	}
	var out []Distribution
	for !f.Done() {
		d, _, err := f.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, d)
	}
	return out
}

// TestNothingLater: whatever happens at an instant or after it, forecasts up to
// then stay what they are: jobs that start, end or come later, or never come.
func TestNothingLater(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: one thread computes")
	}
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
	want := predictAll(t, jobs, Settings{Seed: 1})
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
		if diff := cmp.Diff(want[:cut+1], predictAll(t, other, Settings{Seed: 1})[:cut+1], cmp.AllowUnexported(Distribution{})); diff != "" {
			t.Errorf("from job %d on the log is another one, and forecasts before it too:\n%s", cut, diff)
		}
	}
}

// TestAsk: a job that is not in the log is asked for without being submitted, and the
// answer is that for a job of the log.
func TestAsk(t *testing.T) {
	jobs := queue(400, 3)
	f, err := NewForecaster(jobs, Settings{Level: 0.8})
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Reach(t.Context(), jobs[350].Submit); err != nil {
		t.Fatal(err)
	}
	want := predictAll(t, jobs[:351], Settings{Level: 0.8})[350]
	for range 2 {
		asked, err := f.Ask(jobs[350])
		if err != nil || !asked.Known() || asked.Level != 0.8 || !asked.Interval().Contains(asked.Value) {
			t.Errorf("%+v, %v", asked, err)
		}
		if !cmp.Equal(asked, want, cmp.AllowUnexported(Distribution{})) {
			t.Errorf("asked %+v, in the log %+v", asked, want)
		}
	}
}

// TestJobsThatWait: every fourth job waits for 20 days and the log is 16 days long, so none
// is ever seen to start. Counted with their age and their own predictions, as if those had
// come true, the mean error is 115 h; counted as waiting it is 67 h.
func TestJobsThatWait(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: one thread computes")
	}
	jobs := make([]trace.Job, 1500)
	for i := range jobs {
		at := int64(900 * i)
		jobs[i] = trace.Job{User: "short", Nodes: 1, Limit: 3600, Submit: at, Start: at + 600}
		if i%4 == 0 {
			jobs[i].User, jobs[i].Start = "held", at+20*day
		}
		jobs[i].End = jobs[i].Start + 600
	}
	sum := 0.0
	for i, d := range predictAll(t, jobs, Settings{Size: 100}) {
		sum += math.Abs(d.Value-float64(jobs[i].Wait())) / 3600
	}
	if got := sum / float64(len(jobs)); got > 90 {
		t.Errorf("mean error %.0f h", got)
	}
}

// TestBacklog: four of a user's jobs wait, and the last ten started one an hour until four
// hours ago: one in 1.3 hours.
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
	k := NewReplay(jobs)
	for i := range jobs {
		k.Advance(jobs[i].Submit, func(int) {})
		k.Submit(i)
	}
	k.Advance(46800, func(int) {})
	j := trace.Job{User: "u", Nodes: 1, Limit: 7200}
	g := k.groups(&j)
	x := k.features(&j, g, g.rules())
	if own, backlog := x[26], x[29]; own != math.Log1p(4) || backlog != logMinutes(4*4680) {
		t.Errorf("%v jobs of the user wait, for %v minutes, both as logarithms", own, backlog)
	}
}

// TestSize: a machine has the nodes that the caller names, or else the most that a job found
// in use.
func TestSize(t *testing.T) {
	jobs := []trace.Job{
		{User: "u", Nodes: 2, Limit: 900, Submit: 0, Start: 0, End: 900}, {User: "u", Nodes: 3, Limit: 900, Submit: 10, Start: 10, End: 300},
		{User: "u", Nodes: 1, Limit: 900, Submit: 20, Start: 20, End: 300}, {User: "u", Nodes: 4, Limit: 900, Submit: 1000, Start: 1000, End: 1900}, {User: "u", Nodes: 1, Limit: 900, Submit: 5000, Start: 5000, End: 5900},
	}
	for size, want := range map[int]float64{0: 5, 1: 1, 100: 100} {
		f, err := NewForecaster(jobs, Settings{Size: size})
		if err != nil {
			t.Fatal(err)
		}
		for !f.Done() {
			if _, _, err := f.Next(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if got := f.size(); got != want {
			t.Errorf("size %d: %v nodes, want %v", size, got, want)
		}
	}
}

// TestLatest: of the jobs that ended the latest count, more of all users than of one, and
// those of a user who comes back still do after many others.
func TestLatest(t *testing.T) {
	jobs := make([]trace.Job, lengths.OfAll+2*lengths.OfKind)
	for i := range jobs {
		at := int64(100 * i)
		jobs[i] = trace.Job{User: "u", Nodes: 1, Limit: 100, Submit: at, Start: at, End: at + min(int64(i), 50)}
		if i < 5 {
			jobs[i].User = "rare"
		}
	}
	jobs[3].Limit = 0 // nobody can say which share of it was used
	k := NewReplay(jobs)
	for i := range jobs {
		k.Advance(jobs[i].Submit, func(int) {})
		k.Submit(i)
	}
	k.Advance(math.MaxInt64, func(int) {})
	for name, tt := range map[string]struct {
		g    *group
		want int
	}{"all": {&k.all, lengths.OfAll}, "a user": {k.users["u"], lengths.OfKind}, "a rare one": {k.users["rare"], 4}} {
		if len(tt.g.ended) != tt.want || len(tt.g.latest) != tt.want || len(tt.g.running) > 0 {
			t.Errorf("%s: %d ended, the latest %d of them, %d run; want %d", name, len(tt.g.ended), len(tt.g.latest), len(tt.g.running), tt.want)
		}
	}
	if first := k.all.ended[0].Share; first != .5 { // those that were shorter came first
		t.Errorf("the shortest of the latest used %v of its limit", first)
	}
}

func TestScales(t *testing.T) {
	for _, s := range []float64{0, 1, 59, 3600, 1e6} {
		if got := fromScale(toScale(s)); math.Abs(got-s) > 1e-6*max(s, 1) {
			t.Errorf("eased: %v became %v", s, got)
		}
	}
}

// TestListWait: on two nodes one job runs an hour more, and three of an hour each wait for
// one, two and one nodes. The first starts now and the third when the running one has
// ended, beside none; a fourth of one node follows when the first has ended.
func TestListWait(t *testing.T) {
	job := func(nodes int, submit, start, end int64) trace.Job {
		return trace.Job{User: "u", Nodes: nodes, Limit: 3600, Submit: submit, Start: start, End: end}
	}
	jobs := []trace.Job{
		job(1, 0, 0, 3600), job(1, 3600, 3600, 7200), // an hour is what they take
		job(1, 7200, 7200, 10800),
		job(1, 7201, 90000, 93600), job(2, 7202, 90000, 93600), job(1, 7203, 90000, 93600),
	}
	r := NewReplay(jobs)
	for i := range jobs {
		r.Advance(jobs[i].Submit, func(int) {})
		r.Submit(i)
	}
	r.Advance(7204, func(int) {})
	j := job(1, 7204, 0, 0)
	if got := r.listWait(&j, r.groups(&j), 2); math.Abs(got-3600) > 5 {
		t.Errorf("%v s", got)
	}
	// A long list counts as work: an hour of the running job, and 1,200 hours of one node.
	many := make([]listed, 1200, 1201)
	for i := range many {
		many[i] = listed{nodes: 1, length: 3600}
	}
	if got, want := workWait(append(many, listed{nodes: 1, asked: true}), releases{{3600, 1}}, 2), 1201*3600/2.; math.Abs(got-want) > 1 {
		t.Errorf("a long list: %v s, want %v", got, want)
	}
}

// TestNewLog: a log begins with a job on one node of a hundred; ten of ten hours start a
// minute after their submission. The rules and the list share the first predictions, and
// the wrong list loses its weight after a few starts.
func TestNewLog(t *testing.T) {
	var jobs []trace.Job
	for i := range int64(30) {
		at := 600 * i
		jobs = append(jobs, trace.Job{ID: strconv.Itoa(int(i)), User: "u", Nodes: 1 + int(i), Submit: at, Start: at + 60, End: at + 36060, Limit: 36000})
	}
	for i, d := range predictAll(t, jobs, Settings{}) {
		most := 3600.0
		if i >= 5 {
			most = 600
		}
		if d.Value > most {
			t.Errorf("job %d: %.0f s predicted", i, d.Value)
		}
	}
}

func TestNewForecasterErrors(t *testing.T) {
	for _, s := range []Settings{{Level: 2}, {Level: -1}, {Size: -1}} {
		if _, err := NewForecaster(nil, s); !errors.Is(err, ErrSettings) {
			t.Errorf("%+v: %v", s, err)
		}
	}
}
