package simulator

import (
	"github.com/foretime/foretime/mirage/trace"
	"github.com/foretime/foretime/shared/chart"
)

// Utilisation is a chart of the nodes in use over time.
func Utilisation(r *Result) chart.Chart {
	var ran []trace.Job
	for i := range r.Starts {
		if start, end, ok := r.Started(i); ok {
			ran = append(ran, trace.Job{Start: start, End: end, Nodes: r.Workload.Jobs[i].Nodes})
		}
	}
	used := chart.Series{Name: "nodes in use"}
	uses, now := trace.Uses(ran, trace.NodesOf), 0
	for i, u := range uses {
		if now += u.By; i+1 == len(uses) || uses[i+1].At != u.At {
			used.X = append(used.X, float64(u.At-uses[0].At)/86400)
			used.Y = append(used.Y, float64(now))
		}
	}
	return chart.Lines{Frame: chart.Frame{Title: "Utilisation", X: "time since the first start (days)", Y: "nodes"}, Steps: true, Series: []chart.Series{used}}
}
