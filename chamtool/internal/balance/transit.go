package balance

import "math"

// arrival is the seconds that a task which was sent takes to be in the receiver's
// load.
const arrival = 0.010

// InTransit holds the tasks sent so recently that the receivers' loads do not contain them yet.
// Times are on the caller's clock in seconds. The zero value is ready.
type InTransit struct {
	sent    []parcel
	decided float64
	started bool
}

type parcel struct {
	sentAt, seconds float64
	to              int
}

// Send adds predicted seconds of work that leave for a rank now.
func (w *InTransit) Send(now float64, to int, seconds float64) {
	w.sent = append(w.sent, parcel{now, seconds, to})
}

// AddTo adds what is still on its way to the loads.
func (w *InTransit) AddTo(loads []float64, now float64) {
	kept := w.sent[:0]
	for _, p := range w.sent {
		if now-p.sentAt < arrival {
			loads[p.to] += p.seconds
			kept = append(kept, p)
		}
	}
	w.sent = kept
}

// SinceLast returns the seconds since it was last called, +Inf at first.
func (w *InTransit) SinceLast(now float64) float64 {
	before, asked := w.decided, w.started
	w.decided, w.started = now, true
	if !asked {
		return math.Inf(1)
	}
	return now - before
}
