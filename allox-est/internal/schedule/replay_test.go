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
	seconds := [Devices]float64{cpu, gpu}
	return Record{ID: id, User: user, Arrival: arrival, Actual: seconds, Reported: seconds}
}

// run replays jobs and returns what each was given: "1 gpu0 0-25" and so on.
func run(t *testing.T, policy string, c Cluster, jobs ...Record) string {
	t.Helper()
	runs, err := Replay(context.Background(), jobs, c, named(policy))
	if err != nil {
		t.Fatal(err)
	}
	if err := audit(policy, c, runs); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, r := range runs {
		line := fmt.Sprint(r.ID)
		for _, p := range r.Parts {
			line += fmt.Sprintf(" %s%d %g-%g", p.Device, p.Node, p.Start, p.End)
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "; ")
}

// named returns a policy of the list.
func named(name string) Policy {
	newPolicy, err := Policies.Find(name)
	if err != nil {
		panic(err)
	}
	return newPolicy()
}

// device returns the device of a name.
func device(name string) Device { return map[string]Device{"cpu": CPU, "gpu": GPU}[name] }

// audit recomputes from a schedule alone that it is one: every job has its
// work done once and not before it arrives, and no node holds more than fits.
func audit(policy string, c Cluster, runs []Run) error {
	type change struct {
		at float64
		by int
	}
	nodes := make(map[[2]int][]change)
	sum := 0.0
	for _, r := range runs {
		if len(r.Parts) == 0 || len(r.Parts) > 1 && policy != "srpt" {
			return fmt.Errorf("job %d ran in %d parts", r.ID, len(r.Parts))
		}
		done, last := 0.0, r.Arrival
		for _, p := range r.Parts {
			if p.Start < last || p.End < p.Start || p.Node < 0 || p.Node >= c[device(p.Device)] {
				return fmt.Errorf("job %d: part %+v after %v", r.ID, p, last)
			}
			last = p.End
			done += (p.End - p.Start) / r.Actual[device(p.Device)]
			if p.End > p.Start {
				key := [2]int{int(device(p.Device)), p.Node}
				nodes[key] = append(nodes[key], change{p.Start, 1}, change{p.End, -1})
			}
		}
		if math.Abs(done-1) > 1e-6 {
			return fmt.Errorf("job %d: %v of its work was done", r.ID, done)
		}
		sum += last - r.Arrival
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
	if got := Summarize(policy, runs).MeanJCT; math.Abs(got-sum/float64(len(runs))) > 1e-6*(1+got) {
		return fmt.Errorf("mean JCT %v, recomputed %v", got, sum/float64(len(runs)))
	}
	return nil
}

func drawJobs(t *rapid.T, most int) []Record {
	var jobs []Record
	arrival := 0.0
	for i := range rapid.IntRange(1, most).Draw(t, "jobs") {
		arrival += float64(rapid.IntRange(0, 2).Draw(t, "gap")) * rapid.Float64Range(0, 20).Draw(t, "step")
		j := job(i, rapid.SampledFrom([]string{"ann", "bob", "cyd"}).Draw(t, "user"), arrival, 0, 0)
		for d := range j.Actual {
			j.Actual[d] = rapid.OneOf(rapid.Float64Range(1, 50), rapid.Just(10.0)).Draw(t, "seconds")
			j.Reported[d] = j.Actual[d] * (1 + rapid.SampledFrom([]float64{0, 0, -0.5, 0.5, -0.99}).Draw(t, "error"))
		}
		if d := rapid.IntRange(0, 9).Draw(t, "cannot"); d < 2 {
			j.Actual[d], j.Reported[d] = inf, inf
		}
		jobs = append(jobs, j)
	}
	return jobs
}

func drawCluster(t *rapid.T) Cluster {
	return Cluster{rapid.IntRange(1, 3).Draw(t, "cpus"), rapid.IntRange(1, 3).Draw(t, "gpus")}
}

// TestPoliciesKeepTheRules lets every policy schedule random workloads.
func TestPoliciesKeepTheRules(t *testing.T) {
	for _, name := range Policies.Names() {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				jobs, c := drawJobs(t, 14), drawCluster(t)
				var first []Run
				for range 2 {
					runs, err := Replay(context.Background(), jobs, c, named(name))
					if err != nil {
						t.Fatal(err)
					}
					if err := audit(name, c, runs); err != nil {
						t.Fatal(err)
					}
					if first != nil && !cmp.Equal(first, runs) {
						t.Fatal("the same input gave another schedule")
					}
					first = runs
				}
			})
		})
	}
}

func TestReplayRefuses(t *testing.T) {
	ok, one := job(1, "ann", 0, 2, 1), Cluster{1, 1}
	for _, test := range []struct {
		name string
		jobs []Record
		c    Cluster
		want string
	}{
		{"no jobs", nil, one, "no jobs"},
		{"no nodes", []Record{ok}, Cluster{}, "invalid cluster: no nodes"},
		{"negative nodes", []Record{ok}, Cluster{-1, 3}, "invalid cluster: -1 cpu nodes"},
		{"no such device", []Record{job(1, "ann", 0, inf, 1)}, Cluster{CPU: 1}, "job 1: fits on no node"},
	} {
		if _, err := Replay(context.Background(), test.jobs, test.c, fifo{}); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %v", test.name, err, test.want)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Replay(ctx, []Record{ok}, one, fifo{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := Replay(context.Background(), []Record{ok}, one, idle{}); err == nil || !strings.Contains(err.Error(), "the policy starts no job") {
		t.Errorf("got %v", err)
	}
}

// idle is a policy that starts nothing.
type idle struct{}

func (idle) Next(context.Context, *State) (*Job, *Node) { return nil, nil }
