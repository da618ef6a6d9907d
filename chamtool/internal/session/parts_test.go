package session

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/foretime/foretime/chamtool/internal/config"
	"github.com/foretime/foretime/chamtool/internal/event"
	"github.com/foretime/foretime/chamtool/internal/perfmodel"
	"github.com/foretime/foretime/chamtool/internal/summary"
	"github.com/foretime/foretime/chamtool/internal/task"
	"github.com/foretime/foretime/chamtool/internal/testkit/ringtest"
)

// newParts returns a session whose clock has a tick of a nanosecond, with functions named by their
// address.
func newParts(t *testing.T, o Options) *Session {
	t.Helper()
	c, warnings := config.Read(func(string) (string, bool) { return "", false })
	if len(warnings) > 0 {
		t.Fatal(warnings)
	}
	now := uint64(1000)
	o.Config = c
	o.Clock = func() (uint64, uint64) { now += 1000; return now, now }
	s := New(o)
	s.clock.Show(o.Clock())
	return s
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-12*max(math.Abs(a), math.Abs(b)) }

// TestPatchedLoads wants loads as reported or their differences, whichever are closer to the
// measured ones; a difference over some iterations is divided by their number.
func TestPatchedLoads(t *testing.T) {
	for _, tt := range []struct {
		name     string
		reported map[int]float64
		measured []float64
		want     []float64
	}{
		{"each", map[int]float64{0: 2, 1: 3, 2: 4}, []float64{2, 3, 4}, []float64{2, 3, 4}},
		{"summed", map[int]float64{0: 2, 1: 5, 2: 9}, []float64{2, 3, 4}, []float64{2, 3, 4}},
		{"summed, one left out", map[int]float64{3: 2, 5: 8, 6: 12}, []float64{2, 3, 3, 4}, []float64{2, 3, 4}},
		{"nothing measured", map[int]float64{0: 2, 1: 5}, nil, []float64{2, 5}},
		{"only the first measured: both are as close", map[int]float64{0: 2, 1: 5}, []float64{2}, []float64{2, 5}},
		{"from the second iteration on", map[int]float64{1: 4, 2: 10}, []float64{4, 6}, []float64{4, 6}},
	} {
		if got := perIteration(tt.reported, tt.measured); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// TestIterationLoads adds seconds to iterations under way and leaves out empty ones.
func TestIterationLoads(t *testing.T) {
	s := newParts(t, Options{Rings: func() []*event.Ring { return nil }})
	o := (*observer)(s)
	s.load(0, 2)
	s.load(2, 5)
	s.load(0, 1)
	for range 3 {
		o.IterationReported(0)
	}
	s.load(2, 7) // it is over
	s.load(3, 4)
	o.IterationReported(0)
	if !slices.Equal(s.history, []float64{3, 0, 5, 4}) || s.rounds != 4 || len(s.loads) != 0 {
		t.Errorf("history %v, %d iterations, %v under way", s.history, s.rounds, s.loads)
	}
	if got := s.Loads(); !slices.Equal(got, []float64{3, 5, 4}) {
		t.Errorf("loads %v", got)
	}
	o.LoadReported(0, 3)
	o.LoadReported(0, 2)
	o.LoadReported(1, 4)
	if got := s.Loads(); !slices.Equal(got, []float64{3, 1}) { // a sum of 4 differs more from the 0 measured
		t.Errorf("reported loads %v", got)
	}
}

// TestRounds counts what happened in an iteration, in the first 20,000 of them.
func TestRounds(t *testing.T) {
	s := newParts(t, Options{})
	o := (*observer)(s)
	created := &task.Task[TaskState]{Iteration: 2, Created: 5}
	o.TaskCancelled(2)
	o.TaskCancelled(2)
	o.TaskExcluded(created)
	o.TaskExcluded(&task.Task[TaskState]{Iteration: 2})
	o.TaskSent(1)
	o.TimeWaited(1, 0.5)
	o.TimeWaited(1, 0.25)
	o.IterationEnded(0, 1.5)
	want := []summary.Round{{End: 1.5}, {Sent: 1, Waiting: 0.75}, {Created: 1}}
	if !slices.Equal(s.roundSummaries, want) {
		t.Errorf("%+v, want %+v", s.roundSummaries, want)
	}
	if s.span(19_999) == &s.unlisted || s.span(20_000) != &s.unlisted || len(s.roundSummaries) != 20_000 {
		t.Errorf("%d iterations", len(s.roundSummaries))
	}
	o.TaskSent(20_000)
	o.TimeWaited(20_000, 1)
	o.IterationEnded(20_000, 1)
	o.TaskCancelled(20_000)
	o.TaskExcluded(&task.Task[TaskState]{Iteration: 20_000, Created: 5})
	s.countUnlogged("f", 20_000, summary.Tasks{Count: 1})
	if s.unlogged.Count != 1 {
		t.Errorf("%+v", s.unlogged)
	}
}

// TestMeanSeconds wants a millisecond until a task has run.
func TestMeanSeconds(t *testing.T) {
	s := newParts(t, Options{})
	if s.MeanSeconds() != 1e-3 || s.Threads() != 1 {
		t.Errorf("%v s, %d threads", s.MeanSeconds(), s.Threads())
	}
	s.bodySeconds = 3
	s.runs = 2
	if s.MeanSeconds() != 1.5 {
		t.Errorf("%v s", s.MeanSeconds())
	}
}

// TestAnnounced predicts the tasks of the latest iteration that was announced.
func TestAnnounced(t *testing.T) {
	s := newParts(t, Options{Rings: func() []*event.Ring { return nil }})
	o := (*observer)(s)
	o.TaskAnnounced(0, 0x100, []int64{1})
	o.TaskAnnounced(0, 0x100, []int64{2})
	if got := s.PredictAnnounced(); len(got) != 2 || got[0] != 1e-3 {
		t.Errorf("%v", got)
	}
	o.TaskAnnounced(3, 0x100, []int64{1})
	o.TaskAnnounced(2, 0x100, []int64{1}) // a slower ring's
	o.TaskAnnounced(3, 0x100, []int64{1})
	o.TaskAnnounced(3, 0x200, []int64{1})
	if got := s.PredictAnnounced(); len(got) != 3 {
		t.Errorf("%v", got)
	}
	f := s.function(0x100)
	for range 10 {
		f.entry.Observe(f.entry.Footprint([]int64{1}), 0.25)
	}
	s.bodySeconds = 9
	s.runs = 3
	if got := s.PredictAnnounced(); !near(got[0], 0.25) || !near(got[1], 0.25) || got[2] != 3 {
		t.Errorf("%v, want 0.25 s twice and the mean of 3", got)
	}
}

// TestConstructCounts adds the difference of two counts of a thread to the iteration and to the
// function; ticks are nanoseconds.
func TestConstructCounts(t *testing.T) {
	s := newParts(t, Options{})
	before := event.Unread{Place: 0x100, Iteration: 1, Created: 2, Ended: 1, Ticks: 500, BegunReported: 1, Waited: 100}
	now := event.Unread{Place: 0x100, Iteration: 1, Created: 5, Ended: 4, Ticks: 3500, BegunReported: 2, Waited: 350, Longest: 2000}
	s.countConstruct(now, before)
	if r := s.roundSummaries[1]; r.Created != 4 || !near(r.Waiting, 250e-9) || r.Unlogged.Count != 3 {
		t.Errorf("%+v", r)
	}
	if u := s.unlogged.Functions["0x100"]; s.runs != 3 || !near(s.bodySeconds, 3e-6) || u == nil || u.Count != 3 || !near(u.Seconds, 3e-6) || !near(u.Longest, 2e-6) {
		t.Errorf("%d runs of %v s: %+v", s.runs, s.bodySeconds, u)
	}
	s.countConstruct(now, now)
	s.countConstruct(event.Unread{Iteration: 1, Ended: 1}, event.Unread{})
	s.countConstruct(event.Unread{Iteration: 20_000, Ticks: 1000}, event.Unread{})
	if u := s.unlogged.Functions["constructs beyond the first 255"]; s.runs != 4 || u == nil || u.Count != 1 || !near(u.Seconds, 1e-6) {
		t.Errorf("%d runs: %+v", s.runs, u)
	}
}

// TestCountsOfRings takes what each ring counted since the last drain.
func TestCountsOfRings(t *testing.T) {
	rings := []*ringtest.Ring{ringtest.New(64), ringtest.New(64)}
	s := newParts(t, Options{Rings: func() []*event.Ring { return ringtest.List(rings...) }, Dialect: event.OpenMP})
	for range 2 {
		rings[0].Count(0, event.Unread{Place: 0x100, Created: 2, Begun: 2, Ended: 2, Ticks: 1000})
		rings[1].Count(1, event.Unread{Place: 0x200, Created: 1, Begun: 1, Ended: 1, Ticks: 3000})
		s.Drain()
		s.Drain()
	}
	sum := s.Summary()
	if f, g := sum.Unlogged.Functions["0x100"], sum.Unlogged.Functions["0x200"]; f.Count != 4 || g.Count != 2 || !near(g.Seconds, 6e-6) || sum.Unlogged.Count != 6 {
		t.Errorf("%+v and %+v", f, g)
	}
}

// TestCriticalPath sums up parts by name, the longest first.
func TestCriticalPath(t *testing.T) {
	g := event.Graph{Work: 9000, Span: 6000, Lost: 2, Parts: []event.PathPart{
		{Place: 0x100, Ticks: 1000}, {Outside: true, Ticks: 3000}, {Place: 0x200, Ticks: 1500}, {Ticks: 500}, {Place: 0x100, Ticks: 1000},
	}}
	known := true
	s := newParts(t, Options{Graph: func() (event.Graph, bool) { return g, known }, Dialect: event.OpenMP})
	sum := s.Summary()
	if sum.Graph == nil || !near(sum.Graph.Work, 9e-6) || !near(sum.Graph.Span, 6e-6) || sum.Graph.Lost != 2 {
		t.Fatalf("%+v", sum.Graph)
	}
	want := []summary.PathPart{{Function: summary.Outside, Seconds: 3e-6}, {Function: "0x100", Seconds: 2e-6}, {Function: "0x200", Seconds: 1.5e-6}, {Function: summary.Others, Seconds: 5e-7}}
	for i, w := range want {
		if got := sum.Critical[i]; len(sum.Critical) != 4 || got.Function != w.Function || !near(got.Seconds, w.Seconds) {
			t.Errorf("%+v, want %+v", sum.Critical, want)
		}
	}
	known = false
	if sum := s.Summary(); sum.Graph != nil {
		t.Error("a graph that is not known")
	}
	for name, change := range map[string]func(*summary.Summary){
		"incomplete": func(out *summary.Summary) { out.Incomplete = 1 },
		"open":       func(out *summary.Summary) { out.Created, out.Dialect = 1, event.OpenMP.String() },
		"none":       func(*summary.Summary) {},
	} {
		known = true
		out := &summary.Summary{}
		change(out)
		if s.addGraph(out); (out.Graph != nil) != (name == "none") {
			t.Errorf("%s: graph %+v", name, out.Graph)
		}
	}
}

// TestNamesOfBodies names a task by its body where the body has a name.
func TestNamesOfBodies(t *testing.T) {
	looked := 0
	s := newParts(t, Options{Body: func(address uint64) (string, string) {
		looked++
		return map[uint64]string{0x10: "a.c:7"}[address], "b"
	}})
	named, plain := &task.Task[TaskState]{Entry: 0x100, Body: 0x10}, &task.Task[TaskState]{Entry: 0x200, Body: 0x20}
	for range 2 {
		if f := s.functionOf(named); f.name != "a.c:7" || f != s.function(0x100) {
			t.Errorf("%q", f.name)
		}
		if f := s.functionOf(plain); f.name != "0x200" || f != s.function(0x200) {
			t.Errorf("%q", f.name)
		}
	}
	if f := s.functionOf(&task.Task[TaskState]{Entry: 0x300}); f.name != "0x300" || looked != 2 || len(s.order) != 3 {
		t.Errorf("%q, %d looked up, %d functions", f.name, looked, len(s.order))
	}
}

// TestWarningsAreBounded keeps the first hundred.
func TestWarningsAreBounded(t *testing.T) {
	s := newParts(t, Options{})
	for i := range 105 {
		s.Warn(fmt.Errorf("warning %d", i))
	}
	if w := s.Summary().Warnings; len(w) != 100 || w[99] != "warning 99" {
		t.Errorf("%d warnings", len(w))
	}
}

// broken is a log whose medium is full.
type broken struct{ closed bool }

func (b *broken) Write([]byte) (int, error) { return 0, errors.New("full") }
func (b *broken) Close() error              { b.closed = true; return errors.New("late") }

// TestFullMedium says that the log is incomplete, and that it could not be closed.
func TestFullMedium(t *testing.T) {
	ring := ringtest.New(64)
	s := newParts(t, Options{
		Rings:  func() []*event.Ring { return ringtest.List(ring) },
		Create: func(string) (io.WriteCloser, error) { return &broken{}, nil },
	})
	s.load(0, 1)
	(*observer)(s).IterationReported(0)
	text := strings.Join(s.Close().Warnings, "; ")
	if !strings.Contains(text, "incomplete: full") || !strings.Contains(text, "late") {
		t.Errorf("warnings: %s", text)
	}
}

// TestOwnTime measures the CPU time of the tool's calls, never less than none.
func TestOwnTime(t *testing.T) {
	times := []time.Duration{5, 8, 20, 13, 30, 31}
	s := newParts(t, Options{CPUTime: func() time.Duration {
		now := times[0]
		times = times[1:]
		return now
	}})
	s.spend()()
	s.spend()()
	s.spend()()
	if s.cpu != 4 {
		t.Errorf("%v, want 3 + 0 + 1", s.cpu)
	}
	s.options.CPUTime = nil
	s.cpu = 2 * time.Second
	s.bodySeconds = 8
	if sum := s.Summary(); sum.ToolCPUPercent != 25 || sum.ToolCPUSeconds != 2 || sum.TaskSeconds != 8 {
		t.Errorf("%v %% of %v s", sum.ToolCPUPercent, sum.TaskSeconds)
	}
}

// TestRowsBeyondTheLimit counts the runs that the first log has no room for.
func TestRowsBeyondTheLimit(t *testing.T) {
	s := newParts(t, Options{Create: func(string) (io.WriteCloser, error) { return nopCloser{io.Discard}, nil }})
	s.logs[0].w.SetLimit(1)
	s.SetFrequency(event.Frequencies{2000})
	o := (*observer)(s)
	for i, flag := range []event.Flag{event.Local, event.Remote, event.Local} {
		tk := &task.Task[TaskState]{Token: uint64(i + 1), Entry: 0x100, Created: 1, Flag: flag}
		o.TaskCreated(tk, []int64{8})
		o.TaskStarted(tk, false)
		o.TaskEnded(tk, task.Run{Seconds: float64(i + 1)})
	}
	o.TaskEnded(&task.Task[TaskState]{}, task.Run{Seconds: 1}) // its creation is not known
	o.TaskStarted(&task.Task[TaskState]{}, false)
	u := s.unlogged
	if u == nil || u.Count < 2 || u.Longest != 3 || u.Remote != 1 || s.runs != 3 || s.bodySeconds != 6 || s.tooShort != 0 {
		t.Errorf("%+v, %d runs", u, s.runs)
	}
	if m := s.moment(&task.Task[TaskState]{Core: 0, Lane: 4, Created: 9}); m != (perfmodel.Moment{Created: 9, MHz: 2000, Worker: 5}) {
		t.Errorf("%+v", m)
	}
	if m := s.moment(&task.Task[TaskState]{Core: 1}); m.MHz != 0 || m.Worker != 1 {
		t.Errorf("%+v", m)
	}
	learned := s.TakeLearned(time.Unix(7, 0))
	if learned.Len() != 1 || len(learned.Runs("0x100")) != 3 {
		t.Errorf("%d functions learned", learned.Len())
	}
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }
