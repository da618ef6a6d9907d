package session

import (
	"github.com/foretime/foretime/chamtool/forecast"
	"github.com/foretime/foretime/chamtool/ring"
)

// unknownSeconds is a task's time before any task was seen to run.
const unknownSeconds = 1e-3

// MeanSeconds is the mean time of the tasks that ran, a millisecond before any
// did.
func (s *Session) MeanSeconds() float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.meanSeconds()
}

// Threads is how many workers joined, at least 1.
func (s *Session) Threads() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(1, int(s.tracker.Counts().Threads))
}

func (s *Session) meanSeconds() float64 {
	if s.ended == 0 {
		return unknownSeconds
	}
	return s.seconds / float64(s.ended)
}

// Seconds are the predicted times of queued tasks, by token. A task that
// cannot be predicted counts as the mean; one that is not known any more has
// ended and counts as nothing. list is as in DrainAll: what was just created
// is taken in first.
func (s *Session) Seconds(tokens []uint64, list func() []*ring.Ring) []float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drain(list())
	out := make([]float64, len(tokens))
	for i, token := range tokens {
		if t := s.tracker.Task(token); t != nil && t.Mark.function != nil {
			out[i] = s.predict(t.Mark)
		}
	}
	return out
}

func (s *Session) predict(m mark) float64 {
	p, err := m.function.entry.Predict(m.footprint)
	if err != nil {
		return s.meanSeconds()
	}
	return p.Value
}

// Announced are the predicted times of the tasks announced in this iteration.
func (s *Session) Announced(list func() []*ring.Ring) []float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drain(list())
	out := make([]float64, len(s.announced))
	for i, m := range s.announced {
		out[i] = s.predict(m)
	}
	return out
}

// Loads are the loads of the iterations so far in seconds: as the library told
// them, else as measured here.
func (s *Session) Loads(list func() []*ring.Ring) []float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drain(list())
	return s.iterationLoads()
}

func (s *Session) iterationLoads() []float64 {
	loads := s.history
	if len(s.told) > 0 {
		loads = Differences(s.told)
	}
	out := make([]float64, 0, len(loads))
	for _, l := range loads {
		if l > 0 {
			out = append(out, l)
		}
	}
	return out
}

// Differences undoes the summing of a library that tells loads added up since
// the start: a series that never falls and more than doubles over at least
// four iterations is taken for such sums.
func Differences(told []float64) []float64 {
	n := len(told)
	if n < 4 || told[n-1] < 2*told[0] {
		return told
	}
	out := []float64{told[0]}
	for i := 1; i < n; i++ {
		if told[i] < told[i-1] {
			return told
		}
		out = append(out, told[i]-told[i-1])
	}
	return out
}

// Forecast is the loads of the next n iterations. Before the second iteration
// ended, or the one that the configuration waits for, it is nothing.
func (s *Session) Forecast(n int, list func() []*ring.Ring) []float64 {
	loads := s.Loads(list)
	if len(loads) < s.o.Config.FirstFitRounds {
		return nil
	}
	m, err := forecast.Fit(loads, forecast.Options{Recursive: n > 1})
	if err != nil {
		return nil
	}
	out, err := m.Ahead(loads, n)
	if err != nil {
		return nil
	}
	return out
}
