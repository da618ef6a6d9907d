package trial

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/foretime/foretime/deft/internal/device"
	"github.com/foretime/foretime/deft/internal/pair"
	"github.com/foretime/foretime/shared/uncertainty"
)

// saturating is a program that keeps the device busy, serving one that waits for each of
// its short jobs.
func saturating() *pair.Trace {
	t := &pair.Trace{Program: "train"}
	for i := range 4000 {
		t.Launches = append(t.Launches, pair.Launch{Gap: 5 * time.Microsecond, Wait: i == 0, Time: 100 * time.Microsecond})
	}
	return t
}

func serving() *pair.Trace {
	t := &pair.Trace{Program: "serve"}
	for i := range 200 {
		l := pair.Launch{Gap: 10 * time.Microsecond, Wait: i%20 == 0, Time: 20 * time.Microsecond}
		if l.Wait {
			l.Gap = 10 * time.Millisecond
		}
		t.Launches = append(t.Launches, l)
	}
	return t
}

// What follows from the constants of the device alone, by arithmetic.
func TestTraces(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: one thread computes")
	}
	own := []Sharing{
		{Name: "turns", Device: device.Settings{Discipline: device.Turns}, Urgent: -1},
		{Name: "mps", Device: device.Settings{Discipline: device.MPS}, Urgent: -1},
		{Name: "priority", Device: device.Settings{Discipline: device.Turns}, Urgent: 1},
		{Name: "ranked", Device: device.Settings{Discipline: device.MPS, Priorities: true}, Urgent: 1},
		{Name: "parts", Device: device.Settings{Discipline: device.MPS}, Urgent: -1, Part: 0.5},
	}
	got, err := Traces(t.Context(), saturating(), saturating(), own[:2], 0)
	if err != nil {
		t.Fatal(err)
	}
	turn := float64(device.DefaultTurn)
	half := 0.5 * turn / (turn + float64(device.DefaultSwitch)) // the published 0.453 to 0.480
	overlap := 0.5 / (1 - device.DefaultOverlap)
	for k := range 2 {
		if !(math.Abs(got[0].Speeds[k].Value-half) <= 0.02) {
			t.Errorf("two that fill the device in turns: %v, want %.3f", got[0].Speeds[k], half)
		}
		if !(math.Abs(got[1].Speeds[k].Value-overlap) <= 0.03) {
			t.Errorf("under MPS: %v, want %.3f", got[1].Speeds[k], overlap)
		}
	}
	if got, err = Traces(t.Context(), saturating(), serving(), own, 0); err != nil {
		t.Fatal(err)
	}
	if urgent := got[2].Speeds[1].Value; urgent < 1/1.06 || got[0].Speeds[1].Value > urgent {
		t.Errorf("urgent: %v, in turns %v", urgent, got[0].Speeds[1].Value)
	}
	if low := got[2].Speeds[0].Value; low < 0.85 {
		t.Errorf("next to a program that uses 4 %% of the device: %v", low)
	}
	if mps, ranked := got[1].Speeds[1].Value, got[3].Speeds[1].Value; ranked < mps+0.05 {
		t.Errorf("under MPS %v, with a higher client priority %v", mps, ranked)
	}
	// With half of the processors, train takes twice as long, serve 0.4 ms more of 10.4.
	if parts := got[4].Speeds; !(math.Abs(parts[0].Value-0.5) <= 0.01) || !(math.Abs(parts[1].Value-10.4/10.8) <= 0.01) || parts[0].High != 1 {
		t.Errorf("with half of the processors each: %v", parts)
	}
}

func TestBest(t *testing.T) {
	o := func(name string, a, b float64) Outlook {
		return Outlook{Sharing: Sharing{Name: name, Measured: name != "best"}, Speeds: [2]uncertainty.Prediction{{Value: a}, {Value: b}}}
	}
	all := []Outlook{o("turns", 0.6, 0.6), o("mps", 0.7, 0.8), o("urgent A", 0.97, 0.3), o("urgent A, mps", 0.96, 0.4), o("urgent B", 0.2, 0.99), o("best", 1, 1)}
	for _, tt := range []struct {
		urgent int
		slack  float64
		want   string
		kept   bool
	}{{0, 0, "urgent A, mps", true}, {1, 0, "urgent B", true}, {0, 1.5, "mps", true}, {0, 1.01, "urgent A", false}} {
		if got, kept := Best(all, tt.urgent, tt.slack); got.Sharing.Name != tt.want || kept != tt.kept {
			t.Errorf("%+v: %s, %v", tt, got.Sharing.Name, kept)
		}
	}
}

// A job is all that a program launches between two of its own waits; a deadline for them is
// kept by the way that needs the least of the other program.
func TestBestWithin(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: one thread computes")
	}
	got, err := Traces(t.Context(), serving(), saturating(), Sharings(), 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range got { // 20 kernels of 20 us
		if first := o.Times[0][0]; first < 400*time.Microsecond {
			t.Errorf("%s: a job takes %v", o.Sharing.Name, first)
		}
		if period := o.Periods[0]; period < 10*time.Millisecond { // with its pause
			t.Errorf("%s: a job every %v", o.Sharing.Name, period)
		}
		if p := o.Within(0, time.Microsecond); p.Value != 0 {
			t.Errorf("%s: %v in a microsecond", o.Sharing.Name, p)
		}
		if p := o.Within(0, time.Minute); p.Value != 1 || p.High != 1 || p.Low > 1 {
			t.Errorf("%s: %v in a minute", o.Sharing.Name, p)
		}
	}
	for _, tt := range []struct {
		deadline time.Duration
		want     string
		kept     bool
	}{
		{900 * time.Microsecond, "priority, A urgent", true}, // in time slices a job waits for a turn
		{time.Second, "MPS", true},
		{time.Microsecond, "MPS", false}, // none: the way of the fastest other program
	} {
		best, kept := BestWithin(got, 0, tt.deadline)
		if best.Sharing.Name != tt.want || kept != tt.kept {
			t.Errorf("%v: %s, %v", tt.deadline, best.Sharing.Name, kept)
		}
	}
}

// Under MPS the kernels of a graph take turns with those of others, not the graph.
func TestTracesOfGraphs(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: one thread computes")
	}
	graphs, kernels := &pair.Trace{Program: "graphs"}, &pair.Trace{Program: "kernels"}
	for range 20 {
		graphs.Launches = append(graphs.Launches, pair.Launch{Gap: 10 * time.Microsecond, Wait: true, Time: 2 * time.Millisecond, Kernels: 100})
	}
	for range 2000 {
		kernels.Launches = append(kernels.Launches, pair.Launch{Gap: 2 * time.Microsecond, Time: 20 * time.Microsecond})
	}
	got, err := Traces(t.Context(), graphs, kernels, []Sharing{{Name: "mps", Device: device.Settings{Discipline: device.MPS}, Urgent: -1}}, 0)
	if err != nil {
		t.Fatal(err)
	}
	for k, s := range got[0].Speeds {
		if s.Value < 0.6 || s.Value > 0.8 {
			t.Errorf("program %d: %v, want about 0.5 / 0.7", k, s)
		}
	}
}

// A recording cuts the job at its begin and the one at its end: they are no jobs that a
// program does in less time.
func TestCutJobs(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: one thread computes")
	}
	const each, job = 100 * time.Microsecond, 40
	cut := &pair.Trace{Program: "train"}
	for i := range 17 + 3*job + 5 {
		l := pair.Launch{Gap: 5 * time.Microsecond, Time: each}
		l.Wait = i >= 17 && (i-17)%job == 0
		cut.Launches = append(cut.Launches, l)
	}
	got, err := Traces(t.Context(), cut, serving(), Sharings(), 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range got {
		if least := o.Times[0][0]; least < job*each {
			t.Errorf("%s: a job of %v takes %v", o.Sharing.Name, job*each, least)
		}
		// The interval of the speed reaches above 1, but a job needs its kernels' time.
		if p := o.Within(0, job*each-each); p.High != 0 {
			t.Errorf("%s: %v in less than the time of the kernels", o.Sharing.Name, p)
		}
	}
	for name, tt := range map[string]struct {
		launches []pair.Launch
		want     bool
	}{
		"whole":       {serving().Launches, true},
		"two cut":     {cut.Launches[:17+job], false},
		"one whole":   {cut.Launches[:17+job+1], true},
		"no wait":     {cut.Launches[:17], false},
		"waits first": {cut.Launches[17 : 17+job], true},
	} {
		if HasJobs(&pair.Trace{Launches: tt.launches}) != tt.want {
			t.Errorf("%s: want %v", name, tt.want)
		}
	}
}

// Of the ways that keep a deadline, the one that keeps it for sure is better.
func TestBestWithinForSure(t *testing.T) {
	way := func(name string, own, width, other float64) Outlook {
		return Outlook{
			Sharing: Sharing{Name: name, Measured: true}, Times: [2][]time.Duration{{10 * time.Millisecond}}, Periods: [2]time.Duration{10 * time.Millisecond},
			Speeds: [2]uncertainty.Prediction{{Value: own, Low: own - width, High: own + width}, {Value: other}},
		}
	}
	all := []Outlook{way("turns", 0.7, 0.01, 0.7), way("mps", 0.8, 0.2, 0.9), way("urgent", 0.98, 0.05, 0.6)}
	for _, tt := range []struct {
		ways     []Outlook
		deadline time.Duration
		want     string
		kept     bool
	}{
		{all, 11 * time.Millisecond, "turns", true},
		{all[1:2], 11 * time.Millisecond, "mps", true}, // by its value alone
		{all, time.Millisecond, "mps", false},          // none: the fastest other
	} {
		if best, kept := BestWithin(tt.ways, 0, tt.deadline); best.Sharing.Name != tt.want || kept != tt.kept {
			t.Errorf("%v: %s, %v", tt.deadline, best.Sharing.Name, kept)
		}
	}
}

// Two recordings, each within its limits, may take more launches together than any machine
// plays: one has kernels of a nanosecond, the other one of a day.
func TestTooManyLaunches(t *testing.T) {
	short := &pair.Trace{Program: "short", Launches: []pair.Launch{{Wait: true, Time: 1}}}
	long := &pair.Trace{Program: "long", Launches: []pair.Launch{{Wait: true, Time: 24 * time.Hour}}}
	for _, both := range [][2]*pair.Trace{{short, long}, {long, short}, {short, short}, {long, long}} {
		if _, err := Traces(t.Context(), both[0], both[1], Sharings(), 0); !errors.Is(err, ErrTooMany) {
			t.Errorf("%s, %s: %v", both[0].Program, both[1].Program, err)
		}
	}
}
