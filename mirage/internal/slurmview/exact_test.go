package slurmview

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/foretime/foretime/mirage/internal/cluster"
	"github.com/foretime/foretime/mirage/internal/simulator"
	"github.com/foretime/foretime/mirage/internal/trace"
	"github.com/foretime/foretime/shared/stats"
)

// Shorter queues get more futures, within bounds; half of them repeat one or two weeks of
// arrivals, if these are known.
func TestNumbersOfFutures(t *testing.T) {
	for pending, want := range map[int]int{0: 60, 1: 60, 133: 60, 134: 59, 160: 50, 800: 10, 1000: 8, 1001: 8, 1e6: 8} {
		if got := drawnFor(pending); got != want {
			t.Errorf("%d pending: %d futures, want %d", pending, got, want)
		}
	}
	const week = 7 * 86400
	for draw, want := range []int64{0, week, 0, 2 * week, 0, week, 0, 2 * week} {
		if AnswerDays != 14 {
			t.Fatalf("answers know %d days", AnswerDays)
		}
		if got := (&View{standing: simulator.Standing{Repeats: true}}).back(draw); got != want {
			t.Errorf("draw %d repeats %d s, want %d", draw, got, want)
		}
		if got := (&View{}).back(draw); got != 0 {
			t.Errorf("draw %d repeats %d s of unknown arrivals", draw, got)
		}
	}
	waits := make([]float64, 11)
	for i := range waits {
		waits[i] = float64(i)
	}
	if p := Expect(stats.Sort(waits), .8); p.Value != 5 || p.Low < .999999 || p.Low > 1.000001 || p.High < 8.999999 || p.High > 9.000001 || p.Level != .8 {
		t.Errorf("%+v", p)
	}
}

// A long queue is planned with fewer passes, as long as it takes to drain.
func TestCoarseQueues(t *testing.T) {
	pending := slices.Repeat([]trace.Job{{Limit: 3600, Need: &trace.Need{CPUs: 8, GPUs: 1}}}, longQueue+1)
	for _, tt := range []struct {
		jobs, cpus, gpus int
		interval         int64
		most, want       int
	}{
		{longQueue, 4, 2, 30, 1000, 1000}, {longQueue + 1, 4, 2, 30, 1000, coarseJobs}, {longQueue + 1, 4, 2, 30, 0, coarseJobs}, {longQueue + 1, 4, 2, 30, 7, 7}, {longQueue + 1, 40, 1, 30, 7, 7}, {longQueue + 1, 0, 0, 30, 7, 7}, {longQueue + 1, 4, 2, 1e9, 7, 7},
	} {
		c := &simulator.Config{Machine: cluster.Machine{Kinds: []cluster.Kind{{Nodes: 2, CPUs: tt.cpus, GPUs: tt.gpus}}}}
		c.Backfill = cluster.Backfill{IntervalSeconds: tt.interval, MaxJobTest: tt.most}
		coarsen(c, pending[:tt.jobs])
		want := tt.interval
		if tt.jobs > longQueue {
			cpus := float64(tt.jobs) * 8 * 3600 / max(float64(2*tt.cpus), 1)
			gpus := float64(tt.jobs) * 3600 / max(float64(2*tt.gpus), 1)
			want = max(want, int64(max(cpus, gpus)/coarsePasses))
		}
		if c.Backfill.IntervalSeconds != want || c.Backfill.MaxJobTest != tt.want {
			t.Errorf("%+v: each %d s over %d jobs, want %d over %d", tt, c.Backfill.IntervalSeconds, c.Backfill.MaxJobTest, want, tt.want)
		}
	}
}

// TestOptionsOfShapes checks sbatch's options for a job, with its resources by node, rounded up.
func TestOptionsOfShapes(t *testing.T) {
	for _, tt := range []struct {
		job  trace.Job
		want string
	}{
		{trace.Job{Nodes: 2, Limit: 60}, "--nodes=2 --time=1 --exclusive"}, {trace.Job{Nodes: 2, Limit: 61, Partition: "p"}, "--nodes=2 --time=2 --partition=p --exclusive"},
		{trace.Job{Nodes: 2, Limit: 120, Need: &trace.Need{CPUs: 5, GPUs: 3, MemoryMB: 9}}, "--nodes=2 --time=2 --ntasks-per-node=1 --cpus-per-task=3 --gres=gpu:2 --mem=5"},
		{trace.Job{Nodes: 2, Limit: 120, Need: &trace.Need{CPUs: 4, GPUs: 2, MemoryMB: 8}}, "--nodes=2 --time=2 --ntasks-per-node=1 --cpus-per-task=2 --gres=gpu:1 --mem=4"},
		{trace.Job{Nodes: 1, Limit: 59, Need: &trace.Need{CPUs: 1, GPUs: 1, MemoryMB: 1}}, "--nodes=1 --time=1 --ntasks-per-node=1 --cpus-per-task=1 --gres=gpu:1 --mem=1"},
		{trace.Job{Nodes: 1, Limit: 60, Need: &trace.Need{}}, "--nodes=1 --time=1"},
	} {
		if got := strings.Join(ShapeOptions(&tt.job), " "); got != tt.want {
			t.Errorf("%s, want %s", got, tt.want)
		}
	}
}

// TestSuffixes checks numbers with K and M, up to what a count can hold.
func TestSuffixes(t *testing.T) {
	for text, want := range map[string]int{"0": 0, "7": 7, "2k": 2048, "2K": 2048, "3m": 3 << 20, "3M": 3 << 20, "2147483647": 2147483647, "2097151K": 2097151 << 10, "2047M": 2047 << 20} {
		if got, err := parseSuffixed(text); err != nil || got != want {
			t.Errorf("%s: %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "K", "x", "2147483648", "2097152K", "2048M", "1G"} {
		if got, err := parseSuffixed(text); err == nil {
			t.Errorf("%q is %d", text, got)
		}
	}
}

// TestNodesByHand checks the least and the most nodes of a job, as given or by what each has.
func TestNodesByHand(t *testing.T) {
	for _, tt := range []struct {
		nodes          string
		perNode, tasks int
		gpus, each     int
		least, most    int
		spread, bad    bool
	}{
		{"", 0, 0, 0, 0, 1, 0, true, false}, {"", 4, 0, 0, 0, 1, 0, false, false}, {"", 4, 9, 0, 0, 3, 0, true, false}, {"", 4, 8, 0, 0, 2, 0, true, false}, {"", 0, 8, 0, 0, 1, 0, true, false}, {"", 4, 1, 0, 0, 1, 0, true, false},
		{"", 0, 0, 5, 2, 3, 0, true, false}, {"", 4, 16, 2, 2, 4, 0, true, false}, {"", 0, 0, 5, 0, 1, 0, true, false},
		{"3", 0, 0, 0, 0, 3, 0, false, false}, {"1", 0, 0, 0, 0, 1, 0, false, false}, {"0", 0, 0, 0, 0, 1, 0, false, true}, {"x", 0, 0, 0, 0, 1, 0, false, true}, {"2-5", 0, 0, 0, 0, 2, 5, true, false}, {"2-2", 0, 0, 0, 0, 2, 2, true, false}, {"2-1", 0, 0, 0, 0, 2, 1, true, true}, {"1k", 0, 0, 0, 0, 1024, 0, false, false},
	} {
		b := &batch{values: map[string]string{"nodes": tt.nodes}}
		a := Ask{}
		a.Amounts.GPUs, a.GPUsPerNode = tt.gpus, tt.each
		b.nodes(&a, tt.perNode, tt.tasks)
		if a.Nodes != tt.least || a.MostNodes != tt.most || a.Spread != tt.spread || (b.err != nil) != tt.bad {
			t.Errorf("%+v: %d to %d nodes, spread %v, %v", tt, a.Nodes, a.MostNodes, a.Spread, b.err)
		}
	}
}

// Points grow with the age up to the greatest; an age that cannot be read takes none off.
func TestPointsForAge(t *testing.T) {
	p := priorities{multifactor: true, agePoints: 100, maxAge: 1000 * time.Second}
	for at, want := range map[int64]float64{40: 500, 50: 500, 51: 499.9, 550: 450, 1050: 400, 9999: 400} {
		if got := p.young(&trace.Job{Submit: 50, Priority: 500}, at); got < want-1e-9 || got > want+1e-9 {
			t.Errorf("at %d: %v, want %v", at, got, want)
		}
	}
	if got := (priorities{}).young(&trace.Job{Priority: 500}, 1e6); got != 500 {
		t.Errorf("without points: %v", got)
	}
	for _, tt := range []struct {
		config      map[string]string
		points      float64
		unread      bool
		multifactor bool
	}{
		{map[string]string{}, 0, false, true}, {map[string]string{"PriorityWeightAge": "0"}, 0, false, true}, {map[string]string{"PriorityWeightAge": "7", "PriorityMaxAge": "1-00:00:00"}, 7, false, true}, {map[string]string{"PriorityWeightAge": "7", "PriorityMaxAge": "00:00:01"}, 7, false, true},
		{map[string]string{"PriorityWeightAge": "7", "PriorityMaxAge": "00:00:00"}, 0, true, true}, {map[string]string{"PriorityWeightAge": "-7", "PriorityMaxAge": "1-00:00:00"}, 0, true, true}, {map[string]string{"PriorityWeightAge": "x", "PriorityMaxAge": "1-00:00:00"}, 0, true, true}, {map[string]string{"PriorityWeightAge": "7"}, 0, true, true}, {map[string]string{"PriorityType": "priority/basic", "PriorityWeightAge": "7"}, 0, false, false},
	} {
		got := parsePriorities(tt.config)
		if got.agePoints != tt.points || (got.unread != "") != tt.unread || got.multifactor != tt.multifactor {
			t.Errorf("%v: %+v", tt.config, got)
		}
	}
	// The latest job of the user, first in the partition, without the points for its age.
	st := &simulator.Standing{Now: 1000, Pending: []trace.Job{{User: "u", Partition: "p", Submit: 900, Priority: 300}, {User: "v", Partition: "q", Submit: 100, Priority: 200, NoStart: true}, {User: "v", Partition: "q", Submit: 100, Priority: 180, Start: 3000}, {User: "w", Partition: "p", Submit: 900, Priority: 50}}}
	for _, tt := range []struct {
		user, partition string
		want            float64
	}{
		{"u", "p", 290}, {"u", "q", 290}, {"v", "q", 90}, {"x", "p", 290}, {"x", "q", 110}, {"", "q", 110}, {"x", "r", 110},
	} {
		got := p.forNew(&trace.Job{User: tt.user, Partition: tt.partition}, st)
		if got < tt.want-1e-9 || got > tt.want+1e-9 {
			t.Errorf("%s in %s: %v, want %v", tt.user, tt.partition, got, tt.want)
		}
	}
	if got := (priorities{}).forNew(&trace.Job{}, st); got != 49 {
		t.Errorf("in order of submission: %v, want one less than the lowest", got)
	}
	if got := p.forNew(&trace.Job{}, &simulator.Standing{}); got != 0 {
		t.Errorf("an empty queue: %v", got)
	}
}

// TestRepeatedReservations checks the days on which a reservation comes again, up to two weeks ahead.
func TestRepeatedReservations(t *testing.T) {
	from := time.Date(2026, 3, 4, 8, 0, 0, 0, time.UTC) // a Wednesday
	for flag, want := range map[string][]int{"": {4}, "DAILY": {4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18}, "WEEKDAY": {4, 5, 6, 9, 10, 11, 12, 13, 16, 17, 18}, "WEEKEND": {4, 7, 8, 14, 15}, "WEEKLY": {4, 11, 18}} {
		r := Reservation{From: from.Unix(), To: from.Add(time.Hour).Unix(), Flags: []string{flag, "MAINT"}}
		var got []int
		for _, s := range r.spans(from.Unix()+1, time.UTC) {
			at := time.Unix(s[0], 0).UTC()
			if s[1]-s[0] != 3600 || at.Hour() != 8 {
				t.Errorf("%s: from %v for %d s", flag, at, s[1]-s[0])
			}
			got = append(got, at.Day())
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: days %v, want %v", flag, got, want)
		}
		if n := len(r.spans(from.Unix(), time.UTC)); flag != "" && flag != "WEEKEND" && n != len(want)-1 {
			t.Errorf("%s: %d spans a second before, want %d", flag, n, len(want)-1)
		}
	}
}

// TestFinishedJobs checks jobs that ended, with their times, of which the queue still knows.
func TestFinishedJobs(t *testing.T) {
	good := Job{User: "u", State: "COMPLETED", Submit: 5, Start: 9, End: 20, Limit: 60 * time.Second, Nodes: 2}
	for name, tt := range map[string]struct {
		change func(*Job)
		want   string
	}{
		"as it is":          {func(*Job) {}, "2 5 9 20 60"},
		"running":           {func(j *Job) { j.State = "RUNNING" }, ""},
		"no start":          {func(j *Job) { j.Start = 0 }, ""},
		"the first second":  {func(j *Job) { j.Start = 1 }, "2 1 1 20 60"},
		"no time":           {func(j *Job) { j.End = 9 }, "2 5 9 9 60"},
		"ends before":       {func(j *Job) { j.End = 8 }, ""},
		"no limit":          {func(j *Job) { j.Limit = 0 }, ""},
		"a second":          {func(j *Job) { j.Limit = time.Second }, "2 5 9 20 1"},
		"no nodes":          {func(j *Job) { j.Nodes = 0 }, "1 5 9 20 60"},
		"submitted after":   {func(j *Job) { j.Submit = 10 }, "2 9 9 20 60"},
		"submitted with it": {func(j *Job) { j.Submit = 9 }, "2 9 9 20 60"},
	} {
		j := good
		tt.change(&j)
		got := ""
		for _, row := range finishedJobs([]Job{j}) {
			got = fmt.Sprint(row.Nodes, row.Submit, row.Start, row.End, row.Limit)
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}
