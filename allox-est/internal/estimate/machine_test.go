package estimate

import (
	"strings"
	"testing"
	"time"

	"github.com/foretime/foretime/allox-est/internal/journal"
	"github.com/foretime/foretime/shared/timing"
)

// quietReadings returns readings of a machine that was always quiet, each so long
// after the last.
func quietReadings(n int, apart time.Duration) []timing.Reading {
	all := make([]timing.Reading, n)
	for i := range all {
		part := timing.Cost{Wall: 0.015, CPU: 0.015}
		all[i] = timing.Reading{At: time.Unix(1e6, 0).Add(time.Duration(i) * apart), Compute: part, Memory: part}
	}
	return all
}

// The interval of a job allows for what its machine may do: by defaults where it is
// unknown, or where the samples are of another machine, hardly where it was always
// quiet; by nothing for runs of no machine. The value and the stop rule stay.
func TestMachine(t *testing.T) {
	c := burn{Setup: 1, Epoch: 0.05, Teardown: 0.5}
	runs := []journal.Run{burned(c, 4), burned(c, 8)}
	for i := range runs {
		runs[i].Host = "here"
	}
	estimate := func(m *Machine, runs ...journal.Run) *Estimate {
		t.Helper()
		e, err := New(runs, cpu(400), Settings{Machine: m})
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	none := estimate(nil, runs...)
	if warned(none, ErrMachine) {
		t.Errorf("no machine: %v", none.Warnings)
	}
	quiet := quietReadings(300, time.Minute)
	for _, tt := range []struct {
		name       string
		machine    *Machine
		least, top float64 // of the upper end, over that without a machine
		warned     bool
	}{
		{"unknown", &Machine{Host: "here"}, 1.5, 3, true},
		{"quiet", &Machine{Host: "here", Readings: quiet}, 1, 1.05, false},
		{"another machine's readings", &Machine{Host: "there", Readings: quiet}, 1.5, 3, true},
	} {
		e := estimate(tt.machine, runs...)
		if r := e.Wall.High / none.Wall.High; !(tt.least <= r && r <= tt.top) {
			t.Errorf("%s: the upper end is %.3f of that without, want %v to %v", tt.name, r, tt.least, tt.top)
		}
		if e.Wall.Value != none.Wall.Value || e.HalfWidth() != none.HalfWidth() {
			t.Errorf("%s: value %v, half-width %v; without %v, %v", tt.name, e.Wall.Value, e.HalfWidth(), none.Wall.Value, none.HalfWidth())
		}
		if warned(e, ErrMachine) != tt.warned {
			t.Errorf("%s: warnings %v", tt.name, e.Warnings)
		}
		if e.Wall.Low < e.Uncontended.Low {
			t.Errorf("%s: the wall time may be %v, less than without other work, %v", tt.name, e.Wall.Low, e.Uncontended.Low)
		}
	}
	// The wide interval is the first thing said, with its reason.
	first := estimate(&Machine{Host: "here"}, runs...).Warnings[0].Error()
	if !strings.Contains(first, ErrUnsure.Error()) || !strings.Contains(first, "0 moments") {
		t.Errorf("the first warning: %s", first)
	}
}

// Only computing depends on the speed of the processor and on other work; a job that
// its weight shields waits for none.
func TestMachineOfIdleAndShieldedJobs(t *testing.T) {
	c := burn{Setup: 1, Epoch: 0.05, Teardown: 0.5}
	var sleeping, shielded, plain []journal.Run
	for _, n := range []int{4, 8} {
		r := burned(c, n)
		plain = append(plain, r)
		r.Weight = 10000
		shielded = append(shielded, r)
		r = burned(c, n)
		r.CPU, r.LapCPU = r.CPU/100, scaled(r.LapCPU, 0.01)
		sleeping = append(sleeping, r)
	}
	high := func(runs []journal.Run) float64 {
		var ends [2]float64
		for i, m := range []*Machine{nil, {}} {
			e, err := New(runs, cpu(400), Settings{Machine: m})
			if err != nil {
				t.Fatal(err)
			}
			ends[i] = e.Wall.High
		}
		return ends[1] / ends[0]
	}
	p, s, w := high(plain), high(sleeping), high(shielded)
	if !(s < 1.02) || !(w < 1.4) || !(p > 1.5) {
		t.Errorf("the upper end moves by %.3f of a computing job, %.3f of one that sleeps, %.3f of a shielded one", p, s, w)
	}
}
