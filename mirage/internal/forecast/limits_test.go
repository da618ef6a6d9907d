package forecast

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/foretime/foretime/mirage/internal/simulator"
	"github.com/foretime/foretime/mirage/internal/slurmview"
	"github.com/foretime/foretime/mirage/internal/trace"
	"github.com/foretime/foretime/mirage/internal/wait"
	"github.com/foretime/foretime/shared/stats"
	"github.com/foretime/foretime/shared/uncertainty"
)

func isNear(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(1, math.Abs(b)) }

// TestReachableGain checks the gain that four of five reach, rounded up to whole futures.
func TestReachableGain(t *testing.T) {
	for n, want := range map[int]float64{0: 0, 1: 1, 2: 1, 4: 1, 5: 2, 6: 2, 9: 2, 10: 3} {
		var values []float64
		for i := range n {
			values = append(values, float64(n-i))
		}
		if got := reachableGain(values); got != want {
			t.Errorf("of %d: %v, want %v", n, got, want)
		}
	}
}

// Ten minutes and a tenth of the wait are enough, a second less is not.
func TestGainsAtTheirEdges(t *testing.T) {
	for _, tt := range []struct {
		wait, other float64
		want        float64 // seconds; 0 is no line
	}{
		{600, 0, 600}, {599, 0, 0}, {6000, 5400, 600}, {6000, 5401, 0}, {8000, 7200, 800}, {8000, 7201, 0}, {5000, 4400, 600}, {5000, 4401, 0},
	} {
		a := &Answer{Wait: uncertainty.Prediction{Level: .8}}
		same := func(v float64) []float64 { return []float64{v, v, v, v, v} }
		shapes := []shape{{name: "never"}, {name: "small"}, {name: "fair"}}
		err := a.compare(same(tt.wait), shapes, func(s shape) ([]float64, error) {
			switch s.name {
			case "never":
				return nil, nil
			case "small":
				return same(tt.wait), nil
			}
			return same(tt.other), nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if tt.want == 0 && len(a.Alternatives) > 0 || tt.want > 0 && (len(a.Alternatives) != 1 || !isNear(a.Alternatives[0].EarlierHours, tt.want/3600) || !isNear(a.Alternatives[0].Wait.Value, tt.other/3600)) {
			t.Errorf("%v s in place of %v: %+v", tt.other, tt.wait, a.Alternatives)
		}
	}
	// Three futures of five are not enough, whatever they gain; the earliest shape comes first.
	a := &Answer{}
	err := a.compare([]float64{9e3, 9e3, 9e3, 9e3, 9e3}, []shape{{name: "3"}, {name: "4"}, {name: "5"}}, func(s shape) ([]float64, error) {
		return map[string][]float64{"3": {0, 0, 0, 9e3, 9e3}, "4": {4e3, 4e3, 4e3, 4e3, 9e3}, "5": {3e3, 3e3, 3e3, 3e3, 3e3}}[s.name], nil
	})
	if err != nil || len(a.Alternatives) != 2 || a.Alternatives[0].Shape != "5" || a.Alternatives[1].Shape != "4" {
		t.Errorf("%+v, %v", a.Alternatives, err)
	}
}

// TestCheaperShapes checks a half and a quarter of the limit, and of the nodes with their resources.
func TestCheaperShapes(t *testing.T) {
	job := trace.Job{Nodes: 3, Limit: 7200, Need: &trace.Need{CPUs: 9, GPUs: 5, MemoryMB: 8}}
	var got []string
	for _, s := range cheaper(job) {
		got = append(got, fmt.Sprintf("%s: %d nodes, %d s, %d CPUs, %d GPUs, %d MB", s.name, s.job.Nodes, s.job.Limit, s.job.Need.CPUs, s.job.Need.GPUs, s.job.Need.MemoryMB))
	}
	want := []string{
		"a limit of 1h: 3 nodes, 3600 s, 9 CPUs, 5 GPUs, 8 MB", "1 node: 1 nodes, 7200 s, 4 CPUs, 2 GPUs, 4 MB",
		"a limit of 30m: 3 nodes, 1800 s, 9 CPUs, 5 GPUs, 8 MB",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%q, want %q", got, want)
	}
	if got := cheaper(trace.Job{Nodes: 4, Limit: trace.Unlimited}); len(got) != 2 || got[0].job.Nodes != 2 || got[1].job.Nodes != 1 {
		t.Errorf("without a limit: %+v", got)
	}
}

// TestAskedQuantiles checks the chance of a start by a time, and the lead whose overlap and gap cost
// the same.
func TestAskedQuantiles(t *testing.T) {
	waits := make([]float64, 101)
	for i := range waits {
		waits[i] = 72 * float64(i)
	}
	d := wait.FromSamples(.8, stats.Sort(waits))
	const now = 1772452800 // noon
	a := newAnswer(d, now, Local)
	if !isNear(a.Wait.Value, 1) || !isNear(a.Wait.Low, .2) || !isNear(a.Wait.High, 1.8) || a.Start.Unix() != now+3600 || a.At.Unix() != now {
		t.Errorf("%+v", a)
	}
	if err := a.addQuantiles(Question{By: "now+30minutes", Overlap: 3}, d, time.UTC, now); err != nil {
		t.Fatal(err)
	}
	if !isNear(*a.Chance, .25) || !isNear(a.Handover.LeadHours, .5) || a.Handover.OverlapCost != 3 || len(a.Handover.Curve) != 11 || a.By.Unix() != now+1800 {
		t.Errorf("chance %v, handover %+v", *a.Chance, a.Handover)
	}
	for by, good := range map[string]bool{"2026-03-02T12:00:00": true, "2026-03-02T11:59:59": false, "soon": false} {
		if err := (&Answer{}).addQuantiles(Question{By: by}, d, time.UTC, now); (err == nil) != good {
			t.Errorf("by %s: %v", by, err)
		}
	}
	plain, open := &Answer{}, &Answer{Unread: []string{"x"}}
	for _, a := range []*Answer{plain, open} {
		if err := a.addQuantiles(Question{}, d, time.UTC, now); err != nil || len(a.Notes) > 0 || a.Handover != nil || a.Chance != nil {
			t.Errorf("nothing was asked: %+v, %v", a, err)
		}
	}
	if err := open.addQuantiles(Question{Overlap: .5}, d, time.UTC, now); err != nil || len(open.Notes) != 1 {
		t.Errorf("an open end: %q, %v", open.Notes, err)
	}
}

// TestQuestionLimits checks each number of a question at its limit and beyond.
func TestQuestionLimits(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*Question)
		good   bool
	}{
		"a minute on a node": {func(*Question) {}, true},
		"no node":            {func(q *Question) { q.Nodes = 0 }, false},
		"59 seconds":         {func(q *Question) { q.Limit = 59 }, false},
		"a small cost":       {func(q *Question) { q.Overlap = 1e-9 }, true},
		"a negative one":     {func(q *Question) { q.Overlap = -1e-9 }, false},
		"no number":          {func(q *Question) { q.Overlap = math.NaN() }, false},
		"an endless one":     {func(q *Question) { q.Overlap = math.Inf(1) }, false},
		"negative CPUs":      {func(q *Question) { q.CPUs = -1 }, false},
		"negative GPUs":      {func(q *Question) { q.GPUs = -1 }, false},
		"negative memory":    {func(q *Question) { q.MemoryMB = -1 }, false},
		"one of each":        {func(q *Question) { q.CPUs, q.GPUs, q.MemoryMB = 1, 1, 1 }, true},
	} {
		q := Question{Nodes: 1, Limit: 60}
		tt.change(&q)
		if err := q.check(); (err == nil) != tt.good {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, tt := range []struct {
		r    Resources
		want *trace.Need
	}{
		{Resources{}, nil}, {Resources{CPUs: 5, Exclusive: true}, nil}, {Resources{CPUs: 5}, &trace.Need{CPUs: 5}}, {Resources{GPUs: 2}, &trace.Need{CPUs: 3, GPUs: 2}}, {Resources{MemoryMB: 7}, &trace.Need{CPUs: 3, MemoryMB: 7}},
	} {
		if got := tt.r.Need(3); (got == nil) != (tt.want == nil) || got != nil && fmt.Sprint(*got) != fmt.Sprint(*tt.want) {
			t.Errorf("%+v: %+v, want %+v", tt.r, got, tt.want)
		}
	}
	if j := (Question{Nodes: 2, Limit: NoLimit}).Job(); j.Limit != 0 {
		t.Errorf("no limit is %d s", j.Limit)
	}
	if a := (Question{Nodes: 2, Limit: 60}).Ask(); a.Tasks != 1 {
		t.Errorf("%d tasks", a.Tasks)
	}
}

// TestJobInWords checks a job's parts, each where it has any.
func TestJobInWords(t *testing.T) {
	long := slurmview.Ask{Job: trace.Job{Nodes: 2, Limit: 3600, Partition: "p", Need: &trace.Need{CPUs: 1, GPUs: 2, MemoryMB: 3, Exclusive: true}}, Tasks: 2}
	long.GPUType, long.After = "a", "5,6+60"
	if got, want := describeJob(trace.Nodes, long), "2 nodes, 1 CPU, 2 a GPUs, 3 MB, exclusive, limit 1h, partition p, after job 5, 60 s after job 6 begins, 2 array tasks"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	short := slurmview.Ask{Job: trace.Job{Nodes: 1, Limit: trace.Unlimited, Need: &trace.Need{}}, Tasks: 1}
	short.Features = "(null)"
	if got, want := describeJob(trace.CPUs, short), "1 cpu, no limit"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestPartsOfWaits checks parts in hours, if the wait is not for room alone.
func TestPartsOfWaits(t *testing.T) {
	if got := partsOf(simulator.Wait{Seconds: 3600}); got != nil {
		t.Errorf("for room alone: %+v", got)
	}
	if got := partsOf(simulator.Wait{Seconds: 7200, Eligible: 900, Dependency: 1800, Limits: 3600}); got == nil || *got != (Parts{.25, .5, 1, .25}) {
		t.Errorf("%+v", got)
	}
	if notes := queuedNotes(&slurmview.Job{Reason: "None"}); len(notes) != 0 {
		t.Errorf("no reason and no start: %q", notes)
	}
}

// TestPropertiesOfLogs checks the largest jobs, the running ones and the mean use of the last week.
func TestPropertiesOfLogs(t *testing.T) {
	const week = 7 * 86400
	jobs := []trace.Job{
		{User: "u", Partition: "p", Nodes: 4, Limit: 50, Submit: 0, Start: 0, End: 100},
		{User: "v", Partition: "q", Nodes: 2, Limit: 70, Submit: 100, Start: 200, End: 300},
		{User: "u", Partition: "q", Nodes: 1, Limit: trace.Unlimited, Submit: 399, Start: 400, End: 1e6},
	}
	for _, tt := range []struct {
		at    int64
		used  int
		usual float64
	}{
		{100, 4, 4}, {101, 0, 4 * 100 / 101.}, {200, 0, 400 / 200.}, {201, 2, 402 / 201.}, {300, 2, 600 / 300.}, {400, 0, 600 / 400.}, {401, 1, 600 / 400.}, {5000, 1, 600 / 400.},
	} {
		s := propertiesOf(jobs, tt.at)
		if s.used != tt.used || !isNear(s.usual, tt.usual) || s.nodes != 4 || s.limit != 70 || s.last != 399 || len(s.users) != 2 || s.partitions["q"] != 2 {
			t.Errorf("at %d: %d used of the usual %v, want %d of %v; %+v", tt.at, s.used, s.usual, tt.used, tt.usual, s)
		}
	}
	jobs = append(jobs, trace.Job{Nodes: 3, Submit: week + 49, Start: week + 49, End: week + 50})
	// The week is that from 50 on: 50 s of the first job, 100 s of the second, the third, and a second.
	if s, want := propertiesOf(jobs, 2*week), (4*50+2*100+(week+50-400)+3)/float64(week); !isNear(s.usual, want) {
		t.Errorf("usual %v, want %v", s.usual, want)
	}
	if s := propertiesOf(nil, 5); s.usual != 0 || len(s.names()) != 0 {
		t.Errorf("of no job: %+v", s)
	}
	s := propertiesOf(jobs[:3], 400)
	for name, want := range map[string]string{"": "q", "p": "p", "x": ""} {
		if got, err := s.partition(name); got != want || (err == nil) != (want != "") {
			t.Errorf("partition %q: %q, %v", name, got, err)
		}
	}
	for _, tt := range []struct {
		job  trace.Job
		name string
		want string
	}{
		{trace.Job{Nodes: 4, Limit: 70, Submit: 399 + 3600, User: "u", Partition: "q"}, "q", ""},
		{trace.Job{Nodes: 5, Limit: 70, Submit: 399, Partition: "q"}, "q", "more than 4 nodes"},
		{trace.Job{Nodes: 4, Limit: 71, Submit: 399, Partition: "q"}, "q", "above "},
		{trace.Job{Nodes: 4, Limit: 70, Submit: 399, User: "x", Partition: "q"}, "q", "user x has no job"},
		{trace.Job{Nodes: 4, Limit: 70, Submit: 399 + 3601, Partition: "q"}, "q", "jobs since then are unknown"},
		{trace.Job{Nodes: 4, Limit: 70, Submit: 399, Partition: "q"}, "", "for partition q, which has most jobs; the log also has p"},
	} {
		notes := s.notes(Question{Partition: tt.name}, tt.job)
		if text := strings.Join(notes, "; "); len(notes) > 1 || (text == "") != (tt.want == "") || !strings.Contains(text, tt.want) {
			t.Errorf("%+v: notes %q, want %q", tt.job, notes, tt.want)
		}
	}
	s.limit = 0
	if notes := s.notes(Question{Partition: "q"}, trace.Job{Nodes: 1, Limit: 1, Submit: 399}); len(notes) != 1 || !strings.Contains(notes[0], "no time limits") {
		t.Errorf("without limits: %q", notes)
	}
}

// A note on widths needs ten jobs within a factor of two among the fifty latest.
func TestWideNotes(t *testing.T) {
	asked := trace.Job{Nodes: 4, Limit: 400}
	like := func(n int, change func(*trace.Job)) (jobs []trace.Job) {
		for i := range n {
			j := trace.Job{Nodes: 4, Limit: 400, Submit: int64(i), Start: int64(i) + 100*int64(i+1)}
			change(&j)
			jobs = append(jobs, j)
		}
		return jobs
	}
	same := func(*trace.Job) {}
	for _, tt := range []struct {
		name string
		jobs []trace.Job
		at   int64
		want string
	}{
		{"nine", like(9, same), 1e6, "only 9 jobs"}, {"ten", like(10, same), 1e6, "of the last 10 jobs"}, {"sixty", like(60, same), 1e6, "of the last 50 jobs"},
		{"half the nodes", like(10, func(j *trace.Job) { j.Nodes = 2 }), 1e6, "of the last 10"}, {"fewer", like(10, func(j *trace.Job) { j.Nodes = 1 }), 1e6, "only 0 jobs"},
		{"twice the nodes", like(10, func(j *trace.Job) { j.Nodes = 8 }), 1e6, "of the last 10"}, {"more", like(10, func(j *trace.Job) { j.Nodes = 9 }), 1e6, "only 0 jobs"},
		{"half the limit", like(10, func(j *trace.Job) { j.Limit = 200 }), 1e6, "of the last 10"}, {"less", like(10, func(j *trace.Job) { j.Limit = 199 }), 1e6, "only 0 jobs"},
		{"no start", like(10, func(j *trace.Job) { j.NoStart = true }), 1e6, "only 0 jobs"}, {"started by then", like(10, same), 1009, "only 9 jobs"}, {"and a second later", like(10, same), 1010, "of the last 10"},
	} {
		if got := wideNote(tt.jobs, asked, tt.at); !strings.Contains(got, tt.want) {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
	// Waits of 100, 200, ... 1100 s: 200 and 1000 are at a tenth and nine tenths.
	got := wideNote(like(11, same), asked, 1e6)
	for _, want := range []string{seconds(200).String(), seconds(1000).String()} {
		if !strings.Contains(got, "at most "+want) && !strings.Contains(got, "at least "+want) {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// A job as large as the cluster fits, or as the largest use if that is unknown.
func TestRoomOfLogs(t *testing.T) {
	for _, tt := range []struct {
		size, peak, nodes int
		good              bool
	}{
		{8, 5, 8, true}, {8, 5, 9, false}, {0, 5, 5, true}, {0, 5, 6, false}, {1, 0, 1, true}, {1, 0, 2, false},
	} {
		if err := (&Log{size: tt.size, peak: tt.peak}).fits(tt.nodes); (err == nil) != tt.good {
			t.Errorf("%d nodes of %d, at most %d in use: %v", tt.nodes, tt.size, tt.peak, err)
		}
	}
	for _, tt := range []struct {
		used int
		open []trace.Job
		note bool
	}{
		{4, nil, true}, {5, nil, false}, {0, []trace.Job{{}}, false},
	} {
		l := &Log{t: &trace.Trace{Open: tt.open, Zone: time.UTC}, seen: &properties{used: tt.used, usual: 10}}
		if got := l.queueNotes(); (len(got) == 1) != tt.note {
			t.Errorf("%d of the usual 10 in use: %q", tt.used, got)
		}
	}
	for n, want := range map[int]bool{1: false, 2: true} {
		if got := LogSettings([]trace.Job{{Partition: "a"}, {Partition: "b"}}[:n], 7, 9); got != (wait.Settings{Size: 7, Partitioned: want, Seed: 1, From: 9}) {
			t.Errorf("%d partitions: %+v", n, got)
		}
	}
}

// TestQueueOfALog checks the waiting, running and ended jobs of a partition at a time, under a
// limit that three users seem to have.
func TestQueueOfALog(t *testing.T) {
	var jobs []trace.Job
	add := func(user string, submit, start, end int64) {
		jobs = append(jobs, trace.Job{ID: fmt.Sprint(len(jobs)), User: user, Partition: "p", Nodes: 2, Limit: 1000, Submit: submit, Start: start, End: end})
	}
	for i, user := range []string{"a", "b", "c"} {
		add(user, int64(i), int64(10*i+10), int64(10*i+20))
	}
	add("a", 50, 60, 100) // ends at this second
	add("b", 51, 100, 200)
	jobs = append(jobs, trace.Job{User: "d", Partition: "q", Nodes: 7, Limit: 9, Submit: 52, Start: 53, End: 300})
	add("c", 100, 100, 200)
	for users, want := range map[int]int{3: 1, 2: 0} {
		log := jobs
		if users == 2 {
			log = append([]trace.Job{}, jobs...)
			log[2].User = "a"
		}
		l := &Log{jobs: log, at: 100, queues: map[string]*simulator.Simulator{}}
		sim, err := l.queue("p")
		if err != nil {
			t.Fatal(err)
		}
		c := sim.Workload().Config
		if sim.Now() != 100 || sim.Queue().Len()+len(sim.Nodes().Running()) != 2 || c.Nodes != 2 || c.UserLimit != want || c.LoggedPriority {
			t.Errorf("%d users: %d pending, %d running on %d nodes, user limit %d; want %d", users, sim.Queue().Len(), len(sim.Nodes().Running()), c.Nodes, c.UserLimit, want)
		}
		if again, err := l.queue("p"); again != sim || err != nil {
			t.Error("the queue is made twice")
		}
		if none, err := l.queue("x"); none != nil || err != nil {
			t.Errorf("a partition without jobs: %v, %v", none, err)
		}
	}
}

// Pruning keeps the twenty latest files, and files of others.
func TestPrunedCache(t *testing.T) {
	c := &Cache{Dir: t.TempDir()}
	var names []string
	for i := range 22 {
		name := filepath.Join(c.Dir, fmt.Sprintf("%02d%s", (7*i)%22, suffix))
		names = append(names, name)
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		at := time.Unix(int64(1e9+i), 0)
		if err := os.Chtimes(name, at, at); err != nil {
			t.Fatal(err)
		}
	}
	other := filepath.Join(c.Dir, "other")
	if err := os.WriteFile(other, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := c.prune(); err != nil {
		t.Fatal(err)
	}
	for i, name := range append(names, other) {
		if _, err := os.Stat(name); (err == nil) != (i >= 2) {
			t.Errorf("file %d: %v", i, err)
		}
	}
}
