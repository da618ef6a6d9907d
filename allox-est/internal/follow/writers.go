package follow

import (
	"fmt"
	"math"
	"time"

	"github.com/foretime/foretime/shared/file"
)

// writers are the programs that write a log.
type writers struct {
	last   time.Time // when the last line came
	gap    time.Duration
	asked  time.Time
	held   []holder
	seen   bool // all processes could be seen
	wrote  bool // a writer was seen
	writer holder
	steady int       // looks in a row at which the same writer had the log open
	warned bool      // that nobody has it open
	still  time.Time // the last line of a pause that was named
}

// A log that its writers have closed has ended after so many seconds, gaps between lines or
// units without a line.
const (
	stillUnits   = 10
	stillSeconds = 10
	closedGaps   = 2
	steadyLooks  = 2
	closedFor    = 500 * time.Millisecond
	askEvery     = 500 * time.Millisecond // who writes the log
)

// endReason says why a log that is read to its end has ended; empty where it has not. A log
// that a program may have open never has, however long it is still.
func (r *reading) endReason(f *file.Input, now time.Time) string {
	still := now.Sub(r.last)
	if now.Sub(r.asked) >= askEvery {
		r.asked = now
		r.findWriters(f)
	}
	full := r.Reader.Full()
	left := r.wrote && (r.steady >= steadyLooks || !r.writer.alive()) // it does not open the log for each line
	switch closed := r.seen && len(r.held) == 0; {
	case !closed && still > r.unit(stillUnits) && !r.still.Equal(r.last):
		r.still = r.last
		whose := "a program still has it open"
		if !r.seen {
			whose = "whether a program still writes it cannot be seen"
		}
		r.notice(fmt.Sprintf("%s: nothing was written for %v; %s", r.Path, still.Round(time.Second), whose))
	case !closed:
	case full && (left || !r.wrote && r.Reader.LastUnit() >= r.Reader.Length()) && still > closedFor:
		return "no program writes it any more"
	case left && still > max(closedFor, closedGaps*r.gap):
		return "its writer has closed it"
	case !r.wrote && !r.warned && still > closedGaps*time.Second:
		r.warned = true
		r.notice(r.Path + ": no program has the log open for writing")
	case !r.wrote && still > max(closedFor, r.unit(stillUnits)):
		return "no program writes it"
	}
	return ""
}

// findWriters looks who writes the log. A file of another user may have writers that cannot be
// seen.
func (r *reading) findWriters(f *file.Input) {
	info, err := f.Stat()
	if err != nil {
		return
	}
	for _, h := range r.held {
		if h.hasOpen(info) {
			r.writer = h
			r.steady++
			return
		}
	}
	r.held, r.seen = holdersOf(r.Proc, info)
	if len(r.held) > 0 {
		r.wrote = true
		r.writer, r.steady = r.held[0], 0
	}
	r.seen = r.wrote || (r.seen || r.Proc != "" && onlyOwnerWrites(info)) && local(r.Path)
}

// unit returns the time of some units, but not less than stillSeconds, nor than as many
// gaps between lines.
func (r *reading) unit(times int) time.Duration {
	seconds := float64(stillSeconds)
	if m := r.Reader.Marks(); len(m) > 1 {
		first, last := m[0], m[len(m)-1]
		seconds = max(seconds, float64(times)*(last.Seconds-first.Seconds)/max(1e-9, last.Number-first.Number))
	}
	seconds = max(seconds, float64(times)*r.gap.Seconds())
	return time.Duration(min(seconds, math.MaxInt32) * float64(time.Second))
}
