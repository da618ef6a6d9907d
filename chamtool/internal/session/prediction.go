package session

import (
	"maps"
	"math"
	"slices"

	"github.com/foretime/foretime/chamtool/internal/forecast"
)

// unknownSeconds is a task's time before any task was seen to run.
const unknownSeconds = 1e-3

// MeanSeconds returns the mean time of the tasks that ran, a millisecond before any
// did.
func (s *Session) MeanSeconds() float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.meanSeconds()
}

// Threads returns the number of workers that joined, at least 1.
func (s *Session) Threads() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(1, int(s.tracker.Counts().Threads))
}

func (s *Session) meanSeconds() float64 {
	if s.runs == 0 {
		return unknownSeconds
	}
	return s.bodySeconds / float64(s.runs)
}

// Seconds returns the predicted times of queued tasks, by token. A task that
// cannot be predicted counts as the mean; one that is not known any more has
// ended and counts as nothing. What was just created is taken in first.
func (s *Session) Seconds(tokens []uint64) []float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drain()
	out := make([]float64, len(tokens))
	for i, token := range tokens {
		if t := s.tracker.Task(token); t != nil && t.State.function != nil {
			out[i] = s.predict(t.State)
		}
	}
	return out
}

func (s *Session) predict(m TaskState) float64 {
	p, err := m.function.entry.Predict(m.footprint)
	if err != nil {
		return s.meanSeconds()
	}
	return p.Value
}

// PredictAnnounced returns the predicted times of the tasks announced in this iteration.
func (s *Session) PredictAnnounced() []float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drain()
	out := make([]float64, len(s.announced))
	for i, m := range s.announced {
		out[i] = s.predict(m)
	}
	return out
}

// Loads returns the loads of the iterations so far in seconds, from the library, or else as
// measured here.
func (s *Session) Loads() []float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drain()
	return s.iterationLoads()
}

func (s *Session) iterationLoads() []float64 {
	loads := s.history
	if len(s.patchedLoads) > 0 {
		loads = perIteration(s.patchedLoads, s.history)
	}
	out := make([]float64, 0, len(loads))
	for _, l := range loads {
		if l > 0 {
			out = append(out, l)
		}
	}
	return out
}

// perIteration returns the loads from the library in the order of iterations. A library may report
// loads added up since the start: the measured loads show which. An iteration without a load
// counts as the mean of the gap.
func perIteration(patchedLoads map[int]float64, measured []float64) []float64 {
	each, differences := make([]float64, 0, len(patchedLoads)), make([]float64, 0, len(patchedLoads))
	offEach, offDifferences := 0.0, 0.0
	order := slices.Sorted(maps.Keys(patchedLoads))
	before, at := 0.0, order[0]-1
	for _, i := range order {
		difference := (patchedLoads[i] - before) / float64(i-at)
		before, at = patchedLoads[i], i
		each, differences = append(each, patchedLoads[i]), append(differences, difference)
		if n := i - order[0]; n < len(measured) {
			offEach += math.Abs(patchedLoads[i] - measured[n])
			offDifferences += math.Abs(difference - measured[n])
		}
	}
	if offDifferences < offEach {
		return differences
	}
	return each
}

// Forecast returns the loads of the next n iterations. Before the second iteration
// ended, or the one that the configuration waits for, it is nothing.
func (s *Session) Forecast(n int) []float64 {
	loads := s.Loads()
	if len(loads) < s.options.Config.FirstFitRounds {
		return nil
	}
	m, err := forecast.Fit(loads)
	if err != nil {
		return nil
	}
	return m.Forecast(n)
}
