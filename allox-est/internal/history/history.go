package history

import (
	"slices"
	"strconv"

	"github.com/foretime/foretime/allox-est/internal/journal"
	"github.com/foretime/foretime/allox-est/internal/progress"
	"github.com/foretime/foretime/shared/stats"
	"github.com/foretime/foretime/shared/uncertainty"
)

// Run is a finished run: the units done with their times, and its end, in seconds.
type Run struct {
	Block   string
	Marks   []progress.Mark
	Units   float64
	Seconds float64
	Stopped float64 // units that it was to do if it ended by itself after Units; 0 if it did them all
	// SameScript and OtherMachine compare the run with the one to be predicted.
	SameScript, OtherMachine bool
}

// Of returns the past of a run: the finished whole runs of its job, or of its command with other
// seeds and paths, among those of a journal on the same device.
func Of(runs []journal.Run, now journal.Run) (p Past) {
	key := CommandKey(now.Command)
	for i, r := range runs {
		same := r.Job == now.Job || len(now.Command) > 0 && CommandKey(r.Command) == key
		if !same || r.Kind != journal.Full || r.Device != now.Device || r.HasFailed() {
			continue
		}
		p.Runs = append(p.Runs, Run{
			Block: strconv.Itoa(i), Marks: r.Timeline(), Units: float64(r.Epochs), Seconds: r.Wall, Stopped: float64(r.Asked),
			SameScript:   r.Inputs != "" && r.Inputs == now.Inputs,
			OtherMachine: r.Host != now.Host || r.Processor != now.Processor,
		})
	}
	return p
}

// Past holds the finished runs of one command, the last ones at the end. The zero value is a
// past of none.
type Past struct{ Runs []Run }

// mostRuns is the number of runs that are used of a past, the last ones.
const mostRuns = 40

// leastLaps is the least number of laps that a run must have before and after the share.
const leastLaps = 3

func (p *Past) last() []Run { return p.Runs[max(0, len(p.Runs)-mostRuns):] }

// Shapes returns the shapes of the past runs at a share of their units.
func (p *Past) Shapes(share float64) (shapes []Shape) {
	for _, run := range p.last() {
		seen := firstAt(run.Marks, share*run.Units)
		if seen < leastLaps || seen >= len(run.Marks) {
			continue
		}
		left := run.Units - run.Marks[seen].Number
		pace, ok := PaceOf(run.Marks[:seen+1])
		rest := run.lastUnit() - run.Marks[seen].Seconds
		if ok && left > 0 && rest > 0 {
			shapes = append(shapes, Shape{Block: run.Block, Pace: pace, Rest: rest / left, SameScript: run.SameScript})
		}
	}
	return shapes
}

// lastUnit returns when the last unit was done; the end of a run whose lines begin units.
func (r Run) lastUnit() float64 {
	if n := len(r.Marks); n > 0 && r.Marks[n-1].Number >= r.Units {
		return r.Marks[n-1].Seconds
	}
	return r.Seconds
}

// Stops returns the shares of their units, ascending and beyond a share, at which past runs ended:
// 1 where they did them all. Nil if no run ended by itself before.
func (p *Past) Stops(share float64) []float64 {
	var shares []float64
	early := false
	for _, run := range p.last() {
		end := 1.0
		if run.Stopped > 0 {
			end = run.Units / run.Stopped
			early = true
		}
		if end > share {
			shares = append(shares, end)
		}
	}
	if !early {
		return nil
	}
	slices.Sort(shares)
	return shares
}

// alike returns the past runs of so many units, all of them done, on this machine.
func (p *Past) alike(units float64) []Run {
	return slices.DeleteFunc(slices.Clone(p.last()), func(r Run) bool {
		return r.Units != units || r.Stopped > 0 || r.OtherMachine
	})
}

// Marks returns the marks of the past runs of so many units on this machine.
func (p *Past) Marks(units float64) [][]progress.Mark {
	var all [][]progress.Mark
	for _, run := range p.alike(units) {
		if len(run.Marks) > leastLaps {
			all = append(all, run.Marks)
		}
	}
	return all
}

// Wholes returns the past runs of so many units on this machine by their durations.
func (p *Past) Wholes(units float64) []Shape {
	var all []Shape
	for _, run := range p.alike(units) {
		if run.Seconds > 0 {
			all = append(all, Whole(run.Block, run.Seconds, run.SameScript))
		}
	}
	return all
}

// Teardown returns the time from the last unit to the end of the process in past runs,
// with a range that holds them all; false if no run shows it.
func (p *Past) Teardown() (t uncertainty.Prediction, known bool) {
	var all []float64
	for _, run := range p.last() {
		if last := run.lastUnit(); last < run.Seconds {
			all = append(all, run.Seconds-last)
		}
	}
	if len(all) == 0 {
		return t, false
	}
	slices.Sort(all)
	few := 1 + 1/float64(len(all)) // one run shows only its own
	return uncertainty.Prediction{Value: stats.Median(all), Low: all[0] / few, High: all[len(all)-1] * few}, true
}
