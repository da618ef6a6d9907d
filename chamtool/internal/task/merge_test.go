package task

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/foretime/foretime/chamtool/internal/event"
	"github.com/foretime/foretime/chamtool/internal/testkit/ringtest"
)

// witness sees what was told before each start.
type witness struct {
	ends     map[uint64]uint64 // of each token, in ticks
	starts   map[uint64]uint64
	ended    map[uint64]bool
	started  map[uint64]int
	late     int
	excluded int
	wrong    string
}

func (w *witness) TaskCreated(*Task[int], []int64)    {}
func (w *witness) TaskAnnounced(int, uint64, []int64) {}
func (w *witness) TimeWaited(int, float64)            {}
func (w *witness) IterationEnded(int, float64)        {}
func (w *witness) IterationReported(int)              {}
func (w *witness) TaskExcluded(*Task[int])            { w.excluded++ }
func (w *witness) TaskSent(int)                       {}
func (w *witness) TaskCancelled(int)                  {}
func (w *witness) LoadReported(int, float64)          {}
func (w *witness) TaskEnded(t *Task[int], _ Run) {
	w.ended[t.Token] = true
	if w.started[t.Token] != 1 {
		w.wrong = "an end without one start before it"
	}
}

func (w *witness) TaskStarted(t *Task[int], late bool) {
	w.started[t.Token]++
	if late {
		w.late++
		return
	}
	for token, end := range w.ends {
		if before := end <= w.starts[t.Token]; before != w.ended[token] {
			w.wrong = "what ended before a start was not told before it, or what ended after it was"
		}
	}
}

// Whatever threads run, and whenever the rings are read: at each start exactly
// what has ended was told, those under way at a reading included.
func TestStartsKnowWhatEnded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		clock := &Clock{}
		clock.Show(1000, 1000)
		clock.Show(1_001_000, 1_001_000)
		w := &witness{ends: map[uint64]uint64{}, starts: map[uint64]uint64{}, ended: map[uint64]bool{}, started: map[uint64]int{}}
		tracker := NewTracker[int](w, clock)
		lanes := rapid.IntRange(1, 5).Draw(t, "lanes")
		var rings []*ringtest.Ring
		running, since := make([]uint64, lanes), make([]uint64, lanes)
		for range lanes {
			rings = append(rings, ringtest.New(1<<10))
		}
		now, token := uint64(2000), uint64(0)
		for range rapid.IntRange(1, 120).Draw(t, "moments") {
			now += uint64(rapid.IntRange(1, 50).Draw(t, "pause"))
			lane := rapid.IntRange(0, lanes-1).Draw(t, "lane")
			switch r := rings[lane]; {
			case rapid.IntRange(0, 5).Draw(t, "read") == 0:
				tracker.Drain(ringtest.List(rings...), math.MaxUint64)
			case running[lane] == 0:
				token++
				var s event.Slot
				ringtest.SetHeader(&s, event.Create, event.Local, 0, 0)
				s[event.WordTicks], s[event.WordToken] = now-1, token
				r.Push(&s, nil)
				running[lane], since[lane], w.starts[token] = token, now, now
				r.Begin(token, now)
			default:
				var s event.Slot
				ringtest.SetHeader(&s, event.Run, event.Local, 0, ringtest.Place(lane, 0))
				s[event.WordTicks], s[event.WordToken], s[event.WordEnd] = since[lane], running[lane], now
				w.ends[running[lane]] = now
				r.Push(&s, nil)
				r.Begin(0, 0)
				running[lane] = 0
			}
		}
		tracker.Drain(ringtest.List(rings...), math.MaxUint64)
		if w.wrong != "" || w.late > 0 || len(w.ended) != len(w.ends) {
			t.Fatalf("%s; %d late, %d of %d ends told", w.wrong, w.late, len(w.ended), len(w.ends))
		}
	})
}
