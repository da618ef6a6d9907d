package job

import (
	"slices"

	"github.com/foretime/foretime/chamtool/internal/summary"
)

// Graph sums up the graph of tasks of a job of one rank: all creations, dependences and waits that
// the OpenMP runtime reported. Times are in seconds.
type Graph struct {
	summary.Graph
	Parallelism float64            `json:"parallelism"`   // work over span: more threads than this are no use, unless Loops
	Loops       bool               `json:"loops"`         // the span has loops as their threads ran them: with more threads it is shorter
	Critical    []summary.PathPart `json:"critical_path"` // the span by function, longest part first
}

// graph returns the graph of a job of one rank; nil if it is not known.
func (j *Job) graph() *Graph {
	if len(j.Ranks) != 1 || j.Ranks[0].Summary == nil || j.Ranks[0].Summary.Graph == nil {
		return nil
	}
	s := j.Ranks[0].Summary
	g := &Graph{Graph: *s.Graph, Critical: s.Critical}
	g.Loops = slices.ContainsFunc(s.Times, func(t summary.PlaceTime) bool { return t.Loop })
	if g.Span > 0 {
		g.Parallelism = g.Work / g.Span
	}
	return g
}
