package history

import (
	"testing"

	"github.com/foretime/foretime/allox-est/internal/journal"
)

// TestOf checks which runs of a journal are a run's past, and how they are compared with it.
func TestOf(t *testing.T) {
	now := journal.Run{
		Job: "a", Device: "cpu", Command: []string{"train.py", "--lr", ".1"},
		Identity: journal.Identity{Host: "h", Processor: "p", Inputs: "i"},
	}
	like := func(change func(*journal.Run)) journal.Run {
		run := now
		run.Kind, run.Epochs, run.Wall = journal.Full, 10, 100
		change(&run)
		return run
	}
	for _, tt := range []struct {
		name             string
		run              journal.Run
		past             bool
		script, anywhere bool // SameScript, OtherMachine
	}{
		{"the same", like(func(*journal.Run) {}), true, true, false},
		{"the same job, other words", like(func(r *journal.Run) { r.Command = []string{"else.py"} }), true, true, false},
		{"another seed", like(func(r *journal.Run) { r.Job, r.Command = "b", []string{"train.py", "--lr", ".1", "--seed", "3"} }), true, true, false},
		{"another rate", like(func(r *journal.Run) { r.Job, r.Command = "b", []string{"train.py", "--lr", ".2"} }), false, false, false},
		{"a sample", like(func(r *journal.Run) { r.Kind = journal.Sample }), false, false, false},
		{"another device", like(func(r *journal.Run) { r.Device = "gpu" }), false, false, false},
		{"a failure", like(func(r *journal.Run) { r.Error = "exit status 1" }), false, false, false},
		{"another script", like(func(r *journal.Run) { r.Inputs = "j" }), true, false, false},
		{"a script without a digest", like(func(r *journal.Run) { r.Inputs = "" }), true, false, false},
		{"another host", like(func(r *journal.Run) { r.Host = "g" }), true, true, true},
		{"another processor", like(func(r *journal.Run) { r.Processor = "q" }), true, true, true},
	} {
		p := Of([]journal.Run{tt.run}, now)
		if len(p.Runs) == 0 != !tt.past {
			t.Errorf("%s: %d runs", tt.name, len(p.Runs))
			continue
		}
		if tt.past && (p.Runs[0].SameScript != tt.script || p.Runs[0].OtherMachine != tt.anywhere) {
			t.Errorf("%s: %+v", tt.name, p.Runs[0])
		}
	}
	bare := like(func(r *journal.Run) { r.Job, r.Command = "b", nil })
	if p := Of([]journal.Run{bare}, journal.Run{Job: "a", Device: "cpu"}); len(p.Runs) > 0 {
		t.Error("two jobs without a command were taken for one")
	}
}

// TestMarks checks which past runs serve for a run of so many units.
func TestMarks(t *testing.T) {
	timeline := marksOf(1, 1, 1, 1)
	past := Past{Runs: []Run{
		{Units: 4, Marks: timeline},
		{Units: 5, Marks: timeline},
		{Units: 4, Marks: timeline, Stopped: 9},
		{Units: 4, Marks: timeline, OtherMachine: true},
		{Units: 4, Marks: timeline[:leastLaps]},
	}}
	if n := len(past.Marks(4)); n != 1 {
		t.Errorf("%d runs serve, want 1", n)
	}
}

// TestStops checks the shares at which past runs ended by themselves.
func TestStops(t *testing.T) {
	past := Past{Runs: []Run{{Units: 10}, {Units: 6, Stopped: 10}, {Units: 2, Stopped: 10}}}
	if s := past.Stops(0.2); len(s) != 2 || s[0] != 0.6 || s[1] != 1 {
		t.Errorf("%v", s)
	}
	whole := Past{Runs: []Run{{Units: 10}}}
	if s := whole.Stops(0); s != nil {
		t.Errorf("%v", s)
	}
}

// TestTeardown checks the time after the last unit, which one run shows with little certainty.
func TestTeardown(t *testing.T) {
	past := Past{Runs: []Run{
		{Units: 4, Marks: marksOf(1, 1, 1, 1), Seconds: 6},
		{Units: 4, Marks: marksOf(1, 1, 1), Seconds: 6}, // its lines begin units
		{Units: 4, Marks: marksOf(1, 1, 1, 2), Seconds: 9},
	}}
	p, known := past.Teardown()
	if !known || p.Value != 3 || p.Low != 2/1.5 || p.High != 4*1.5 {
		t.Errorf("%+v, %v", p, known)
	}
	none := Past{Runs: []Run{{Units: 4, Marks: marksOf(1, 1), Seconds: 6}}}
	if p, known := none.Teardown(); known {
		t.Errorf("%+v", p)
	}
}
