package simulator

import (
	"math"
	"slices"
	"strconv"
	"testing"

	"github.com/foretime/foretime/mirage/internal/cluster"
	"github.com/foretime/foretime/mirage/internal/lengths"
	"github.com/foretime/foretime/mirage/internal/trace"
)

// steady is a machine of one node on which each job of ten minutes comes when
// the one before ends, each with a limit of an hour.
func steady(t *testing.T, jobs int) *Simulator {
	t.Helper()
	var table []trace.Job
	for i := range int64(jobs) {
		table = append(table, trace.Job{User: "u", Nodes: 1, Submit: i * 600, Start: i * 600, End: i*600 + 600, Limit: 3600})
	}
	w, err := NewWorkload(table, Config{Machine: cluster.Machine{Nodes: 1}, Rules: cluster.Defaults(cluster.FCFS)})
	if err != nil {
		t.Fatal(err)
	}
	return w.New()
}

// TestLengths: a user whose jobs all used a sixth of their limits goes on so but
// for the few that count as anybody's, who is the same; before one has ended two
// fifths of what is left are used on
// average.
func TestLengths(t *testing.T) {
	s := steady(t, 100)
	s.RunUntil(300)
	sum := 0.
	for number := range 2000 {
		sum += float64(s.Lengths().Draw(number)(0, 300)) / 2000
	}
	if want := 300 + 1320.; math.Abs(sum-want) > 60 { // four standard errors are 77
		t.Errorf("before any has ended: %.0f s on average, want %.0f", sum, want)
	}
	s.RunUntil(50*600 + 300)
	for number := range 20 {
		draw := s.Lengths().Draw(number)
		if got := draw(60, 0); got < 600 || got > 601 {
			t.Errorf("draw %d: %d s, want 600", number, got)
		}
		if a, b := draw(60, 100), s.Lengths().Draw(number)(60, 100); a != b {
			t.Errorf("draw %d: %d, then %d", number, a, b)
		}
	}
	if sum := uniform(1, 2) + uniform(2, 1); sum <= 0 || sum >= 2 || uniform(1, 2) == uniform(2, 1) {
		t.Error("uniform", sum)
	}
}

// TestIn: a job that has run for five minutes holds the machine until its length
// in the future, or the bound, and the simulation stays as it is.
func TestIn(t *testing.T) {
	s := steady(t, 100)
	s.RunUntil(50*600 + 300)
	full := Future{Length: func(int32, int64) int64 { return math.MaxInt32 }}
	service := trace.Job{User: "s", Nodes: 1, End: 60, Limit: 60}
	for _, tt := range []struct {
		future Future
		bound  int64
		want   int64
	}{
		{full, 1e6, 3300}, {Future{Length: full.Length, Back: 3600}, 1e6, 3300}, {full, 1000, 1000},
		{Future{Length: func(_ int32, ran int64) int64 { return ran }}, 1e6, 0},
	} {
		if got, err := s.WaitIn(tt.future, service, tt.bound); err != nil || got.Seconds != tt.want {
			t.Errorf("%+v: %d s, %v; want %d", tt, got.Seconds, err, tt.want)
		}
	}
	if s.Now() != 50*600+300 || s.Queue().Len() != 0 {
		t.Error("the simulation has moved")
	}
	if _, err := s.WaitIn(full, trace.Job{Nodes: 2}, 1); err == nil {
		t.Error("two nodes of one")
	}
}

// TestFed: three more important jobs that came in the last half hour come again
// while the machine is taken for an hour, and are served before.
func TestFed(t *testing.T) {
	rules := cluster.Defaults(cluster.Slurm)
	rules.LoggedPriority = true
	var table []trace.Job
	for _, at := range []int64{0, 600, 1700} {
		table = append(table, trace.Job{User: "u", Nodes: 1, Priority: 1e6, Submit: at, Start: at, End: at + 300, Limit: 3600})
	}
	table = append(table, trace.Job{User: "late", Nodes: 1, Priority: 1e6, Submit: 2000, Start: 2000, End: 5000, Limit: 3600})
	w, err := NewWorkload(table, Config{Machine: cluster.Machine{Nodes: 1}, Rules: rules})
	if err != nil {
		t.Fatal(err)
	}
	s := w.New()
	s.RunUntil(1750)
	future := Future{Length: func(int32, int64) int64 { return 3600 }}
	service := trace.Job{User: "s", Nodes: 1, End: 60, Limit: 60}
	for back, want := range map[int64]int64{0: 3550, 1800: 3550 + 3*3600} {
		future.Back = back
		if got, err := s.WaitIn(future, service, 1e6); err != nil || got.Seconds < want || got.Seconds > want+3*rules.Backfill.IntervalSeconds {
			t.Errorf("from %d s ago on: %d s, %v; want %d", back, got.Seconds, err, want)
		}
	}
}

// TestUses: a running job has used its time since the start; of a user's jobs the latest
// to start count, as many as the kind has room for.
func TestUses(t *testing.T) {
	s := steady(t, 100)
	s.RunUntil(90*600 + 300)
	ended := 0
	for _, u := range s.Lengths().uses(kind{user: s.job(0).user}) {
		switch {
		case !u.Running:
			ended++
		case math.Abs(u.Share-300./3600) > 1e-9:
			t.Errorf("five minutes of an hour are a share of %v", u.Share)
		}
	}
	if ended != lengths.OfKind-1 {
		t.Errorf("%d ended jobs of the user count, want %d besides the running one", ended, lengths.OfKind-1)
	}
}

// TestLengthsOfACohort: jobs of a tenth and of their whole limit alternate. Ten at a time
// start every six minutes, so the latest to end are mostly short, and the long ones still
// run; half of all are long all the same.
func TestLengthsOfACohort(t *testing.T) {
	st := Standing{Now: 1e9}
	for i := range 400 {
		start := st.Now - 360*int64(i/10) - 1
		j := trace.Job{ID: strconv.Itoa(i), User: "u", Nodes: 1, Submit: start, Start: start, End: start + 360, Limit: 3600}
		if i%2 == 0 {
			j.End = start + 3600
		}
		if j.End > st.Now {
			st.Running = append(st.Running, j)
		} else {
			st.Ended = append(st.Ended, j)
		}
	}
	st.Pending = []trace.Job{{ID: "new", User: "u", Nodes: 1, Submit: st.Now, Limit: 3600}}
	s, err := Config{Machine: cluster.Machine{Nodes: 100}, Rules: cluster.Defaults(cluster.FCFS)}.Resume(st)
	if err != nil {
		t.Fatal(err)
	}
	i, long, l := slices.IndexFunc(s.w.Jobs, func(j trace.Job) bool { return j.ID == "new" }), 0., s.Lengths()
	for draw := range 2000 {
		if l.Draw(draw)(int32(i), 0) > 1800 {
			long += 1. / 2000
		}
	}
	if math.Abs(long-.5) > .1 { // a standard error of thirty jobs
		t.Errorf("%.2f of the draws are long, want half", long)
	}
}
