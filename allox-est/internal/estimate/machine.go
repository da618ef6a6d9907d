package estimate

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/foretime/foretime/allox-est/internal/journal"
	"github.com/foretime/foretime/shared/timing"
)

// ErrMachine warns that the machine's speed may change by more than a tenth
// while the job runs.
var ErrMachine = errors.New("the machine's speed may change")

// Machine is the machine that the job will run on, where the samples ran.
type Machine struct {
	Host string // its name, as in journal.Identity
	// Readings holds those of its speed, in any order: before, between and after the samples,
	// and of earlier days. Without any the machine is unknown.
	Readings []timing.Reading
}

// readings returns those that count for a job with such runs: those of another
// machine say nothing.
func (m *Machine) readings(runs []journal.Run) []timing.Reading {
	if host := runs[len(runs)-1].Host; m == nil || host != "" && host != m.Host {
		return nil
	}
	return m.Readings
}

// worthSaying is the factor from which on a change of speed is a warning.
const worthSaying = 1.1

// widen lets the intervals allow for what the machine's speed may do while the
// job runs, and returns a warning if that is worth one. Only the part of the time changes that is spent computing. A job that
// its weight shields from other work waits for none.
func (e *Estimate) widen(runs []journal.Run, m *Machine, level float64) error {
	if m == nil || !(e.Uncontended.Value > 0) {
		return nil
	}
	o := timing.NewOutlook(m.readings(runs), timing.Sampled{
		Horizon: time.Duration(e.Wall.Value * float64(time.Second)), Crowd: e.Wall.Value / e.Uncontended.Value, Level: level,
	})
	busy := min(1, e.CPU.Value/e.Uncontended.Value)
	shielded := !slices.ContainsFunc(runs, func(r journal.Run) bool { return r.Weight <= 100 })
	wall := o.Wall
	if shielded {
		wall = o.CPU
	}
	wall = wall.Of(busy)
	e.CPU, e.Uncontended, e.Wall = o.CPU.Widen(e.CPU), o.CPU.Of(busy).Widen(e.Uncontended), wall.Widen(e.Wall)
	e.Wall.Low = max(e.Wall.Low, min(e.Uncontended.Low, e.Wall.Value)) // without other work it takes that long
	if wall.High > worthSaying || wall.Low < 1/worthSaying {
		return fmt.Errorf("%w: %s; that alone may make the job take %.2f to %.2f times as long", ErrMachine, o.Reason, wall.Low, wall.High)
	}
	return nil
}
