package schedule

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var inf = math.Inf(1)

// job returns a job of a user.
func job(id int, user string, arrival, cpu, gpu float64) Record {
	return Record{ID: id, User: user, Arrival: arrival, On: [Devices]Demand{CPU: {Seconds: cpu}, GPU: {Seconds: gpu}}}
}

// run replays jobs and returns what each was given: "1 gpu0 0-25" and so on.
func run(t *testing.T, policy string, set Settings, c Cluster, jobs ...Record) string {
	t.Helper()
	p, err := New(policy, set)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Replay(context.Background(), jobs, c, p, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := audit(s); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, r := range s.Runs {
		line := fmt.Sprint(r.Job.ID)
		for _, p := range r.Parts {
			line += fmt.Sprintf(" %s%d %g-%g", p.Device, p.Node, p.Start, p.End)
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "; ")
}

// audit recomputes from a schedule alone that it is one: every job has its
// work done once and not before it arrives, and no node holds more than fits.
func audit(s *Schedule) error {
	type change struct {
		at float64
		by int
	}
	nodes := make(map[[2]int][]change)
	sum := 0.0
	for _, r := range s.Runs {
		if len(r.Parts) == 0 || len(r.Parts) > 1 && s.Policy != "srpt" {
			return fmt.Errorf("job %d ran in %d parts", r.Job.ID, len(r.Parts))
		}
		done, last := 0.0, r.Job.Arrival
		for _, p := range r.Parts {
			if p.Start < last || p.End < p.Start || p.Node < 0 || p.Node >= s.Cluster.Nodes(p.Device) {
				return fmt.Errorf("job %d: part %+v after %v", r.Job.ID, p, last)
			}
			last = p.End
			done += (p.End - p.Start) / r.Job.Seconds(p.Device)
			if p.End > p.Start {
				key := [2]int{int(p.Device), p.Node}
				nodes[key] = append(nodes[key], change{p.Start, 1}, change{p.End, -1})
			}
		}
		if math.Abs(done-1) > 1e-6 {
			return fmt.Errorf("job %d: %v of its work was done", r.Job.ID, done)
		}
		sum += last - r.Job.Arrival
	}
	for key, changes := range nodes {
		slices.SortFunc(changes, func(a, b change) int { // ends before starts
			if a.at != b.at {
				return map[bool]int{true: -1, false: 1}[a.at < b.at]
			}
			return map[bool]int{true: -1, false: 1}[a.by < b.by]
		})
		used := 0
		for _, c := range changes {
			if used += c.by; used > 1 {
				return fmt.Errorf("node %v holds %v at %v", key, used, c.at)
			}
		}
	}
	if got := s.Summary().MeanJCT; math.Abs(got-sum/float64(len(s.Runs))) > 1e-6*(1+got) {
		return fmt.Errorf("mean JCT %v, recomputed %v", got, sum/float64(len(s.Runs)))
	}
	return nil
}

func drawJobs(t *rapid.T, most int) []Record {
	var jobs []Record
	arrival := 0.0
	for i := range rapid.IntRange(1, most).Draw(t, "jobs") {
		arrival += float64(rapid.IntRange(0, 2).Draw(t, "gap")) * rapid.Float64Range(0, 20).Draw(t, "step")
		j := job(i, rapid.SampledFrom([]string{"ann", "bob", "cyd"}).Draw(t, "user"), arrival, 0, 0)
		for d := range j.On {
			x := &j.On[d]
			x.Seconds = rapid.OneOf(rapid.Float64Range(1, 50), rapid.Just(10.0)).Draw(t, "seconds")
			x.Error = rapid.SampledFrom([]float64{0, 0, -0.5, 0.5, -0.99}).Draw(t, "error")
		}
		if d := rapid.IntRange(0, 9).Draw(t, "cannot"); d < 2 {
			j.On[d].Seconds = inf
		}
		jobs = append(jobs, j)
	}
	return jobs
}

func drawCluster(t *rapid.T) Cluster {
	return Cluster{CPUNodes: rapid.IntRange(1, 3).Draw(t, "cpus"), GPUNodes: rapid.IntRange(1, 3).Draw(t, "gpus")}
}

// TestPoliciesKeepTheRules lets every policy schedule random workloads.
func TestPoliciesKeepTheRules(t *testing.T) {
	for _, name := range Policies.Names() {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				jobs, c := drawJobs(t, 14), drawCluster(t)
				set := Settings{Alpha: rapid.SampledFrom([]float64{0, 0.1, 0.5, 1}).Draw(t, "alpha")}
				var first *Schedule
				for range 2 {
					p, err := New(name, set)
					if err != nil {
						t.Fatal(err)
					}
					s, err := Replay(context.Background(), jobs, c, p, nil)
					if err != nil {
						t.Fatal(err)
					}
					if err := audit(s); err != nil {
						t.Fatal(err)
					}
					sum := s.Summary()
					if sum.LowerBound > sum.MeanJCT*(1+1e-9) || !(sum.LowerBound > 0) || !(sum.Fairness > 0 && sum.Fairness <= 1+1e-9) {
						t.Fatalf("%+v", sum)
					}
					if first != nil && !cmp.Equal(first.Runs, s.Runs) {
						t.Fatal("the same input gave another schedule")
					}
					first = s
				}
			})
		})
	}
}

func TestReplayRefuses(t *testing.T) {
	ok, one := job(1, "ann", 0, 2, 1), Cluster{CPUNodes: 1, GPUNodes: 1}
	late, odd := job(2, "ann", 5, 2, 1), job(1, "ann", 0, 0, 1)
	for _, test := range []struct {
		name string
		jobs []Record
		c    Cluster
		want error
	}{
		{"no jobs", nil, one, ErrNoJobs},
		{"no nodes", []Record{ok}, Cluster{}, ErrCluster},
		{"negative nodes", []Record{ok}, Cluster{CPUNodes: -1, GPUNodes: 3}, ErrCluster},
		{"no such device", []Record{job(1, "ann", 0, inf, 1)}, Cluster{CPUNodes: 1}, ErrTooLarge},
		{"no time", []Record{odd}, one, ErrTime},
		{"out of order", []Record{late, ok}, one, ErrArrival},
	} {
		if _, err := Replay(context.Background(), test.jobs, test.c, fifo{}, nil); !errors.Is(err, test.want) {
			t.Errorf("%s: got %v, want %v", test.name, err, test.want)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Replay(ctx, []Record{ok}, one, fifo{}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := Replay(context.Background(), []Record{ok}, one, idle{}, nil); !errors.Is(err, ErrStuck) {
		t.Errorf("got %v", err)
	}
}

// idle is a policy that starts nothing.
type idle struct{}

func (idle) Name() string                    { return "idle" }
func (idle) Next(*State) (*Job, *Node, bool) { return nil, nil, false }

func TestNewRefuses(t *testing.T) {
	if _, err := New("best", Settings{}); !errors.Is(err, ErrPolicy) {
		t.Errorf("got %v", err)
	}
	for _, s := range []Settings{{Alpha: -0.1}, {Alpha: 1.1}, {Alpha: math.NaN()}} {
		if _, err := New("allox", s); !errors.Is(err, ErrSetting) {
			t.Errorf("%+v: %v", s, err)
		}
	}
	for _, name := range Policies.Names() {
		if p, err := New(name, Settings{}); err != nil || p.Name() != name {
			t.Errorf("%s: %v, %v", name, p, err)
		}
	}
}
