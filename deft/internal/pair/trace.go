package pair

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/foretime/foretime/shared/stats"
)

// ErrTrace is returned for a trace that cannot be played.
var ErrTrace = errors.New("not a trace of a program's launches")

// Trace holds the launches of a program that has the device to itself. As JSON, times are
// in nanoseconds.
type Trace struct {
	Program  string   `json:"program"`
	Device   string   `json:"device,omitempty"`
	Launches []Launch `json:"launches"`
	// Overhead is the part of the recorded time that recording took.
	Overhead float64 `json:"overhead,omitempty"`
	Warnings []error `json:"-"`
}

// Launch is a kernel or a graph.
type Launch struct {
	// Gap is the time on the host before it: since the launch before, or, if Wait, since
	// the program had waited for all of its kernels.
	Gap     time.Duration `json:"gap_ns"`
	Wait    bool          `json:"wait,omitempty"`
	Time    time.Duration `json:"time_ns"` // on the device
	Kernels int           `json:"kernels,omitempty"`
}

// row mirrors struct trace_row of hook/src/trace.h.
type row struct {
	Kind, Kernels         uint32
	In, Call, Called, Out uint64
	Begin, End            uint64
}

const (
	kindLaunch = 1
	kindWait   = 2
	kindEvents = 3
	rowBytes   = 56

	shortest = 500 * time.Nanosecond // resolution of a CUDA event
)

// ReadRecording reads a file of libdeft-trace.so. Of the recorded time the first part is
// left out, in which a program loads its model and warms up: as much as skip, or half if
// the recording is shorter than twice that.
func ReadRecording(path string, skip time.Duration) (*Trace, error) {
	raw, err := readBounded(path)
	if err != nil {
		return nil, err
	}
	rows := make([]row, len(raw)/rowBytes)
	if _, err := binary.Decode(raw[:len(rows)*rowBytes], binary.LittleEndian, rows); err != nil {
		return nil, fmt.Errorf("%s: %w: %w", path, ErrTrace, err)
	}
	// Rows are written when their kernels are done: back into the order of the host.
	slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(a.In, b.In) })
	t := build(rows, skip)
	var sum total
	for i, l := range t.Launches {
		if err := sum.add(i, l); err != nil {
			return nil, fmt.Errorf("%s: %w: %w", path, ErrTrace, err)
		}
	}
	if len(t.Launches) == 0 {
		return nil, fmt.Errorf("%s: %w: it has no launches", path, ErrTrace)
	}
	return t, nil
}

// build makes a trace of rows in the order of the host.
func build(rows []row, skip time.Duration) *Trace {
	t := &Trace{}
	times, unknown := deviceTimes(rows)
	if unknown > 0 {
		t.Warnings = append(t.Warnings, fmt.Errorf("the driver did not say how long %d of %d launches took: they count as the median", unknown, len(rows)))
	}
	rows, times = steady(rows, times, skip)
	if len(rows) == 0 {
		return t
	}
	var last uint64 // when the host went on after the call before
	wait, lost := false, 0.0
	for i, r := range rows {
		if last == 0 {
			last = r.In
		}
		switch r.Kind {
		case kindWait:
			wait = wait || len(t.Launches) > 0
			last = r.Out
		case kindLaunch:
			gap := time.Duration(r.In-min(last, r.In)) + callCost
			t.Launches = append(t.Launches, Launch{Gap: gap, Wait: wait, Time: times[i], Kernels: int(max(r.Kernels, 1))})
			lost += float64(r.Call-min(r.In, r.Call)) + float64(r.Out-min(r.Called, r.Out))
			wait, last = false, r.Out
		}
	}
	if span := float64(rows[len(rows)-1].Out - rows[0].In); span > 0 {
		t.Overhead = lost / span
	}
	return t
}

// callCost is the host time of the driver's launch call itself, which cannot be distinguished
// from that of the events around it.
const callCost = 2 * time.Microsecond

// steady leaves out the first part of the rows.
func steady(rows []row, times []time.Duration, skip time.Duration) ([]row, []time.Duration) {
	if len(rows) == 0 {
		return rows, times
	}
	begin, span := rows[0].In, time.Duration(rows[len(rows)-1].Out-rows[0].In)
	from := begin + uint64(min(skip, span/2))
	first := slices.IndexFunc(rows, func(r row) bool { return r.In >= from })
	return rows[max(first, 0):], times[max(first, 0):]
}

// deviceTimes returns how long each launch took, and for how many that is not known: they
// get the median. On an idle device the event before a launch is done when the launch is
// still on its way: the time of the host's call is not device time. Nor is the time of two events
// with nothing between them.
func deviceTimes(rows []row) (times []time.Duration, unknown int) {
	var events, known []float64
	for _, r := range rows {
		if r.Kind == kindEvents {
			events = append(events, float64(r.End))
		}
	}
	var event time.Duration
	if len(events) > 0 {
		event = time.Duration(stats.Median(events))
	}
	times = make([]time.Duration, len(rows))
	var last uint64 // end of the launch before
	for i, r := range rows {
		if r.Kind != kindLaunch || r.End == 0 {
			continue
		}
		took := time.Duration(r.End-min(r.Begin, r.End)) - event
		if r.Begin > last+uint64(shortest) {
			took -= time.Duration(r.Called - min(r.Call, r.Called))
		}
		last = max(last, r.End)
		times[i] = max(took, shortest)
		known = append(known, float64(times[i]))
	}
	for i, r := range rows {
		if r.Kind == kindLaunch && r.End == 0 {
			unknown++
			if len(known) > 0 {
				times[i] = time.Duration(stats.Median(known))
			}
		}
	}
	return times, unknown
}

// Busy returns the share of the program's time alone in which the device works, at most 1:
// about, as kernels may run while the host is in a gap.
func (t *Trace) Busy() float64 {
	var host, busy, queued, clock time.Duration // queued: until when the device has work
	for _, l := range t.Launches {
		if l.Wait {
			clock = max(clock, queued)
		}
		clock += l.Gap
		queued = max(queued, clock) + l.Time
		busy += l.Time
	}
	host = max(clock, queued)
	return float64(busy) / float64(max(host, 1))
}
