package simulator_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/foretime/foretime/mirage/internal/cluster"
	"github.com/foretime/foretime/mirage/internal/simulator"
	"github.com/foretime/foretime/mirage/internal/trace"
)

func TestDegenerate(t *testing.T) {
	job := func(id string, submit int64, nodes int, limit, run int64) trace.Job {
		return trace.Job{ID: id, User: "u", Submit: submit, Start: submit, End: submit + run, Limit: limit, Nodes: nodes}
	}
	tests := []struct {
		name string
		jobs []trace.Job
		want string // starts, "-" for rejected
	}{
		{"no jobs", nil, ""},
		{"one job", []trace.Job{job("a", 5, 1, 60, 30)}, "5"},
		{"zero seconds", []trace.Job{job("a", 5, 4, 0, 0), job("b", 5, 4, 0, 0)}, "5 5"},
		{"larger than the machine", []trace.Job{job("a", 0, 5, 60, 60), job("b", 0, 4, 60, 60)}, "- 0"},
		{"no nodes", []trace.Job{job("a", 0, 0, 60, 60), job("b", 0, 1, 60, 60)}, "- 0"},
		{"all in one second", []trace.Job{job("a", 0, 4, 60, 60), job("b", 0, 4, 60, 60), job("c", 0, 4, 60, 60)}, "0 60 120"},
		{"cut at the limit", []trace.Job{job("a", 0, 4, 60, 100), job("b", 0, 4, 60, 1)}, "0 60"},
		{"before 1970", []trace.Job{job("a", -100, 4, 60, 60), job("b", -90, 4, 60, 60)}, "-100 -40"},
	}
	for _, d := range disciplines() {
		for _, tt := range tests {
			t.Run(fmt.Sprintf("%s/%s", d, tt.name), func(t *testing.T) {
				w, err := simulator.NewWorkload(tt.jobs, simulator.Config{Machine: cluster.Machine{Nodes: 4}, Rules: cluster.Defaults(d)})
				if err != nil {
					t.Fatal(err)
				}
				r, err := w.Simulate(t.Context(), nil)
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				for i := range tt.jobs {
					if start, _, ok := r.Times(i); ok {
						got = append(got, fmt.Sprint(start))
					} else {
						got = append(got, "-")
					}
				}
				if s := strings.Join(got, " "); s != tt.want {
					t.Errorf("starts %q, want %q", s, tt.want)
				}
			})
		}
	}
}

func TestNewWorkloadRefuses(t *testing.T) {
	job := trace.Job{ID: "a", Submit: 10, Start: 10, End: 20, Limit: 60, Nodes: 1}
	with := func(f func(*trace.Job)) trace.Job { j := job; f(&j); return j }
	slurm := cluster.Defaults(cluster.Slurm)
	four := cluster.Machine{Nodes: 4}
	tests := []struct {
		name   string
		jobs   []trace.Job
		config simulator.Config
		want   error
	}{
		{"no nodes", nil, simulator.Config{Rules: slurm}, cluster.ErrMachine},
		{"empty window", nil, simulator.Config{Machine: cluster.Machine{Nodes: 4, Down: []cluster.Window{{From: 5, To: 5, Nodes: 1}}}, Rules: slurm}, cluster.ErrMachine},
		{"no rules", nil, simulator.Config{Machine: four}, cluster.ErrRules},
		{"out of order", []trace.Job{job, with(func(j *trace.Job) { j.Submit = 9 })}, simulator.Config{Machine: four, Rules: slurm}, simulator.ErrWorkload},
		{"negative limit", []trace.Job{with(func(j *trace.Job) { j.Limit = -1 })}, simulator.Config{Machine: four, Rules: slurm}, simulator.ErrWorkload},
		{"negative duration", []trace.Job{with(func(j *trace.Job) { j.End = 9 })}, simulator.Config{Machine: four, Rules: slurm}, simulator.ErrWorkload},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := simulator.NewWorkload(tt.jobs, tt.config); !errors.Is(err, tt.want) {
				t.Errorf("error %v, want %v", err, tt.want)
			}
		})
	}
}

// TestForecast: on a machine of four nodes, where one job of four hours' limit
// runs since an hour and one of two hours waits, a job of four nodes is
// predicted to start after what is left of both.
func TestForecast(t *testing.T) {
	jobs := []trace.Job{
		{ID: "1", User: "u", Submit: 0, End: 4000, Limit: 4 * 3600, Nodes: 4},
		{ID: "2", User: "v", Submit: 60, Start: 60, End: 100, Limit: 2 * 3600, Nodes: 1},
		{ID: "3", User: "w", Submit: 3700, Start: 3700, End: 3701, Limit: 9 * 3600, Nodes: 4},
	}
	w, err := simulator.NewWorkload(jobs, simulator.Config{Machine: cluster.Machine{Nodes: 4}, Rules: cluster.Defaults(cluster.EASY)})
	if err != nil {
		t.Fatal(err)
	}
	s := w.New()
	s.RunUntil(3600)
	for share, want := range map[float64]int64{1: 5 * 3600, 0.5: 5 * 1800} {
		got, err := s.WaitIn(s.Using(share), trace.Job{Nodes: 4, Limit: 60, End: 60}, simulator.Farthest)
		if err != nil || got.Seconds != want {
			t.Errorf("share %v: %d s, %v; want %d s", share, got.Seconds, err, want)
		}
	}
	if _, err := s.WaitIn(s.Using(1), trace.Job{Nodes: 5, Limit: 60, End: 60}, simulator.Farthest); !errors.Is(err, cluster.ErrOversize) {
		t.Errorf("error %v", err)
	}
	for s.Step() {
	}
	if s.Now() != 4041 { // 1 until 4000, then 2 and, beside nobody, 3
		t.Errorf("the simulation itself ends at %d", s.Now())
	}
}

// TestWaitParts checks the parts of a job's wait: for its time, for other jobs and for room.
func TestWaitParts(t *testing.T) {
	jobs := []trace.Job{
		{ID: "1", User: "u", End: 4000, Limit: 4000, Nodes: 1},
		{ID: "2", User: "v", End: 6000, Limit: 6000, Nodes: 1},
		{ID: "3", User: "w", Submit: 60, Start: 6000, End: 7000, Limit: 1000, Nodes: 4},
	}
	w, err := simulator.NewWorkload(jobs, simulator.Config{Machine: cluster.Machine{Nodes: 4}, Rules: cluster.Defaults(cluster.EASY)})
	if err != nil {
		t.Fatal(err)
	}
	s := w.New()
	s.RunUntil(3600)
	for _, tt := range []struct {
		eligible int64
		after    string
		want     simulator.Wait
	}{
		{0, "", simulator.Wait{}}, // it ends before the large one may begin
		{5000, "", simulator.Wait{Seconds: 1400, Eligible: 1400}},
		{0, "1", simulator.Wait{Seconds: 400, Dependency: 400}},
		{0, "9", simulator.Wait{}},                                  // it has ended, or nobody knows it
		{0, "1,2", simulator.Wait{Seconds: 3400, Dependency: 2400}}, // then the large one runs
		{0, "2,1", simulator.Wait{Seconds: 3400, Dependency: 2400}},
		{5000, "1", simulator.Wait{Seconds: 1400, Eligible: 1400}},
		{3700, "1", simulator.Wait{Seconds: 400, Eligible: 100, Dependency: 300}},
		{0, "1+4000", simulator.Wait{Seconds: 400, Dependency: 400}},
		{0, "2+60", simulator.Wait{}},
		{0, "3+50", simulator.Wait{Seconds: 3400, Dependency: 2450}},
		{0, "1,3+50", simulator.Wait{Seconds: 3400, Dependency: 2450}},
		{0, "3", simulator.Wait{Seconds: 3400, Dependency: 3400}},
	} {
		got, err := s.WaitIn(s.Using(1), trace.Job{Nodes: 1, Limit: 60, End: 60, Eligible: tt.eligible, After: tt.after}, simulator.Farthest)
		if err != nil || got != tt.want {
			t.Errorf("eligible at %d, after %q: %+v, %v; want %+v", tt.eligible, tt.after, got, err, tt.want)
		}
	}
}

func disciplines() (all []cluster.Discipline) {
	for _, name := range cluster.Disciplines().Names() {
		all = append(all, cluster.Discipline(name))
	}
	return all
}
