package simulator

import (
	"cmp"
	"slices"

	"github.com/foretime/foretime/shared/chart"
)

// Utilisation is a chart of the nodes in use over time.
func Utilisation(r *Result) chart.Chart {
	type edge struct {
		at    int64
		nodes int
	}
	var edges []edge
	for i := range r.Starts {
		if start, end, ok := r.Started(i); ok {
			nodes := r.Workload.Jobs[i].Nodes
			edges = append(edges, edge{start, nodes}, edge{end, -nodes})
		}
	}
	slices.SortStableFunc(edges, func(a, b edge) int { return cmp.Compare(a.at, b.at) })
	used := chart.Series{Name: "nodes in use"}
	now := 0
	for i, e := range edges {
		now += e.nodes
		if i+1 < len(edges) && edges[i+1].at == e.at {
			continue
		}
		used.X = append(used.X, float64(e.at-edges[0].at)/86400)
		used.Y = append(used.Y, float64(now))
	}
	return chart.Lines{Frame: chart.Frame{Title: "Utilisation", X: "time since the first start (days)", Y: "nodes"}, Steps: true, Series: []chart.Series{used}}
}
