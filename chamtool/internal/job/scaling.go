package job

import (
	"github.com/foretime/foretime/chamtool/internal/summary"
	"github.com/foretime/foretime/chamtool/internal/task"
)

// Graph sums up the graph of tasks of a job of one rank: creations, dependences and waits as
// the OpenMP runtime reported them. Times are in seconds.
type Graph struct {
	task.Graph
	Parallelism float64            `json:"parallelism"` // work over span: more threads than this are no use
	Scaling     []Scaling          `json:"scaling"`
	Critical    []summary.PathPart `json:"critical_path"` // the span by function, longest part first
	// HalfOverhead is the wall time that half the overhead would save with the same threads.
	HalfOverhead float64 `json:"half_overhead_saves"`
}

// Scaling bounds the wall time of the iterations with a number of threads that each have a
// processor, by the bounds of greedy scheduling (Graham 1969; Brent 1974): an iteration takes
// at least its span and an even share of its work, and at most that share and the part of the
// span that other threads cannot hide.
type Scaling struct {
	Threads int     `json:"threads"`
	Seconds float64 `json:"seconds"` // middle of the bounds
	Low     float64 `json:"low_seconds"`
	High    float64 `json:"high_seconds"`
}

// graph returns the graph of a job of one rank, or nil if the graph of an iteration is not
// known.
func (j *Job) graph(threads int) *Graph {
	rounds := j.graphs()
	if len(rounds) == 0 {
		return nil
	}
	g := &Graph{Critical: j.Ranks[0].Summary.Critical}
	half := make([]task.Graph, len(rounds))
	for i, r := range rounds {
		g.Graph = g.Plus(r)
		half[i] = r
		half[i].Overhead /= 2
	}
	if g.Span > 0 {
		g.Parallelism = g.Work / g.Span
	}
	most := max(2*threads, j.Ranks[0].Summary.Processors)
	for n := 1; n < most; n *= 2 {
		g.Scaling = append(g.Scaling, scaling(rounds, n))
	}
	g.Scaling = append(g.Scaling, scaling(rounds, most))
	g.HalfOverhead = scaling(rounds, threads).Seconds - scaling(half, threads).Seconds
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

// scaling adds up the bounds of the iterations.
func scaling(rounds []task.Graph, threads int) Scaling {
	s := Scaling{Threads: threads}
	p := float64(threads)
	for _, r := range rounds {
		share := (r.Work + r.Overhead) / p
		s.Low += max(r.Span, share)
		s.High += max(r.Span, share+r.Span*(1-1/p))
	}
	s.Seconds = (s.Low + s.High) / 2
	return s
}

// processors returns how many threads can run at once.
func (j *Job) processors(threads int) int {
	if s := j.Ranks[0].Summary; s != nil && s.Processors > 0 {
		return min(threads, s.Processors)
	}
	return threads
}

// graphAccuracy is the share of the wall time below which a saving counts as none: starting
// the threads of a region is not in the graph.
const graphAccuracy = 0.02

// graphSaving returns what perfect balance saves on a number of processors: the wall times of
// the iterations less the bounds of their graphs. The time in which no thread worked stays.
// Threads that had no processor would still have none, so the stalls count as work, but not
// in the upper bound: some of them are threads that found no ready task.
func graphSaving(rounds []task.Graph, walls []float64, processors int) *Saving {
	s := &Saving{}
	total := 0.0
	for i, wall := range walls {
		stalled := rounds[i]
		stalled.Overhead += stalled.Stalls
		kept := scaling([]task.Graph{stalled}, processors)
		s.Seconds += max(0, wall-rounds[i].Quiet-kept.Seconds)
		s.Low += max(0, wall-rounds[i].Quiet-kept.High)
		s.High += max(0, wall-rounds[i].Quiet-scaling(rounds[i:i+1], processors).Low)
		total += wall
	}
	if s.Seconds < graphAccuracy*total {
		s.Seconds, s.Low = 0, 0
	}
	if total > 0 {
		s.Share = s.Seconds / total
	}
	return s
}
