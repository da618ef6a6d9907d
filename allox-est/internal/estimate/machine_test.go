package estimate

import (
	"math"
	"testing"

	"github.com/foretime/foretime/allox-est/internal/journal"
)

// burnedRuns returns two runs of a job, for a test that changes them.
func burnedRuns(change func(*journal.Run)) []journal.Run {
	c := burn{Setup: 1, Epoch: 0.05, Teardown: 0.5}
	var runs []journal.Run
	for _, epochs := range []int{4, 8} {
		r := burned(c, epochs)
		change(&r)
		runs = append(runs, r)
	}
	return runs
}

func estimateBurned(t *testing.T, runs []journal.Run, onMachine bool) *Estimate {
	t.Helper()
	e, err := New(runs, cpu(400), Settings{Real: onMachine})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// On a real machine the interval allows for a change of speed by 1.6 to both sides at
// 95 %; the value and the rule that ends the sampling stay, and no warning is added.
func TestRealMachine(t *testing.T) {
	runs := burnedRuns(func(*journal.Run) {})
	simulated, measured := estimateBurned(t, runs, false), estimateBurned(t, runs, true)
	if r := measured.Wall.High / measured.Wall.Value; r < 1.59 || r > 2 {
		t.Errorf("the upper end is %.3f of the value, want 1.6 or somewhat more", r)
	}
	if r := measured.Wall.Low / measured.Wall.Value; r > 0.63 || r < 0.5 {
		t.Errorf("the lower end is %.3f of the value, want 1/1.6 or somewhat less", r)
	}
	if measured.Wall.Value != simulated.Wall.Value || measured.HalfWidth() != simulated.HalfWidth() {
		t.Errorf("value %v, half-width %v; without %v, %v", measured.Wall.Value, measured.HalfWidth(), simulated.Wall.Value, simulated.HalfWidth())
	}
	if len(measured.Warnings) != len(simulated.Warnings) {
		t.Errorf("warnings %v, without %v", measured.Warnings, simulated.Warnings)
	}
}

// Only computing depends on the speed of the processor.
func TestRealMachineOfSleepingJob(t *testing.T) {
	sleeping := burnedRuns(func(r *journal.Run) {
		r.CPU /= 100
		r.LapCPU = scaled(r.LapCPU, 0.01)
	})
	ratio := estimateBurned(t, sleeping, true).Wall.High / estimateBurned(t, sleeping, false).Wall.High
	if math.Abs(ratio-1) > 0.02 {
		t.Errorf("the upper end moves by %.3f", ratio)
	}
}
