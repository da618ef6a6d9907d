package calibrate

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foretime/foretime/mirage/cluster"
	"github.com/foretime/foretime/mirage/trace"
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
	large := halved(6, 6)
	for i := 2; i < len(large); i++ {
		large[i].Nodes = 7 // more than the idle nodes
	}
	if got := Outages(large, 10, 24*hour); got != nil {
		t.Errorf("large jobs wait: %v", got)
	}
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
	from, to := jobs[0].Submit, jobs[len(jobs)-1].Submit+1
	down := cluster.Window{From: from + 8*86400, To: from + 11*86400, Nodes: 25}
	jobs = replayed(t, jobs, cluster.Machine{Nodes: 40, Down: []cluster.Window{down}})
	grid := Grid{Nodes: []int{42, 40, 38, 36}, UserLimits: []int{4}, Logged: []float64{0}, Size: []float64{100}, Age: []float64{7000}}
	found, err := Search(t.Context(), jobs, from, to, grid, 2, nil)
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
