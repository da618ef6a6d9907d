package schedule

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

// Record is a job as it is submitted. It runs on one node of one device.
type Record struct {
	ID      int
	User    string
	Arrival float64 // seconds
	On      [Devices]Demand
	Name    string // for messages
}

// Demand is the demand of a job on one device. With 0 s from Other on, the job cannot run
// there.
type Demand struct {
	Seconds float64 // true time; +Inf where the job cannot run there
	// Error is the relative error of the estimate: a scheduler sees
	// Seconds*(1+Error).
	Error float64
	// Doubt is the standard deviation of the logarithm of the true time around the estimate,
	// from its interval; 0 if unknown.
	Doubt float64
}

func (r *Record) absent(d Device) bool { return d >= Other && r.On[d].Seconds == 0 }

// Seconds returns the true time of the job on a device, +Inf where it cannot
// run there.
func (r *Record) Seconds(d Device) float64 {
	if r.absent(d) {
		return math.Inf(1)
	}
	return r.On[d].Seconds
}

// Reported returns the time on a device by the job's estimate, +Inf if the job cannot run
// there.
func (r *Record) Reported(d Device) float64 { return r.Seconds(d) * (1 + r.On[d].Error) }

// Errors returned for a job that no schedule can hold. They arrive wrapped
// with the job.
var (
	// ErrTime is returned when a time is not above zero, or NaN.
	ErrTime = errors.New("time is not above zero")
	// ErrArrival is returned when an arrival is below zero or not finite.
	ErrArrival = errors.New("invalid arrival time")
	// ErrNowhere is returned when a job can run on no device.
	ErrNowhere = errors.New("can run on no device")
)

// Check returns why the job cannot be scheduled, or nil.
func (r *Record) Check() error {
	wrap := func(err error) error { return fmt.Errorf("job %d: %w", r.ID, err) }
	if !(r.Arrival >= 0) || math.IsInf(r.Arrival, 0) {
		return wrap(ErrArrival)
	}
	somewhere := false
	for at, d := range r.On {
		if r.absent(Device(at)) {
			continue
		}
		if !(d.Seconds > 0) || !(d.Seconds*(1+d.Error) > 0) {
			return wrap(ErrTime)
		}
		somewhere = somewhere || !math.IsInf(d.Seconds, 1)
	}
	if !somewhere {
		return wrap(ErrNowhere)
	}
	return nil
}

// Workload is the jobs of one or more sources in order of arrival.
type Workload struct {
	Jobs        []Record
	Counts      dataset.Counts // records read, used and dropped
	Diagnostics []*dataset.SyntaxError
	Warnings    []error
}

// add takes in a job, or what is wrong with it, and says whether it is used.
func (w *Workload) add(job Record, err error, file string, line int) bool {
	w.Counts.Read++
	if err != nil {
		w.Counts.Dropped++
		w.Diagnostics = append(w.Diagnostics, &dataset.SyntaxError{File: file, Line: line, Msg: err.Error()})
		return false
	}
	w.Counts.Used++
	w.Jobs = append(w.Jobs, job)
	return true
}

// sort puts the jobs in order of arrival, keeping the order of the source.
func (w *Workload) sort() {
	slices.SortStableFunc(w.Jobs, func(a, b Record) int { return cmp.Compare(a.Arrival, b.Arrival) })
}
