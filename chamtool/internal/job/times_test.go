package job

import (
	"math"
	"strings"
	"testing"

	"github.com/foretime/foretime/chamtool/internal/summary"
	"github.com/foretime/foretime/chamtool/internal/task"
)

// place returns a time of a thread at a place.
func place(lane int, kind, name string, seconds float64) summary.PlaceTime {
	return summary.PlaceTime{Lane: lane, Kind: kind, Place: name, Count: 10, Seconds: seconds}
}

// hybrid is a job of two ranks of two threads over 10 s: rank 0 computes 8 and 4 s, rank 1 half
// as much and waits in MPI for 4 s.
func hybrid() *Job {
	j := &Job{}
	for rank := range 2 {
		half := float64(1 + rank)
		s := &summary.Summary{Rank: rank, Ranks: 2, Dialect: "openmp", RunSeconds: 10, Processors: 8, Online: 8, Host: "a", Complete: true}
		s.Times = []summary.PlaceTime{
			place(0, "computing", "f.c:1", 8/half), place(1, "computing", "f.c:1", 4/half), place(1, "waiting", "f.c:1", 4/half),
			place(0, "serial", "f.c:1", 1), place(0, "MPI alone", "f.c:9", 1+4*float64(rank)),
		}
		s.Times[0].Loop = true
		j.Ranks = append(j.Ranks, Rank{Rank: rank, Summary: s, Log: &task.Log{}})
	}
	return j
}

// No balance is above 1 where a rank has fewer threads than the others.
func TestBalanceOfUnlikeRanks(t *testing.T) {
	j := hybrid()
	j.Ranks[0].Summary.Times = []summary.PlaceTime{place(0, "serial", "f.c:1", 1), place(0, "MPI alone", "f.c:9", 8)}
	j.Ranks[1].Summary.Times[0].Seconds, j.Ranks[1].Summary.Times[1].Seconds = 3, 4
	got := j.Figures().Times
	if got.ThreadBalance > 1 || got.RankBalance > 1 || !near(got.ThreadBalance*got.RankBalance, got.LoadBalance) {
		t.Errorf("%+v", got.Efficiency)
	}
}

// The efficiencies are products of known loads, and each loss has the advice that fits its cause.
func TestTimes(t *testing.T) {
	f := hybrid().Figures()
	got := f.Times
	if got == nil {
		t.Fatal(f.Unknown)
	}
	const useful = 9 + 4 + 5 + 2
	for name, tt := range map[string][2]float64{
		"parallel": {got.Parallel, useful / 4.0 / 10}, "balance": {got.LoadBalance, useful / 4.0 / 9}, "ranks": {got.RankBalance, (6.5 + 3.5) / 2 / 6.5},
		"product": {got.LoadBalance * got.Communication, got.Parallel}, "threads": {got.ThreadBalance * got.RankBalance, got.LoadBalance},
		"MPI of rank 1": {got.Ranks[1].MPI, 5}, "outside of its worker": {got.Threads[3].Outside, 10 - 2 - 2},
	} {
		if !near(tt[0], tt[1]) {
			t.Errorf("%s: %v, want %v", name, tt[0], tt[1])
		}
	}
	want := []struct {
		name, advice string
		seconds      float64
	}{
		{"in MPI at f.c:9", "the ranks wait for rank 0", 2 * (1 + 5)},
		{"waiting at the end of f.c:1", "balance 0.75): schedule(dynamic)", 6},
		{"one thread before f.c:1", "one of 2 threads computes there", 2},
	}
	if len(got.Losses) != len(want) {
		t.Fatalf("%+v", got.Losses)
	}
	for i, w := range want {
		if l := got.Losses[i]; l.Name != w.name || !near(l.Seconds, w.seconds) || !near(l.Share, w.seconds/40) || !strings.Contains(l.Advice, w.advice) {
			t.Errorf("%+v, want %+v", l, w)
		}
	}
	if f.Lost.Saving != nil {
		t.Errorf("OpenMP moves no tasks between ranks, and %+v is saved by it", f.Lost.Saving)
	}
}

// Each cause of a loss has its own advice.
func TestAdvice(t *testing.T) {
	short := 5e-7
	for name, tt := range map[string]struct {
		change func(j *Job, f *Figures)
		kind   string
		want   string
	}{
		"bound":          {func(j *Job, _ *Figures) { j.Ranks[0].Summary.Processors = 1 }, "waiting", "mpirun --bind-to none"},
		"crowded":        {func(j *Job, _ *Figures) { j.Ranks[0].Summary.Online, j.Ranks[1].Summary.Online = 3, 3 }, "computing", "4 threads of 2 ranks share 3 processors"},
		"other programs": {func(j *Job, _ *Figures) { j.Ranks[0].Summary.Others = summary.NewFigure(7) }, "computing", "slept, or waited for a file, a lock of the system or a processor, of which other programs kept 7 of 8 busy"},
		"a short run":    {func(*Job, *Figures) {}, "computing", "slept, or waited for a processor, a file or a lock"},
		"in the system": {func(j *Job, _ *Figures) {
			j.Ranks[0].Summary.Others, j.Ranks[1].Summary.Others = summary.NewFigure(0), summary.NewFigure(0)
		}, "computing", "a lock of the system or memory"},
		"even ranks":      {func(_ *Job, f *Figures) { f.Times.RankBalance = 0.99 }, "MPI", "fewer and larger messages"},
		"a known dynamic": {func(j *Job, _ *Figures) { j.Ranks[0].Summary.Times[0].Dynamic = true }, "waiting", "smaller chunk"},
		"no loop": {func(j *Job, _ *Figures) {
			j.Ranks[0].Summary.Times[0].Loop, j.Ranks[1].Summary.Times[0].Loop = false, false
		}, "waiting", "more evenly over the threads"},
		"short regions": {func(j *Job, _ *Figures) { j.Ranks[0].Summary.Times[0].Count = 1e7 }, "waiting", "one region around several"},
		"short tasks": {func(_ *Job, f *Figures) {
			f.Tasks, f.Functions = 100, []Function{{Name: "f", Tasks: 100, Median: &short}}
		}, "waiting", "fewer, larger tasks"},
		"a deep recursion": {func(_ *Job, f *Figures) {
			f.Tasks, f.Functions, f.Lost.Threads = 100, []Function{{Name: "f", Tasks: 100, Median: &short}}, 2
			for depth := range 10 {
				f.Depths = append(f.Depths, summary.Depth{Tasks: 1 << (depth + 1), Work: 0.01})
			}
		}, "waiting", "only down to depth 5, where there are 32 of 1.88 ms"},
		"a chain": {func(_ *Job, f *Figures) {
			f.Tasks, f.Lost.Threads, f.Lost.Graph = 100, 2, &Graph{Graph: summary.Graph{Work: 9, Span: 9}, Parallelism: 1}
		}, "waiting", "enough for 1 thread: break it up, or use fewer threads"},
	} {
		j := hybrid()
		f := j.Figures()
		tt.change(j, &f)
		if _, got := f.advise(j, &lostPlace{kind: tt.kind, place: "f.c:1"}); !strings.Contains(got, tt.want) {
			t.Errorf("%s: %q lacks %q", name, got, tt.want)
		}
	}
}

// Without the calls of MPI a job of several ranks has no efficiencies: waiting would count as work.
func TestUnknownTimes(t *testing.T) {
	j := hybrid()
	j.Ranks[1].Summary.Times = j.Ranks[1].Summary.Times[:4]
	if f := j.Figures(); f.Times != nil || !strings.Contains(f.Unknown, "LD_PRELOAD") {
		t.Errorf("%+v, %q", f.Times, f.Unknown)
	}
}

// A rank without a log makes the balance of the ranks unknown, a rank without a region has its
// serial work in it, and a rank whose end was not seen is the reason, not the way it was started.
func TestUnseenRanks(t *testing.T) {
	j := hybrid()
	j.Ranks, j.Missing = j.Ranks[:1], []int{1}
	f := j.Figures()
	if f.Times == nil || f.Times.Efficiency != nil || !strings.Contains(f.Unknown, "no log of rank 1 of 2") {
		t.Errorf("%+v, %q", f.Times, f.Unknown)
	}
	if _, got := f.advise(j, &lostPlace{kind: "MPI", place: "f.c:9"}); !strings.Contains(got, "unknown whether the ranks are even") {
		t.Error(got)
	}
	j = hybrid()
	j.Ranks[1].Summary.Times = []summary.PlaceTime{place(0, "serial", "", 9.5), place(0, "MPI alone", "f.c:9", 0.5)}
	if f = j.Figures(); f.Times == nil || len(f.Times.Ranks) != 2 || !near(f.Times.RankBalance, (2*6.5+9.5)/3/9.5) {
		t.Errorf("%+v, %q", f.Times, f.Unknown)
	}
	j = hybrid()
	j.Ranks[1].Summary.Complete, j.Ranks[1].Summary.RunSeconds = false, 7
	if got := j.Figures().Times.Threads[3]; !near(got.Unknown, 3) || !near(got.Outside, 7-2-2) {
		t.Errorf("a rank that ended unseen: %+v", got)
	}
	j = hybrid()
	j.Ranks[1].Summary.Times, j.Ranks[1].Summary.Complete = nil, false
	if f = j.Figures(); !strings.Contains(f.Unknown, "did not see the end of rank 1") {
		t.Error(f.Unknown)
	}
}

// Of a log that could not be written whole the shares of functions are unknown.
func TestUnwrittenRows(t *testing.T) {
	j := hybrid()
	j.Ranks[0].Log.Rows = []task.Row{{Entry: "f", Flag: "local", Seconds: 1}}
	if f := j.Figures(); f.Functions[0].Share == nil || f.Functions[0].Median == nil || *f.Functions[0].Median != 1 {
		t.Error("no share or median of a whole log")
	}
	j.Ranks[0].Summary.RowsLost, j.Ranks[0].Summary.Ended = 9, 10
	if f := j.Figures(); f.Unwritten != 9 || f.Functions[0].Share != nil {
		t.Errorf("%d, %+v", f.Unwritten, f.Functions)
	}
	if err := tornReason(j.Ranks[0]); err == nil || !strings.Contains(err.Error(), "only 1 of 10 runs, the others could not be written") {
		t.Error(err)
	}
}

// A rank is not said to wait for itself.
func TestWaitsForItself(t *testing.T) {
	j := hybrid()
	j.Ranks[0].Summary.Times = append(j.Ranks[0].Summary.Times, place(0, "MPI alone", "f.c:10", 1))
	losses := j.Figures().Times.Losses
	for name, want := range map[string]string{"in MPI at f.c:9": "the ranks wait for rank 0", "in MPI at f.c:10": "mostly rank 0 waits there"} {
		for _, l := range losses {
			if l.Name == name && !strings.Contains(l.Advice, want) {
				t.Errorf("%+v, want %q", l, want)
			}
		}
	}
}

// A rank of one thread loses nothing of its serial work to other threads.
func TestSerialThread(t *testing.T) {
	j := hybrid()
	j.Ranks = j.Ranks[:1]
	s := j.Ranks[0].Summary
	s.Times = []summary.PlaceTime{place(0, "computing", "f.c:1", 5), place(0, "serial", "f.c:1", 4)}
	s.Times[1].Stopped = 3
	for _, l := range j.Figures().Times.Losses {
		if strings.Contains(l.Advice, "in parallel") {
			t.Errorf("%+v", l)
		}
	}
}

// TestSlowdown compares the CPU time of a process, and the time of its threads, with what the tool
// took of it; the tool's own threads count if the program's threads use all processors.
func TestSlowdown(t *testing.T) {
	for processors, want := range map[int][2]float64{2: {18 / 17.8, 2}, 8: {18 / 17.95, 0.4 / 0.35}} {
		var times Times
		times.addTool(&summary.Summary{RunSeconds: 9, CPUSeconds: 0.4, Callbacks: summary.NewFigure(0.05), ToolCPUSeconds: 0.15, Processors: processors}, 2)
		if math.Abs(times.Slowdown[0]-want[0]) > 1e-9 || math.Abs(times.Slowdown[1]-want[1]) > 1e-9 {
			t.Errorf("%d processors: %v times slower, want %v", processors, times.Slowdown, want)
		}
	}
	var times Times
	times.addTool(&summary.Summary{RunSeconds: 0.03, Early: summary.Early{Seconds: 0.01}, StartAndEnd: 0.02, CPUSeconds: 0.1, Callbacks: summary.NewFigure(0.02)}, 2)
	if math.Abs(times.Slowdown[1]-1.5/0.8) > 1e-9 || times.Start != 0.02 {
		t.Errorf("%v times slower, %v s to start and end, want %v and 0.02", times.Slowdown, times.Start, 1.5/0.8)
	}
}
