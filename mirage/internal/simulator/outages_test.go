package simulator

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/foretime/foretime/mirage/internal/cluster"
	"github.com/foretime/foretime/mirage/internal/trace"
)

const hour = 3600

// halved returns the log of a day on ten nodes of which six are down from
// hour 6 to hour 18: four nodes are in use, and single-node jobs of users
// wait from hour 5 to hour 18, when they start and run for six hours.
func halved(waiting, users int) []trace.Job {
	var jobs []trace.Job
	add := func(user string, nodes int, submit, start, end int64) {
		jobs = append(jobs, trace.Job{ID: fmt.Sprint(len(jobs)), User: user, Nodes: nodes, Submit: submit * hour, Start: start * hour, End: end * hour, Limit: 48 * hour})
	}
	add("a", 6, 0, 0, 6)
	add("b", 4, 0, 0, 24)
	for i := range waiting {
		add(fmt.Sprint("w", i%users), 1, 5, 18, 24)
	}
	return jobs
}

func TestOutages(t *testing.T) {
	down := []cluster.Window{{From: 6 * hour, To: 18 * hour, Nodes: 6}}
	tests := []struct {
		name string
		jobs []trace.Job
		to   int64
		want []cluster.Window
	}{
		{"nothing", nil, 24 * hour, nil},
		{"five users wait", halved(6, 5), 24 * hour, down},
		{"four users wait", halved(6, 4), 24 * hour, nil},
		{"nobody waits", halved(0, 1), 24 * hour, nil},
		{"known up to the middle of it", halved(6, 6), 13 * hour, []cluster.Window{{From: 6 * hour, To: 12 * hour, Nodes: 6}}},
		{"before anything starts", halved(6, 6), -hour, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, Outages(tt.jobs, 10, tt.to)); diff != "" {
				t.Error(diff)
			}
		})
	}
	late := halved(6, 6)
	for i := 2; i < len(late); i++ {
		late[i].Submit = 7 * hour // not from the block's begin
	}
	if diff := cmp.Diff([]cluster.Window{{From: 12 * hour, To: 18 * hour, Nodes: 6}}, Outages(late, 10, 24*hour)); diff != "" {
		t.Errorf("waiting since an hour into the block: %s", diff)
	}
	large := halved(6, 6)
	for i := 2; i < len(large); i++ {
		large[i].Nodes = 7 // more than the idle nodes
	}
	if got := Outages(large, 10, 24*hour); got != nil {
		t.Errorf("large jobs wait: %v", got)
	}
}

// TestOutagesSpareUsedNodes: whatever the log, the windows are apart and in
// order, end by the given instant, and leave up what was in use.
func TestOutagesSpareUsedNodes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		jobs := make([]trace.Job, rapid.IntRange(0, 60).Draw(t, "jobs"))
		for i := range jobs {
			j := &jobs[i]
			j.User = fmt.Sprint(rapid.IntRange(0, 7).Draw(t, "user"))
			j.Nodes = rapid.IntRange(1, 4).Draw(t, "nodes")
			j.Submit = int64(i) * rapid.Int64Range(0, hour).Draw(t, "step") / 4
			if i > 0 {
				j.Submit = max(j.Submit, jobs[i-1].Submit)
			}
			j.Start = j.Submit + rapid.Int64Range(0, 40*hour).Draw(t, "wait")
			j.End = j.Start + rapid.Int64Range(0, 20*hour).Draw(t, "run")
		}
		const nodes = 20
		to := rapid.Int64Range(0, 80*hour).Draw(t, "to")
		before := int64(-1 << 40)
		for _, w := range Outages(jobs, nodes, to) {
			if w.From < before || w.To <= w.From || w.To > to {
				t.Fatalf("window %+v after %d, up to %d", w, before, to)
			}
			before = w.To
			for i := range jobs {
				at := jobs[i].Start
				used := 0
				for k := range jobs {
					if jobs[k].Start <= at && at < jobs[k].End {
						used += jobs[k].Nodes
					}
				}
				if w.From <= at && at < w.To && used > nodes-w.Nodes {
					t.Fatalf("%d nodes in use at %d in window %+v of %d", used, at, w, nodes)
				}
			}
		}
	})
}

// TestOutagesOfFullMachine: a queue that is only busy has none.
func TestOutagesOfFullMachine(t *testing.T) {
	jobs := played(t)
	if got := Outages(jobs, 40, jobs[len(jobs)-1].Submit); got != nil {
		t.Errorf("%v", got)
	}
}

// TestSearchSeesOutages: waits that an outage made are not laid to the size
// of the machine.
func TestSearchSeesOutages(t *testing.T) {
	jobs := played(t)
	from := jobs[0].Submit
	down := cluster.Window{From: from + 8*86400, To: from + 11*86400, Nodes: 25}
	jobs = replayed(t, jobs, cluster.Machine{Nodes: 40, Down: []cluster.Window{down}})
	grid := Grid{From: jobs[0].Submit, To: jobs[len(jobs)-1].Submit + 1, Nodes: []int{42, 40, 38, 36}, UserLimits: []int{4}, Logged: []float64{0}, Size: []float64{100}, Age: []float64{7000}}
	found, err := Search(t.Context(), jobs, grid, 2, func() {})
	if err != nil {
		t.Fatal(err)
	}
	if found.Config.Nodes != 40 || len(found.Config.Down) == 0 {
		t.Errorf("%+v, loss %v", found.Config.Machine, found.Loss)
	}
	for _, w := range found.Config.Down {
		if w.From < down.From-86400 || w.To > down.To+86400 {
			t.Errorf("window %+v outside the outage %+v", w, down)
		}
	}
}
