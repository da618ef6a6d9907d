package job

import (
	"github.com/foretime/foretime/chamtool/internal/summary"
	"github.com/foretime/foretime/chamtool/internal/task"
)

// Graph sums up the graph of tasks of a job of one rank: creations, dependences and waits as
// the OpenMP runtime reported them. Times are in seconds.
type Graph struct {
	task.Graph
	Parallelism float64            `json:"parallelism"`      // work over span: more threads than this are no use
	Critical    []summary.PathPart `json:"critical_path"`    // the span by function, longest part first
	Slowed      *float64           `json:"slowed_by_others"` // at most, as a factor; 1 if all threads had a processor, nil if unknown
}

const (
	// leastProcessorShare is the least share of the processors that a run gets next to others.
	leastProcessorShare = 0.1
	// graphAccuracy is the share of the wall time below which a saving counts as none: starting
	// the threads of a region is not in the graph.
	graphAccuracy = 0.02
)

// recordedRun is a run whose graph is known.
type recordedRun struct {
	rounds     []task.Graph
	walls      []float64 // of the iterations, in seconds
	threads    int
	processors int // that the threads ran on at once, no more than threads
}

// graph returns the graph of a run.
func (r recordedRun) graph(s *summary.Summary) *Graph {
	g := &Graph{Critical: s.Critical}
	if s.Others != nil {
		slowed := slowing(s, r.processors)
		g.Slowed = &slowed
	}
	for _, one := range r.rounds {
		g.Graph = g.Plus(one)
	}
	if g.Span > 0 {
		g.Parallelism = g.Work / g.Span
	}
	return g
}

// graphs returns the graphs of the iterations; nil if one is not known.
func (j *Job) graphs() []task.Graph {
	if len(j.Ranks) != 1 || j.Ranks[0].Summary == nil {
		return nil
	}
	var out []task.Graph
	for _, r := range j.Ranks[0].Summary.Rounds {
		if r.Graph == nil {
			return nil
		}
		out = append(out, *r.Graph)
	}
	return out
}

// greedy adds up the bounds of greedy scheduling: an iteration takes at least its span and an
// even share of its work, and at most that share and the part of the span that other threads
// cannot hide.
func greedy(rounds []task.Graph, threads int) (low, high float64) {
	p := float64(threads)
	for _, r := range rounds {
		share := (r.Work + r.Overhead) / p
		low += max(r.Span, share)
		high += max(r.Span, share+r.Span*(1-1/p))
	}
	return low, high
}

// wall returns the wall time of the iterations.
func (r recordedRun) wall() (seconds float64) {
	for _, wall := range r.walls {
		seconds += wall
	}
	return seconds
}

// saving returns a saving of wall time that may also be none, since busier threads can slow one
// another's tasks. It never exceeds the wall time.
func (r recordedRun) saving(seconds, most float64) Saving {
	wall := r.wall()
	s := Saving{High: min(wall, max(0, most))}
	if s.Seconds = min(s.High, max(0, seconds)); s.Seconds < graphAccuracy*wall {
		s.Seconds = 0
	}
	if wall > 0 {
		s.Share = s.Seconds / wall
	}
	return s
}

// savedByBalance returns what perfect balance saves on the processors of the run: the wall times of
// the iterations less the bounds of their graphs. The time in which no thread worked stays.
// Threads that had no processor would still have none, so the stalls count as work, but not
// in the upper bound: some of them are threads that found no ready task.
func (r recordedRun) savedByBalance() *Saving {
	seconds, most := 0.0, 0.0
	for i, wall := range r.walls {
		stalled := r.rounds[i]
		stalled.Overhead += stalled.Stalls
		low, high := greedy([]task.Graph{stalled}, r.processors)
		seconds += max(0, wall-r.rounds[i].Quiet-(low+high)/2)
		least, _ := greedy(r.rounds[i:i+1], r.processors)
		most += max(0, wall-r.rounds[i].Quiet-least)
	}
	s := r.saving(seconds, most)
	return &s
}

// slowing returns the factor by which a run takes longer at most, since other programs used
// processors that its threads could have used.
func slowing(s *summary.Summary, threads int) float64 {
	if s.Others == nil || s.Online <= 0 {
		return 1
	}
	wanted := float64(threads)
	free := max(float64(s.Online)-float64(*s.Others), leastProcessorShare*wanted)
	return max(1, wanted/free)
}

// processors returns how many threads can run at once.
func (j *Job) processors(threads int) int {
	if s := j.Ranks[0].Summary; s != nil && s.Processors > 0 {
		return min(threads, s.Processors)
	}
	return threads
}
