package timing

import (
	"errors"
	"time"
)

// Clock returns the current time, such as time.Now; tests pass their own.
type Clock func() time.Time

// ErrNotStarted is returned when a lap ends before Start.
var ErrNotStarted = errors.New("timing: lap ended before the first start")

// Laps measures consecutive laps. Its zero value is ready; it is not safe for
// concurrent use.
type Laps struct {
	Now Clock // nil means time.Now

	last    time.Time
	started bool
	seconds []float64
}

// Start begins the first lap; laps already taken are kept.
func (l *Laps) Start() { l.last, l.started = l.now(), true }

// Lap ends the current lap, begins the next and returns the seconds of the one that
// ended. Before Start it returns ErrNotStarted.
func (l *Laps) Lap() (float64, error) {
	if !l.started {
		return 0, ErrNotStarted
	}
	now := l.now()
	// A clock without a monotonic reading may step back; a lap never does.
	s := max(0, now.Sub(l.last).Seconds())
	l.last = now
	l.seconds = append(l.seconds, s)
	return s, nil
}

// Seconds returns the laps taken so far. The caller must not change them.
func (l *Laps) Seconds() []float64 { return l.seconds }

func (l *Laps) now() time.Time {
	if l.Now == nil {
		return time.Now()
	}
	return l.Now()
}
