package workload

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/foretime/foretime/shared/dataset"
)

// Device is a kind of machine a job can run on.
type Device int

// The devices. Those after GPU are further kinds of nodes, which whoever builds
// the workload names.
const (
	CPU Device = iota
	GPU
	Other       // the first further kind
	Devices = 8 // how many there are at most
)

// String returns "cpu" or "gpu", and "kind" with a number for the others.
func (d Device) String() string {
	if d < Other {
		return [...]string{"cpu", "gpu"}[d]
	}
	return fmt.Sprintf("kind%d", int(d))
}

// Job is a unit of work of one user. It runs on one node of one device, its
// stages and their tasks one after the other.
type Job struct {
	ID      int
	User    string
	Arrival float64 // seconds
	Stages  []Stage
	Edges   []Edge

	// Name, Iterations and Session are carried from the simulator's records
	// and back; they have no bearing on a schedule.
	Name       string
	Iterations int
	Session    int // -1: none
}

// Stage is a part of a job.
type Stage struct {
	Name  string
	Tasks int
	On    [Devices]Demand // of 0 s from Other on: it cannot run there
}

// seconds is the true time of one task on a device.
func (s *Stage) seconds(d Device) float64 {
	if s.absent(d) {
		return math.Inf(1)
	}
	return s.On[d].Seconds
}

func (s *Stage) absent(d Device) bool { return d >= Other && s.On[d].Seconds == 0 }

// Demand is what one task of a stage takes on one device.
type Demand struct {
	Units   float64 // processors or accelerators
	Memory  float64
	Seconds float64 // true time; +Inf where the task cannot run there
	// Error is the relative error of the estimate: a scheduler is told
	// Seconds*(1+Error).
	Error float64
}

// Edge says that stage From ends before stage To begins.
type Edge struct{ From, To, Pattern string }

// Seconds returns the true time of the job on a device, +Inf where it cannot
// run there.
func (j *Job) Seconds(d Device) float64 {
	sum := 0.0
	for _, s := range j.Stages {
		sum += float64(s.Tasks) * s.seconds(d)
	}
	return sum
}

// Reported returns the time on a device that the job's estimate tells, +Inf
// where the job cannot run there.
func (j *Job) Reported(d Device) float64 {
	sum := 0.0
	for _, s := range j.Stages {
		sum += float64(s.Tasks) * s.seconds(d) * (1 + s.On[d].Error)
	}
	return sum
}

// Units returns the most processors or accelerators a stage asks of a device.
func (j *Job) Units(d Device) float64 {
	most := 0.0
	for _, s := range j.Stages {
		most = max(most, s.On[d].Units)
	}
	return most
}

// Errors returned for a job that no schedule can hold. They arrive wrapped
// with the job.
var (
	// ErrNoStage is returned when a job has no stage or a stage no task.
	ErrNoStage = errors.New("no work")
	// ErrTime is returned when a time is not above zero, or NaN.
	ErrTime = errors.New("time is not above zero")
	// ErrArrival is returned when an arrival is below zero or not finite.
	ErrArrival = errors.New("arrival is not a time")
	// ErrNowhere is returned when a job can run on no device.
	ErrNowhere = errors.New("can run on no device")
	// ErrDuplicate is returned when two jobs have the same id.
	ErrDuplicate = errors.New("job id occurs twice")
)

// Check returns why the job cannot be scheduled, or nil.
func (j *Job) Check() error {
	wrap := func(err error) error { return fmt.Errorf("job %d: %w", j.ID, err) }
	if !(j.Arrival >= 0) || math.IsInf(j.Arrival, 0) {
		return wrap(ErrArrival)
	}
	if len(j.Stages) == 0 {
		return wrap(ErrNoStage)
	}
	for _, s := range j.Stages {
		if s.Tasks < 1 || s.Name == "" {
			return wrap(ErrNoStage)
		}
		for at, d := range s.On {
			if s.absent(Device(at)) {
				continue
			}
			if !(d.Seconds > 0) || !(d.Seconds*(1+d.Error) > 0) {
				return wrap(ErrTime)
			}
			if !(d.Units >= 0) || math.IsInf(d.Units, 0) || !(d.Memory >= 0) || math.IsInf(d.Memory, 0) {
				return wrap(errors.New("demand is not a number of units"))
			}
		}
	}
	for d := range Device(Devices) {
		if !math.IsInf(j.Seconds(d), 1) {
			return nil
		}
	}
	return wrap(ErrNowhere)
}

// Workload is the jobs of one or more sources in order of arrival.
type Workload struct {
	Jobs        []Job
	Counts      dataset.Counts // records read, used and dropped
	Diagnostics []*dataset.SyntaxError
	Warnings    []error
}

// drop records an unusable record.
func (w *Workload) drop(file string, line int, err error) {
	w.Counts.Dropped++
	w.Diagnostics = append(w.Diagnostics, &dataset.SyntaxError{File: file, Line: line, Msg: err.Error()})
}

// sort puts the jobs in order of arrival, keeping the order of the source.
func (w *Workload) sort() {
	slices.SortStableFunc(w.Jobs, func(a, b Job) int { return cmp.Compare(a.Arrival, b.Arrival) })
}
