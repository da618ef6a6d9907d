package trial

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/foretime/foretime/deft/internal/device"
	"github.com/foretime/foretime/deft/internal/experiment"
	"github.com/foretime/foretime/deft/internal/pair"
	"github.com/foretime/foretime/deft/internal/policy"
	"github.com/foretime/foretime/deft/internal/report"
	"github.com/foretime/foretime/deft/internal/simulator"
	"github.com/foretime/foretime/shared/uncertainty"
)

const (
	us = time.Microsecond
	ms = time.Millisecond
)

// agree reports whether two numbers are equal to 12 digits.
func agree(a, b float64) bool { return math.Abs(a-b) <= 1e-12*max(math.Abs(a), math.Abs(b)) }

// TestWithinByHand moves the jobs' times by a period's share of the speed's error, but no job
// takes less than the one of its rank alone.
func TestWithinByHand(t *testing.T) {
	o := Outlook{
		Speeds:  [2]uncertainty.Prediction{{}, {Value: 0.5, Low: 0.25, High: 1, Level: 0.9}},
		Times:   [2][]time.Duration{{}, {10, 20, 30, 40}},
		Periods: [2]time.Duration{99, 20},
		Alone:   [2][]time.Duration{{}, {5, 15}},
	}
	for _, tt := range []struct {
		deadline         time.Duration
		value, low, high float64
	}{
		// Later by 20 at the low speed; 10 sooner at the high one: 5, 10 (not less than 5), 20, 30.
		{9, 0, 0, 0.25}, {10, 0.25, 0, 0.5}, {20, 0.5, 0, 0.75}, {29, 0.5, 0, 0.75}, {30, 0.75, 0.25, 1}, {39, 0.75, 0.25, 1}, {40, 1, 0.5, 1}, {59, 1, 0.75, 1}, {60, 1, 1, 1}, {4, 0, 0, 0}, {5, 0, 0, 0.25},
	} {
		if got := o.Within(1, tt.deadline); got != (uncertainty.Prediction{Value: tt.value, Low: tt.low, High: tt.high, Level: 0.9}) {
			t.Errorf("deadline %d: %+v, want %+v", tt.deadline, got, tt)
		}
	}
	if got := o.Within(0, time.Hour); got.Value != 0 {
		t.Errorf("no jobs: %+v", got)
	}
	o.Alone[1] = []time.Duration{5, 15, 16, 39} // ranks 0 to 3: the least are 5, 15, 16 and 39
	if got := o.Within(1, 30); got.High != 0.75 {
		t.Errorf("%+v", got)
	}
	o.Alone[1] = nil // then no job takes less than it did
	if got := o.Within(1, 20); got.High != 0.5 {
		t.Errorf("%+v", got)
	}
}

// TestProgressByHand divides whole jobs by their span, or the parts of jobs by their own times.
func TestProgressByHand(t *testing.T) {
	job := func(begin, end time.Duration) simulator.Job {
		return simulator.Job{Begin: begin * time.Second, End: end * time.Second}
	}
	jobs := []simulator.Job{job(0, 4), job(5, 8), job(8, 10), job(10, 20)}
	for _, tt := range []struct {
		begin, end time.Duration
		want       float64
	}{
		{0, 20, 4.0 / 20}, {1, 20, 3.0 / 15}, {0, 10, 3.0 / 10}, {0, 9, 2.0 / 8}, {5, 8, 1.0 / 3}, {11, 15, 0.4 / 4}, {2, 6, (0.5 + 1.0/3) / 4}, {4, 5, 0},
	} {
		if got := progress(jobs, tt.begin*time.Second, tt.end*time.Second); !agree(got, tt.want) {
			t.Errorf("%d to %d s: %v, want %v", tt.begin, tt.end, got, tt.want)
		}
	}
	r := &simulator.Result{End: 30 * time.Second, Clients: []simulator.ClientResult{{Jobs: jobs}, {Jobs: []simulator.Job{job(2, 8), job(8, 14)}}}}
	// Both run from 2 to 14 s: two whole jobs in 5 s, and two in 12.
	if got := rates(r); len(got) != 2 || !agree(got[0], 2.0/5) || !agree(got[1], 2.0/12) {
		t.Errorf("rates %v", got)
	}
}

// TestRunsOfAnOutlook adds a part of each run's period: a second over its jobs in it.
func TestRunsOfAnOutlook(t *testing.T) {
	var o Outlook
	c := simulator.ClientResult{Jobs: make([]simulator.Job, 2), Unmarked: []time.Duration{5, 3, 4, 9, 1, 1}}
	o.addRun(1, c, 10, 3)
	o.addRun(1, c, 20, 3)
	if want := time.Second/30/3 + time.Second/60/3; math.Abs(float64(o.Periods[1]-want)) > 1 || o.Periods[0] != 0 || len(o.Times[1]) != 12 {
		t.Errorf("period %v, want %v", o.Periods[1], want)
	}
	if o.addRun(0, simulator.ClientResult{Jobs: make([]simulator.Job, 2)}, 10, 3); o.Periods[0] != 0 {
		t.Errorf("period %v without a job of its own", o.Periods[0])
	}
	if got := spread([]float64{0.5, 0.2, 0.8}, 0.1); !agree(got.Value, 0.5) || !agree(got.Low, 0.1) || !agree(got.High, 0.9) || got.Level != 0.9 {
		t.Errorf("%+v", got)
	}
	if got := spread([]float64{0.05}, 0.1); got.Low != 0 {
		t.Errorf("%+v", got)
	}
}

// waits returns launches of 1 ms, of which those with a wait are marked by a w.
func waits(pattern string) (launches []pair.Launch) {
	for _, c := range pattern {
		launches = append(launches, pair.Launch{Gap: 10 * us, Time: ms, Wait: c == 'w'})
	}
	return launches
}

// TestRepeatedLaunches cuts a recording down to whole jobs, from wait to wait.
func TestRepeatedLaunches(t *testing.T) {
	for _, tt := range []struct {
		name       string
		launches   string
		first, end int
	}{
		{"no wait", "....", 0, 4}, {"waits first", "w..w.", 0, 5}, {"cut at both ends", "..w..w..", 2, 5}, {"one wait in the middle", "..w..", 0, 5}, {"one wait first", "w...", 0, 4}, {"waits last", ".w..w", 1, 4}, {"two jobs", ".w.w.w.", 1, 5},
	} {
		got := repeatedLaunches(&pair.Trace{Launches: waits(tt.launches)})
		want := waits(tt.launches)[tt.first:tt.end]
		if !slices.Equal(got, want) {
			t.Errorf("%s: %d launches, want %d to %d", tt.name, len(got), tt.first, tt.end)
		}
	}
	// The first two seconds, and of those whole jobs: launches of 1 ms, jobs of 300.
	long := waits(strings.Repeat("w"+strings.Repeat(".", 299), 10))
	if got := repeatedLaunches(&pair.Trace{Launches: long}); len(got) != 1800 {
		t.Errorf("%d launches of jobs of 300", len(got))
	}
	if got := repeatedLaunches(&pair.Trace{Launches: waits("w" + strings.Repeat(".", 4999))}); len(got) != 2001 {
		t.Errorf("%d launches of one long job", len(got))
	}
	for name, tt := range map[string]struct {
		launches []pair.Launch
		want     int
	}{
		"just two seconds": {[]pair.Launch{{Time: time.Second}, {Gap: time.Second, Time: 1}, {Time: 1}}, 3},
		"more":             {[]pair.Launch{{Time: time.Second}, {Gap: time.Second + 1}, {Time: 1}}, 2},
		"at once":          {[]pair.Launch{{Time: time.Hour}, {Time: 1}}, 1},
	} {
		if got := firstPart(tt.launches); len(got) != tt.want {
			t.Errorf("%s: %d launches, want %d", name, len(got), tt.want)
		}
	}
}

// TestClientOfTrace divides a graph into its kernels for a device on which they alternate.
func TestClientOfTrace(t *testing.T) {
	trace := &pair.Trace{Program: "p", Launches: []pair.Launch{{Gap: 5, Wait: true, Time: 90, Kernels: 3}, {Gap: 7, Time: 20, Kernels: 1}, {Gap: 2, Time: 2, Kernels: 4}, {Gap: 9, Time: 4}}}
	c := client(trace, true)
	if !slices.Equal(c.Kernels, []time.Duration{30, 30, 30, 20, 1, 1, 1, 1, 4}) || !slices.Equal(c.Gaps, []time.Duration{5, 0, 0, 7, 2, 0, 0, 0, 9}) ||
		!slices.Equal(c.Waits, []bool{true, false, false, false, false, false, false, false, false}) || !c.Unmarked || c.Name != "p" {
		t.Errorf("%+v", c)
	}
	c = client(trace, false)
	if !slices.Equal(c.Kernels, []time.Duration{90, 20, 2, 4}) || !slices.Equal(c.Gaps, []time.Duration{5, 7, 2, 9}) || length(c) != 90+20+2+9 {
		t.Errorf("%+v of length %d", c, length(c))
	}
}

// TestLengthLimit counts the launches of each program, at least eight for each pass, and the turns of
// the device: 20 million at most.
func TestLengthLimit(t *testing.T) {
	of := func(n int, each time.Duration) simulator.Client {
		return simulator.Client{Kernels: slices.Repeat([]time.Duration{each}, n), Gaps: make([]time.Duration, n)}
	}
	turn := device.DefaultTurn
	for _, tt := range []struct {
		client   simulator.Client
		duration time.Duration
		ok       bool
	}{
		// A launch a turn, and as many turns.
		{of(100, turn), 9_999_999 * turn, true}, {of(100, turn), 10_000_001 * turn, false},
		// Eight launches for each turn, and as many turns.
		{of(1, turn), 2_222_222 * turn, true}, {of(1, turn), 2_222_223 * turn, false}, {of(8, turn/8), 2_222_222 * turn, true},
	} {
		err := checkLength([]simulator.Client{tt.client}, tt.duration)
		if (err == nil) != tt.ok || err != nil && !errors.Is(err, ErrTooMany) {
			t.Errorf("%d launches in %v: %v", len(tt.client.Kernels), tt.duration, err)
		}
	}
}

// TestPlayedTime plays four times the length of the longer program, at least two seconds.
func TestPlayedTime(t *testing.T) {
	of := func(each time.Duration) simulator.Client {
		return simulator.Client{Kernels: slices.Repeat([]time.Duration{each}, 10), Gaps: make([]time.Duration, 10), Waits: make([]bool, 10)}
	}
	for _, tt := range []struct {
		each time.Duration
		jobs int
	}{{10 * ms, 20}, {100 * ms, 4}, {50 * ms, 4}, {49 * ms, 5}} {
		r, err := play(t.Context(), Sharing{Urgent: -1}, 0, of(tt.each))
		if err != nil {
			t.Fatal(err)
		}
		if got := len(r.Clients[0].Jobs); got != tt.jobs { // each waits 15 us at its end
			t.Errorf("kernels of %v: %d jobs, want %d", tt.each, got, tt.jobs)
		}
	}
}

// TestPartOfProcessors takes as much longer as the part is smaller.
func TestPartOfProcessors(t *testing.T) {
	trace := &pair.Trace{Program: "p"}
	for i := range 40 {
		trace.Launches = append(trace.Launches, pair.Launch{Gap: 10 * us, Wait: i%4 == 0, Time: ms})
	}
	for _, part := range []float64{0.5, 0.25} {
		way := Sharing{Device: device.Settings{Discipline: device.MPS}, Urgent: -1, Part: part}
		got, err := Traces(t.Context(), trace, trace, []Sharing{way}, 0)
		if err != nil {
			t.Fatal(err)
		}
		p := got[0].Speeds[1]
		if math.Abs(p.Value-part) > 0.01*part || p.High != 1 || math.Abs(p.Low-max(0, p.Value-0.216)) > 1e-9 {
			t.Errorf("part %v: %+v", part, p)
		}
		times := got[0].Times[0] // four kernels, and 15 us to wake
		if first := times[0]; first < time.Duration(4*float64(ms)/part) || first > time.Duration(4*float64(ms)/part)+100*us || !slices.IsSorted(times) {
			t.Errorf("part %v: a job takes %v", part, first)
		}
	}
}

// TestSharingsAreListed names the ways, of which four were compared with a device.
func TestSharingsAreListed(t *testing.T) {
	var measured, urgent, parts []string
	for _, s := range Sharings() {
		if s.Measured {
			measured = append(measured, s.Name)
		}
		if s.Urgent >= 0 && !strings.Contains(s.Name, []string{"A urgent", "B urgent"}[s.Urgent]) || s.Urgent < 0 && strings.Contains(s.Name, "urgent") {
			urgent = append(urgent, s.Name)
		}
		if s.Part > 0 {
			parts = append(parts, s.Name)
		}
		if (s.Device.Discipline == device.MPS) != strings.Contains(s.Name, "MPS") || s.Device.Priorities != strings.HasPrefix(s.Name, "MPS with priority") {
			t.Errorf("%+v", s)
		}
	}
	if !slices.Equal(measured, []string{"time slices", "MPS", "priority, A urgent", "priority, B urgent"}) || urgent != nil || !slices.Equal(parts, []string{"MPS, half each"}) {
		t.Errorf("measured %q, urgent %q, parts %q", measured, urgent, parts)
	}
}

// TestFastestOther takes, of the ways that keep enough, the one in which the other program is fastest;
// if none does, the one that keeps most, and of equals the faster one.
func TestFastestOther(t *testing.T) {
	o := func(name string, own, other float64) Outlook {
		return Outlook{Sharing: Sharing{Name: name, Measured: true}, Speeds: [2]uncertainty.Prediction{{Value: own}, {Value: other}}}
	}
	for _, tt := range []struct {
		ways []Outlook
		want string
		kept bool
	}{
		{nil, "", false},
		{[]Outlook{o("a", 0.95, 0.1)}, "a", true},
		{[]Outlook{o("a", 0.949, 0.1)}, "a", false},
		{[]Outlook{o("a", 0.5, 0.9), o("b", 0.95, 0.1)}, "b", true},
		{[]Outlook{o("b", 0.95, 0.1), o("a", 0.5, 0.9)}, "b", true},
		{[]Outlook{o("a", 0.96, 0.2), o("b", 0.95, 0.3)}, "b", true},
		{[]Outlook{o("a", 0.96, 0.3), o("b", 0.99, 0.3)}, "a", true},
		{[]Outlook{o("a", 0.5, 0.9), o("b", 0.6, 0.1)}, "b", false},
		{[]Outlook{o("a", 0.6, 0.1), o("b", 0.5, 0.9)}, "a", false},
		{[]Outlook{o("a", 0.6, 0.1), o("b", 0.6, 0.2)}, "b", false},
		{[]Outlook{o("a", 0.6, 0.2), o("b", 0.6, 0.2)}, "a", false},
	} {
		best, kept := fastestOther(tt.ways, 0, 0.95, func(o Outlook) float64 { return o.Speeds[0].Value })
		if best.Sharing.Name != tt.want || kept != tt.kept {
			t.Errorf("%+v: %q, %v", tt, best.Sharing.Name, kept)
		}
	}
	// The default slack of 1.05 keeps a speed of 1/1.05.
	for speed, kept := range map[float64]bool{1 / 1.05: true, 0.952: false} {
		if _, got := Best([]Outlook{o("a", speed, 1)}, 0, 0); got != kept {
			t.Errorf("speed %v: kept %v", speed, got)
		}
	}
}

// TestSweepWithoutSyncs names no best interval if no interval had an effect.
func TestSweepWithoutSyncs(t *testing.T) {
	p := Point{Models: []report.Model{{}, {Syncs: 0}}}
	if p.hasSyncs() {
		t.Error("a synchronization")
	}
	if p.Models[1].Syncs = 1; !p.hasSyncs() {
		t.Error("no synchronization")
	}
	s := &Sweep{Points: []Point{{Sync: 1, DelayMS: 3}, {Sync: 2, DelayMS: -1}, {Sync: 3, DelayMS: -1}}}
	if s.best().Sync != 2 {
		t.Errorf("best %d, want the first of the least", s.best().Sync)
	}
	if series := points().Intervals().Series; len(series) != 2 || !slices.Equal(series[1].X, []float64{1, 1e6}) || !slices.Equal(series[1].Y, []float64{5, 35}) {
		t.Errorf("%+v", series)
	}
}

// TestVirtualResultByHand writes an experiment's result as a report: milliseconds, and times of the
// log from the first warm-up's begin.
func TestVirtualResultByHand(t *testing.T) {
	x := &experiment.Experiment{Models: []experiment.Model{{ModelName: "m", OutputName: "A", Terms: policy.Terms{Priority: 3, Weight: 2, Deadline: 5 * ms}}, {ModelName: "m", OutputName: "B"}}}
	job := func(begin, end time.Duration) simulator.Job { return simulator.Job{Begin: begin * ms, End: end * ms} }
	result := &simulator.Result{End: 90 * ms, Decisions: 7, Clients: []simulator.ClientResult{
		{WarmUp: true, Jobs: []simulator.Job{job(-9, -4), job(0, 10), job(20, 40)}, Launches: 4, Syncs: 2, Stall: 3 * ms, Gate: 500 * us, GPU: 6 * ms, MaxQueue: 5},
		{WarmUp: true, Jobs: []simulator.Job{job(-4, 0), job(5, 90)}},
	}}
	o := &Outcome{Run: &report.Run{}}
	if err := o.addResult(x, result); err != nil {
		t.Fatal(err)
	}
	m := o.Run.Models[0]
	if m.Launches != 4 || m.Syncs != 2 || m.StallMS != 3 || m.GateMS != 0.5 || m.GPUMS != 6 || m.MaxQueue != 5 || m.Jobs != 2 || m.JCT.Mean != 15 || m.Priority != 3 || m.Weight != 2 || m.DeadlineMS != 5 {
		t.Errorf("%+v", m)
	}
	if o.Run.Seconds != 0.09 || o.Run.Decisions != 7 || len(o.Run.Models) != 2 {
		t.Errorf("%+v", o.Run)
	}
	log := o.Logs[1]
	if len(log) != 2 || log[0].StartNs != 5e6 || log[0].EndNs != 9e6 || log[1].StartNs != 14e6 || log[1].EndNs != 99e6 || log[1].Ms != 85 || o.Logs[0][0].StartNs != 0 {
		t.Errorf("%+v", log)
	}
}

// TestWarningsOfModels names what a device cannot use.
func TestWarningsOfModels(t *testing.T) {
	x := &experiment.Experiment{Warnings: []error{errors.New("first")}, Models: []experiment.Model{{
		OutputName: "A", Trace: "t", Kernels: 5, Graph: 2, LaunchCost: 3, SyncLevel: "layer",
	}, {OutputName: "B", Kernels: 5, LaunchCost: 3}, {OutputName: "C"}}}
	want := []string{"first", "A: trace has no effect on a GPU and is ignored", "A: graph has no effect on a GPU and is ignored", "B: kernels has no effect on a GPU and is ignored", "B: launch_ns has no effect on a GPU and is ignored"}
	if got := warnings(x, "cuda"); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if got := warnings(x, "sim"); len(got) < 2 || got[1] != "A: sync_level layer needs the model's own layers and is ignored" {
		t.Errorf("%q", got)
	}
}

// TestAssumedHosts predicts by hosts that lose nothing, the usual 15 us, or 30 us and a millisecond.
func TestAssumedHosts(t *testing.T) {
	x := parse(t, `{"models": [{"model_name": "synthetic", "kernels": 2, "kernel_ns": 100000, "output_file_name": "A"}], "exp_dur": 0.01, "policy": "none"}`)
	p, err := Predict(t.Context(), x)
	if err != nil {
		t.Fatal(err)
	}
	// Two kernels of 0.1 ms, and the wake-up of each host.
	if got := p[0]; math.Abs(got.Value-0.215) > 1e-9 || math.Abs(got.Low-0.2) > 1e-9 || math.Abs(got.High-0.23) > 1e-9 || got.Level != 0.9 {
		t.Errorf("%+v", got)
	}
	x.SyncCost = 40 * us
	if p, err = Predict(t.Context(), x); err != nil || math.Abs(p[0].Value-0.24) > 1e-9 || p[0].Low != p[0].High {
		t.Errorf("%+v, %v", p, err)
	}
}
