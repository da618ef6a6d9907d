package provision

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/foretime/foretime/mirage/internal/samples"
	"github.com/foretime/foretime/mirage/internal/slurmview"
	"github.com/foretime/foretime/shared/file"
)

// record is a line of the history: how the queue was, in policy time, and
// which jobs were seen to have started since the line before.
type record struct {
	At     int64     `json:"at"`
	Queue  []float64 `json:"queue,omitempty"`
	Starts []start   `json:"starts,omitempty"`
}

type start struct {
	Job  int64   `json:"job"`
	At   int64   `json:"at"`
	Wait float64 `json:"wait_seconds"`
}

// waitsKept is the number of waits that a policy receives.
const waitsKept = 500

// history holds the observations of a queue, on disk.
type history struct {
	moments []samples.Moment // ascending
	starts  []start          // by time of start
	known   map[int64]bool   // jobs whose start was seen and that may be seen again
	lens    samples.Lens
	log     *file.Log
}

func openHistory(path string) (*history, error) {
	h := &history{known: map[int64]bool{}}
	log, err := openLog(path, "at", func(r record) error {
		if r.Queue != nil && len(r.Queue) != len(samples.Snapshot{}) {
			return fmt.Errorf("%d queue features, want %d", len(r.Queue), len(samples.Snapshot{}))
		}
		h.remember(r)
		return nil
	})
	h.log = log
	return h, err
}

func (h *history) remember(r record) {
	if r.Queue != nil {
		h.moments = append(h.moments, samples.Moment{At: r.At, Snapshot: samples.Snapshot(r.Queue)})
		if extra := len(h.moments) - 4*samples.Steps; extra > 0 {
			h.moments = slices.Delete(h.moments, 0, extra)
		}
	}
	for _, s := range r.Starts {
		h.known[s.Job] = true
	}
	h.starts = append(h.starts, r.Starts...)
	slices.SortStableFunc(h.starts, func(a, b start) int { return cmp.Compare(a.At, b.At) })
	if extra := len(h.starts) - waitsKept; extra > 0 {
		h.starts = slices.Delete(h.starts, 0, extra)
	}
}

// see takes in which jobs of the queue have started; own are left out.
func (h *history) see(jobs []slurmview.Job, now int64, own func(int64) bool) error {
	r := record{At: now}
	present := map[int64]bool{}
	for i := range jobs {
		if j := &jobs[i]; j.HasStarted() && !own(j.ID) {
			present[j.ID] = true
			if !h.known[j.ID] {
				r.Starts = append(r.Starts, start{j.ID, j.Start, float64(max(j.Start-j.Submit, 0))})
			}
		}
	}
	h.known = present
	if r.Starts == nil {
		return nil
	}
	return h.keep(r)
}

// snapshot takes in how the queue is at an instant.
func (h *history) snapshot(jobs []slurmview.Job, at float64) error {
	since := func(t int64) float64 { return max(at-float64(t), 0) }
	var pending []samples.Pending
	var running []samples.Running
	for i := range jobs {
		j := &jobs[i]
		switch {
		case j.State.Pending() && j.Held():
		case j.State.Pending():
			for range max(j.Tasks, 1) {
				pending = append(pending, samples.Pending{LimitMinutes: j.Limit.Minutes(), Nodes: float64(j.Nodes), AgeSeconds: since(j.Submit)})
			}
		case j.State.Running():
			limit := j.Limit.Seconds()
			if limit == 0 {
				limit = float64(max(j.End-j.Start, 0))
			}
			running = append(running, samples.Running{LimitMinutes: limit / 60, Nodes: float64(j.Nodes), WaitSeconds: float64(max(j.Start-j.Submit, 0)), ElapsedSeconds: since(j.Start)})
		}
	}
	s := h.lens.Take(pending, running)
	return h.keep(record{At: int64(at), Queue: s[:]})
}

// keep remembers a record, also if it cannot be written.
func (h *history) keep(r record) error {
	h.remember(r)
	return h.log.AppendJSON(r)
}

// waits returns the last waits, newest first.
func (h *history) waits() []float64 {
	waits := make([]float64, len(h.starts)) // no more than waitsKept
	for i, s := range h.starts {
		waits[len(waits)-1-i] = s.Wait
	}
	return waits
}

// window returns the day before an instant, a snapshot each ten minutes: each the latest one by then, and the first of all where there was
// none yet.
func (h *history) window(now int64) []samples.Moment {
	if len(h.moments) == 0 {
		return nil
	}
	window := make([]samples.Moment, samples.Steps)
	k := 0
	for i := range window {
		at := now - int64(samples.Steps-1-i)*samples.SnapshotSeconds
		for k+1 < len(h.moments) && h.moments[k+1].At <= at {
			k++
		}
		window[i] = samples.Moment{At: at, Snapshot: h.moments[k].Snapshot}
	}
	return window
}
