package simulator

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/foretime/foretime/shared/chart"
)

// ErrChart is returned when a chart would hold more than can be told apart.
var ErrChart = errors.New("too much for one chart")

// The most that a Gantt chart holds.
const (
	maxTasks = 4000
	maxRows  = 256
)

// span is a job that ran.
type span struct {
	index      int
	nodes      int
	start, end int64
}

// spans are the jobs of a result in the order of their starts, and the first
// start.
func spans(r *Result) (ran []span, origin int64) {
	for i := range r.Starts {
		if start, end, ok := r.Started(i); ok {
			ran = append(ran, span{i, r.Workload.Jobs[i].Nodes, start, end})
		}
	}
	slices.SortStableFunc(ran, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	if len(ran) > 0 {
		origin = ran[0].start
	}
	return ran, origin
}

// Utilisation is a chart of the nodes in use over time.
func Utilisation(r *Result) chart.Chart {
	ran, origin := spans(r)
	type edge struct {
		at    int64
		nodes int
	}
	var edges []edge
	for _, s := range ran {
		edges = append(edges, edge{s.start, s.nodes}, edge{s.end, -s.nodes})
	}
	slices.SortStableFunc(edges, func(a, b edge) int { return cmp.Compare(a.at, b.at) })
	used := chart.Series{Name: "nodes in use"}
	now := 0
	for i, e := range edges {
		now += e.nodes
		if i+1 < len(edges) && edges[i+1].at == e.at {
			continue
		}
		used.X = append(used.X, float64(e.at-origin)/86400)
		used.Y = append(used.Y, float64(now))
	}
	return chart.Lines{Frame: chart.Frame{Title: "Utilisation", X: "time since the first start (days)", Y: "nodes"}, Steps: true, Series: []chart.Series{used}}
}

// free are the lowest nodes that a job finds free.
func free(busy []int64, s span) (on []int32) {
	for n := 0; n < len(busy) && len(on) < s.nodes; n++ {
		if busy[n] <= s.start {
			on = append(on, int32(n))
		}
	}
	return on
}

// Gantt is a chart of which job held which node when. Where nodes are
// interchangeable to the simulator, each job gets the lowest free ones here; where
// jobs share nodes, bars lie upon each other.
// The error wraps ErrChart.
func Gantt(r *Result) (chart.Chart, error) {
	ran, origin := spans(r)
	nodes := r.Workload.Config.Nodes
	tasks := 0
	for _, s := range ran {
		tasks += s.nodes
	}
	if tasks > maxTasks || nodes > maxRows {
		return nil, fmt.Errorf("%w: %d bars on %d nodes, at most %d on %d; select fewer jobs", ErrChart, tasks, nodes, maxTasks, maxRows)
	}
	g := chart.Gantt{Frame: chart.Frame{Title: "Schedule", X: "time since the first start (h)"}}
	for n := range nodes {
		g.Rows = append(g.Rows, fmt.Sprintf("n%d", n))
	}
	busy := make([]int64, nodes) // until when
	groups := map[string]int{}
	for _, s := range ran {
		job := &r.Workload.Jobs[s.index]
		group, ok := groups[job.User]
		if !ok {
			group = len(groups) % 8
			groups[job.User] = group
		}
		on := free(busy, s)
		if r.Places != nil {
			on = r.Places[s.index].On
		}
		for _, n := range on {
			busy[n] = s.end
			g.Tasks = append(g.Tasks, chart.Task{Row: int(n), Start: float64(s.start-origin) / 3600, End: float64(s.end-origin) / 3600, Group: group, Label: job.ID})
		}
	}
	for i := range min(len(groups), 8) {
		g.Groups = append(g.Groups, fmt.Sprintf("users %d", i+1))
	}
	return g, nil
}
