package schedule

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// Of twenty gains the first and the nineteenth bound nine tenths; a ratio of 1.1
// is alike.
func TestGainsByHand(t *testing.T) {
	var jobs []Record
	for i := range 20 {
		jobs = append(jobs, Record{Actual: [Devices]float64{float64(20 - i), 1}})
	}
	if g := GainOf(jobs); g.Low != 1 || g.High != 19 {
		t.Errorf("%+v", g)
	}
	small := []Record{{Actual: [Devices]float64{1, 2}}, {Actual: [Devices]float64{1, 4}}, {Actual: [Devices]float64{math.Inf(1), 4}}, {Actual: [Devices]float64{1, math.Inf(1)}}}
	if g := GainOf(small); g == nil || g.Low != .25 || g.High != .5 {
		t.Errorf("%+v", g)
	}
	if g := GainOf(small[1:]); g != nil {
		t.Errorf("of one job %+v", g)
	}
	for high, want := range map[float64]bool{2.2: true, 2.2001: false, 2: true} {
		if got := (&Gain{Low: 2, High: high}).IsAlike(); got != want {
			t.Errorf("up to %v: alike %v", high, got)
		}
	}
	if (*Gain)(nil).IsAlike() {
		t.Error("an unknown gain is alike")
	}
}

// TestRemainingByHand checks the reported time that is left, on the device that the job runs on or on
// another.
func TestRemainingByHand(t *testing.T) {
	j := &Job{Reported: [Devices]float64{100, 20}, Left: .5}
	if j.remaining(CPU, 7) != 50 || j.remaining(GPU, 7) != 10 {
		t.Errorf("waiting: %v, %v", j.remaining(CPU, 7), j.remaining(GPU, 7))
	}
	j.Node, j.Started = &Node{Device: CPU}, 5
	for now, want := range map[float64][2]float64{5: {50, 10}, 30: {25, 5}, 55: {0, 0}, 60: {0, 0}} {
		if cpu, gpu := j.remaining(CPU, now), j.remaining(GPU, now); math.Abs(cpu-want[0]) > 1e-9 || math.Abs(gpu-want[1]) > 1e-9 {
			t.Errorf("at %v: %v, %v; want %v", now, cpu, gpu, want)
		}
	}
	if j.Reported[GPU] = math.Inf(1); !math.IsInf(j.remaining(GPU, 9), 1) {
		t.Error("on a device that it cannot run on")
	}
}

// Of equal times first come first served prefers the GPU, and the shortest job
// the one that waits longest.
func TestOrdersByHand(t *testing.T) {
	nodes := []*Node{{Device: CPU}, {Device: GPU}}
	job := func(cpu, gpu float64) *Job { return &Job{Reported: [Devices]float64{cpu, gpu}} }
	for _, tt := range []struct {
		cpu, gpu float64
		want     Device
	}{
		{5, 5, GPU}, {5, 5.1, CPU}, {5, 4.9, GPU}, {math.Inf(1), 9, GPU}, {9, math.Inf(1), CPU},
	} {
		j := job(tt.cpu, tt.gpu)
		if got, on := (fifo{}).Next(t.Context(), &State{Waiting: []*Job{j}, Nodes: nodes}); got != j || on.Device != tt.want {
			t.Errorf("%+v: on %v", tt, on)
		}
	}
	a, b, c := job(7, 5), job(5, 7), job(5, 5)
	if got, on := (sjf{}).Next(t.Context(), &State{Waiting: []*Job{a, b, c}, Nodes: nodes}); got != b || on.Device != CPU {
		t.Errorf("%+v on %v", got, on)
	}
	if got, on := (sjf{}).Next(t.Context(), &State{Waiting: []*Job{b, a, c}, Nodes: nodes[1:]}); got != a || on.Device != GPU {
		t.Errorf("%+v on %v", got, on)
	}
}

// TestRecordLimits checks the numbers of fields, and arrivals and times at their limits.
func TestRecordLimits(t *testing.T) {
	job, stage := "1 n x 5", "s 1 1 1 30 1 1 3 1"
	for _, tt := range []struct {
		lines string
		good  bool
	}{
		{job + "|" + stage + "|0", true}, {job + " u|" + stage + "|0", true}, {job + " u v|" + stage + "|0", true}, {job + " u v w|" + stage + "|0", false}, {"1 n x|" + stage + "|0", false}, {"2 n x 5|" + stage + "|0", false}, {job + "|" + stage + "|1", false}, {job + "|" + stage + " 0|0", false}, {job + "|" + stage + " .5 -.5|0", true}, {job + "|" + stage + " x 0|0", false}, {job + "|" + stage, false}, {"1 n x y|" + stage + "|0", false},
	} {
		r, err := parseRecord(strings.Split(tt.lines, "|"))
		if (err == nil) != tt.good {
			t.Errorf("%s: %v", tt.lines, err)
		}
		if !tt.good {
			continue
		}
		want := [Devices]float64{30, 3}
		if strings.Contains(tt.lines, "-.5") {
			want = [Devices]float64{45, 1.5}
		}
		if r.Arrival != 5 || r.Name != "n" || r.Actual != [Devices]float64{30, 3} || r.Reported != want || (r.User == "u") != strings.Contains(tt.lines, " u") {
			t.Errorf("%s: %+v", tt.lines, r)
		}
	}
	one := [Devices]float64{1, 1}
	for _, tt := range []struct {
		r    Record
		good bool
	}{
		{Record{Actual: one, Reported: one}, true}, {Record{Arrival: -1e-9, Actual: one, Reported: one}, false}, {Record{Arrival: math.Inf(1), Actual: one, Reported: one}, false}, {Record{Arrival: math.NaN(), Actual: one, Reported: one}, false},
		{Record{Actual: [Devices]float64{1, 0}, Reported: one}, false}, {Record{Actual: [Devices]float64{1, 1e-9}, Reported: one}, true}, {Record{Actual: one, Reported: [Devices]float64{0, 1}}, false}, {Record{Actual: [Devices]float64{.5, .5}, Reported: [Devices]float64{.5, .5}}, true}, {Record{Actual: [Devices]float64{math.Inf(1), math.Inf(1)}, Reported: one}, false}, {Record{Actual: [Devices]float64{math.Inf(1), 1}, Reported: one}, true},
	} {
		if err := tt.r.check(); (err == nil) != tt.good {
			t.Errorf("%+v: %v", tt.r, err)
		}
	}
	for n, good := range map[int]bool{-1: false, 0: false, 1: true, mostNodes: true, mostNodes + 1: false} {
		var r replay
		if err := r.begin([]Record{{Actual: one, Reported: one}}, Cluster{n, 0}); (err == nil) != good {
			t.Errorf("%d nodes: %v", n, err)
		}
	}
}

// TestSummariesByHand checks completion times and the makespan from the first arrival.
func TestSummariesByHand(t *testing.T) {
	var runs []Run
	for i := range 100 {
		runs = append(runs, Run{Record: Record{Arrival: 10, Actual: [Devices]float64{float64(i + 1), 1}}})
		runs[i].Parts = []Part{{Start: 10, End: 10 + float64(i+1)}}
	}
	got := Summarize("p", runs)
	if got.Jobs != 100 || got.MeanJCT != 50.5 || got.P50JCT != 50 || got.P95JCT != 95 || got.P99JCT != 99 || got.Makespan != 100 || got.Policy != "p" {
		t.Errorf("%+v", got)
	}
}

// A device without a time or with an error runs no job; true times are means.
func TestReportsByHand(t *testing.T) {
	for devices, want := range map[string]string{
		`"cpu":{"wall_seconds":{"value":9}}`:                                                                     "9 +Inf 9 +Inf true",
		`"cpu":{"wall_seconds":{"value":9},"actual":[{"wall_seconds":4},{"wall_seconds":7}]}`:                    "9 +Inf 5.5 +Inf false",
		`"cpu":{"wall_seconds":{"value":9},"error":"x"},"gpu":{"wall_seconds":{"value":3}}`:                      "+Inf 3 +Inf 3 true",
		`"cpu":{"actual":[{"wall_seconds":4}]},"gpu":{"wall_seconds":{"value":3},"actual":[{"wall_seconds":2}]}`: "+Inf 3 +Inf 2 false",
	} {
		job, warning, err := parseReport([]byte(`{"job":"a","arrival_seconds":5,"devices":{` + devices + `}}`))
		if err != nil || job.Arrival != 5 || job.Name != "a" {
			t.Errorf("%s: %+v, %v", devices, job, err)
		}
		if got := fmt.Sprint(job.Reported[CPU], job.Reported[GPU], job.Actual[CPU], job.Actual[GPU], warning != nil); got != want {
			t.Errorf("%s: %s, want %s", devices, got, want)
		}
	}
	for _, text := range []string{`{}`, `{"devices":{}}`, `[`} {
		if _, _, err := parseReport([]byte(text)); err == nil {
			t.Errorf("%s is a report", text)
		}
	}
	w, err := Load(strings.NewReader("job,arrival,cpu,cpu_actual,gpu,gpu_actual\na,1,5,6,,\nb,2,,,7,\nc,,3,,4,2\nd,3,,,,\n"), "f")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, j := range w.Jobs {
		got = append(got, fmt.Sprint(j.ID, j.Name, j.Arrival, j.Reported, j.Actual))
	}
	if text, want := strings.Join(got, "; "), "3c0 [3 4] [3 2]; 1a1 [5 +Inf] [6 +Inf]; 2b2 [+Inf 7] [+Inf 7]"; text != want || len(w.Diagnostics) != 1 {
		t.Errorf("%s, want %s; %v", text, want, w.Diagnostics)
	}
}
