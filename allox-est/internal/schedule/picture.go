package schedule

import (
	"fmt"
	"slices"

	"github.com/foretime/foretime/shared/chart"
)

// Gantt returns the chart of the jobs on each node. Colours distinguish users; GPU nodes are on
// top.
func (s *Schedule) Gantt() chart.Gantt {
	g := chart.Gantt{Frame: chart.Frame{Title: fmt.Sprintf("Schedule of %d jobs under %s", len(s.Runs), s.Policy), X: "time (s)"}}
	row := [Devices]int{}
	for _, d := range slices.Backward(s.Cluster.devices()) {
		row[d] = len(g.Rows)
		for i := range s.Cluster.Nodes(d) {
			g.Rows = append(g.Rows, fmt.Sprintf("%s%d", s.Cluster.Name(d), i))
		}
	}
	group := make(map[string]int)
	for _, r := range s.Runs {
		at, ok := group[r.Job.User]
		if !ok {
			at = len(g.Groups)
			group[r.Job.User] = at
			g.Groups = append(g.Groups, r.Job.User)
		}
		for _, p := range r.Parts {
			g.Tasks = append(g.Tasks, chart.Task{
				Row: row[p.Device] + p.Node, Start: p.Start, End: p.End, Group: at, Label: fmt.Sprint(r.Job.ID),
			})
		}
	}
	return g
}

// CDF returns the chart of the distribution of job completion times under
// each schedule.
func CDF(schedules []*Schedule) chart.CDF {
	c := chart.CDF{Frame: chart.Frame{Title: "Share of jobs done, by policy", X: "job completion time (s)", Y: "share of jobs", LogX: true}}
	for _, s := range schedules {
		sample := chart.Sample{Name: s.Policy}
		for _, r := range s.Runs {
			sample.Values = append(sample.Values, r.JCT())
		}
		c.Samples = append(c.Samples, sample)
	}
	return c
}
