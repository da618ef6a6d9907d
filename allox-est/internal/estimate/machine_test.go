package estimate

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/foretime/foretime/allox-est/internal/journal"
	"github.com/foretime/foretime/allox-est/internal/progress"
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
	if measured.Wall.Value != simulated.Wall.Value || measured.HalfWidth != simulated.HalfWidth {
		t.Errorf("value %v, half-width %v; without %v, %v", measured.Wall.Value, measured.HalfWidth, simulated.Wall.Value, simulated.HalfWidth)
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

// unsteadyMachine returns the marks of epochs of a second at a machine's usual speed, which is
// another one after a random time of so many seconds on average: its logarithm is normal with
// such a deviation.
func unsteadyMachine(rng *rand.Rand, epochs int, lasts, deviation float64) []progress.Mark {
	marks := []progress.Mark{{}}
	at, until, slowness := 0.0, 0.0, 1.0
	for i := range epochs {
		for at >= until {
			slowness = math.Exp(deviation * rng.NormFloat64())
			until += lasts * rng.ExpFloat64()
		}
		at += slowness * (1 + 0.02*rng.NormFloat64())
		marks = append(marks, progress.Mark{Number: float64(i + 1), Seconds: at})
	}
	return marks
}

// On machines whose speed changes within a minute by up to 1.6, in both directions, at most a
// twentieth of the runs ends below the interval from a sample, and above it.
func TestUnsteadyMachine(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: one thread computes")
	}
	const runs = 400
	rng := rand.New(rand.NewPCG(6, 6))
	for _, tt := range []struct {
		epochs int
		lasts  float64 // seconds of one speed
	}{{20, 60}, {60, 60}, {600, 60}, {600, 600}, {3000, 60}} {
		epochs := tt.epochs
		below, above := 0.0, 0.0
		for range runs {
			marks := unsteadyMachine(rng, epochs, tt.lasts, 0.17)
			const seen = 6
			end := marks[seen].Seconds
			sample := journal.Run{Epochs: seen, Device: "cpu", Marks: marks[:seen+1], Wall: end, CPU: end, Threads: 1, CPUs: 1}
			e, err := New([]journal.Run{sample}, Job{Epochs: epochs, Device: "cpu"}, Settings{Real: true})
			if err != nil {
				t.Fatal(err)
			}
			switch whole := marks[epochs].Seconds; {
			case whole < e.Wall.Low:
				below++
			case whole > e.Wall.High:
				above++
			}
		}
		t.Logf("%d epochs, %v s a speed: %.3f below, %.3f above", epochs, tt.lasts, below/runs, above/runs)
		if below/runs > 0.05 || above/runs > 0.05 {
			t.Errorf("%d epochs: %v below, %v above the interval", epochs, below/runs, above/runs)
		}
	}
}
