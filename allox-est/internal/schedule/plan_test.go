package schedule

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// instance is a small problem to be solved by trying everything.
type instance struct {
	ready [Devices][]float64
	jobs  map[int]*Job
}

// waiting returns the jobs in the order of their numbers.
func (in instance) waiting() []*Job {
	var jobs []*Job
	for _, id := range slices.Sorted(maps.Keys(in.jobs)) {
		jobs = append(jobs, in.jobs[id])
	}
	return jobs
}

// optimum tries every assignment of jobs to machines; on one machine the
// shortest job first is best (Smith 1956).
func (in instance) optimum() float64 {
	var machines []struct {
		kind  int
		ready float64
	}
	for t, times := range in.ready {
		for _, x := range times {
			machines = append(machines, struct {
				kind  int
				ready float64
			}{t, x})
		}
	}
	jobs := in.waiting()
	queues := make([][]float64, len(machines))
	best := math.Inf(1)
	var try func(i int)
	try = func(i int) {
		if i == len(jobs) {
			sum := 0.0
			for m, q := range queues {
				now := machines[m].ready
				for _, x := range slices.Sorted(slices.Values(q)) {
					now += x
					sum += now
				}
			}
			best = min(best, sum)
			return
		}
		for m := range machines {
			queues[m] = append(queues[m], jobs[i].Reported[machines[m].kind])
			try(i + 1)
			queues[m] = queues[m][:len(queues[m])-1]
		}
	}
	try(0)
	return best
}

// proof returns an error unless the prices prove that the plan is optimal.
func proof(p *plan) (err error) {
	for _, v := range p.vertices() {
		p.edges(v, func(to *vertex, cost float64, _ *Job) {
			if over := v.price + cost; over < to.price-1e-9*(1+math.Abs(cost)) {
				err = fmt.Errorf("level %d of %v has price %v, but %v over level %d of %v", to.n, to.device, to.price, over, v.n, v.device)
			}
		})
	}
	return err
}

// check compares a plan with the optimum and recomputes its cost from its
// queues alone.
func check(t *rapid.T, p *plan, in instance) {
	p.update(context.Background(), in.clones(), in.waiting())
	if err := proof(p); err != nil {
		t.Fatal(err)
	}
	want, got := in.optimum(), p.cost()
	if math.Abs(got-want) > 1e-9*(1+want) {
		t.Fatalf("cost %v, optimum %v\n%+v", got, want, in)
	}
	sum, seen := 0.0, map[int]bool{}
	for k, times := range in.ready {
		for i, now := range times {
			queue := p.queue(k, i)
			if first := p.first(Device(k), i); (first != nil) != (len(queue) > 0) || first != nil && in.jobs[first.index] == nil {
				t.Fatalf("first of node %d/%d is %v; queue %v", k, i, first, queue)
			}
			for _, id := range queue {
				if in.jobs[id] == nil || seen[id] {
					t.Fatalf("job %d is in two queues or none of ours: %v", id, queue)
				}
				seen[id] = true
				now += in.jobs[id].Reported[k]
				sum += now
			}
		}
	}
	if len(seen) != len(in.jobs) {
		t.Fatalf("%d jobs in queues, want %d", len(seen), len(in.jobs))
	}
	if math.Abs(sum-got) > 1e-9*(1+want) {
		t.Fatalf("queues cost %v, plan says %v", sum, got)
	}
}

func (in instance) clones() [Devices][]float64 {
	return [Devices][]float64{slices.Clone(in.ready[CPU]), slices.Clone(in.ready[GPU])}
}

func drawSeconds() *rapid.Generator[[Devices]float64] {
	some := rapid.OneOf(rapid.Float64Range(0.1, 100), rapid.Map(rapid.IntRange(1, 4), func(n int) float64 { return float64(n) }))
	return rapid.Custom(func(t *rapid.T) [Devices]float64 {
		var seconds [Devices]float64
		for i := range seconds {
			seconds[i] = some.Draw(t, "seconds")
			if rapid.IntRange(0, 7).Draw(t, "cannot") == 0 {
				seconds[i] = math.Inf(1)
			}
		}
		return seconds
	})
}

// TestPlanIsOptimal drives a plan through random changes on up to 3 machines of two
// devices with up to 6 jobs and compares it with trying everything.
func TestPlanIsOptimal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := instance{jobs: map[int]*Job{}}
		ready := rapid.OneOf(rapid.Float64Range(0, 200), rapid.Just(0.0), rapid.Just(3.0))
		for range rapid.IntRange(1, 3).Draw(t, "machines") {
			k := rapid.IntRange(0, Devices-1).Draw(t, "device")
			in.ready[k] = append(in.ready[k], ready.Draw(t, "ready"))
		}
		p := &plan{}
		for added := range rapid.IntRange(1, 12).Draw(t, "steps") {
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0, 1:
				seconds := drawSeconds().Draw(t, "job")
				for k := range seconds {
					if len(in.ready[k]) == 0 {
						seconds[k] = math.Inf(1)
					}
				}
				if len(in.jobs) < 6 && !math.IsInf(min(seconds[CPU], seconds[GPU]), 1) {
					in.jobs[added] = &Job{Reported: seconds, index: added}
				}
			case 2:
				for _, j := range in.waiting() {
					if rapid.Bool().Draw(t, "start") {
						j.end = 1
						delete(in.jobs, j.index)
						break
					}
				}
			case 3:
				for k := range in.ready {
					for i := range in.ready[k] {
						if rapid.Bool().Draw(t, "change") {
							in.ready[k][i] = ready.Draw(t, "ready")
						}
					}
				}
			}
			if rapid.Bool().Draw(t, "look") {
				check(t, p, in)
			}
		}
		check(t, p, in)
	})
}

// hungarian returns the cost of the best matching of jobs to slots by the
// textbook algorithm on the whole matrix (Kuhn 1955, with potentials), which
// shares nothing with plan.
func hungarian(in instance, jobs []*Job) float64 {
	var cost [][]float64 // by job, then by slot
	for _, j := range jobs {
		var row []float64
		for t, ready := range in.ready {
			for _, x := range ready {
				for n := range jobs {
					row = append(row, x+float64(n+1)*j.Reported[t])
				}
			}
		}
		cost = append(cost, row)
	}
	rows, columns := len(cost), len(cost[0])
	u, v := make([]float64, rows+1), make([]float64, columns+1)
	owner, way := make([]int, columns+1), make([]int, columns+1)
	for i := 1; i <= rows; i++ {
		owner[0] = i
		least, used := make([]float64, columns+1), make([]bool, columns+1)
		for c := range least {
			least[c] = math.Inf(1)
		}
		c0 := 0
		for owner[c0] != 0 {
			used[c0] = true
			next, step := 0, math.Inf(1)
			for c := 1; c <= columns; c++ {
				if used[c] {
					continue
				}
				if x := cost[owner[c0]-1][c-1] - u[owner[c0]] - v[c]; x < least[c] {
					least[c], way[c] = x, c0
				}
				if least[c] < step {
					next, step = c, least[c]
				}
			}
			for c := range used {
				if used[c] {
					u[owner[c]] += step
					v[c] -= step
				} else {
					least[c] -= step
				}
			}
			c0 = next
		}
		for ; c0 != 0; c0 = way[c0] {
			owner[c0] = owner[way[c0]]
		}
	}
	sum := 0.0
	for c := 1; c <= columns; c++ {
		if owner[c] > 0 {
			sum += cost[owner[c]-1][c-1]
		}
	}
	return sum
}

// TestHungarian compares plans too large to try everything.
func TestHungarian(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{10, 25, 40} {
		in := instance{ready: [Devices][]float64{{0, 30, 30, 200}, {0, 50, 90}}}
		jobs := randomJobs(n, rng)
		p := &plan{}
		p.update(context.Background(), in.ready, jobs)
		if got, want := p.cost(), hungarian(in, jobs); math.Abs(got-want) > 1e-9*want {
			t.Errorf("%d jobs: cost %v, the Hungarian algorithm finds %v", n, got, want)
		}
		if err := proof(p); err != nil {
			t.Errorf("%d jobs: %v", n, err)
		}
	}
}

func TestPlanWithoutJobs(t *testing.T) {
	p := &plan{}
	p.update(context.Background(), [Devices][]float64{{0}, nil}, nil)
	if p.cost() != 0 || p.first(CPU, 0) != nil {
		t.Errorf("cost %v, first %v", p.cost(), p.first(CPU, 0))
	}
}

func TestPlanStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	jobs := randomJobs(2, rand.New(rand.NewPCG(1, 1)))
	p := &plan{}
	p.update(ctx, [Devices][]float64{{0}, {0}}, jobs)
	if jobs[0].level != nil || p.first(CPU, 0) != nil {
		t.Errorf("the plan has job %+v after its context was done", jobs[0])
	}
}

func randomJobs(n int, rng *rand.Rand) []*Job {
	jobs := make([]*Job, n)
	for i := range jobs {
		gpu := 25 + 100*rng.Float64()
		jobs[i] = &Job{Reported: [Devices]float64{gpu * (1 + 3*rng.Float64()), gpu}, index: i}
	}
	return jobs
}

// queue returns the jobs that node i of a device runs, in order.
func (p *plan) queue(d, i int) []int {
	var ids []int
	for _, l := range slices.Backward(p.levels[d]) {
		if place := slices.Index(p.order[d], i); len(l.jobs) > place {
			ids = append(ids, l.jobs[place].index)
		}
	}
	return ids
}

// cost returns the sum of the completion times of all jobs.
func (p *plan) cost() float64 {
	sum := 0.0
	for d, levels := range p.levels {
		for _, l := range levels {
			for i, j := range l.jobs {
				sum += float64(l.n)*j.Reported[d] + p.ready[d][p.order[d][i]]
			}
		}
	}
	return sum
}

// drain runs a plan to its end and returns the sum of completion times.
func drain(p *plan, ready [Devices][]float64, jobs []*Job) float64 {
	sum := 0.0
	for len(jobs) > 0 {
		d, i, best := -1, -1, 0.0 // the node that is free first and has a job
		for k := range ready {
			for m, free := range ready[k] {
				if p.first(Device(k), m) != nil && (d < 0 || free < best) {
					d, i, best = k, m, free
				}
			}
		}
		first := p.first(Device(d), i)
		first.end = best + first.Reported[d]
		sum += first.end
		jobs = slices.DeleteFunc(jobs, func(j *Job) bool { return j == first })
		ready[d] = slices.Clone(ready[d])
		ready[d][i] = first.end
		p.update(context.Background(), ready, jobs)
	}
	return sum
}

// Run to its end without errors or arrivals, a plan costs what it promised.
func TestDrain(t *testing.T) {
	for _, n := range []int{1, 7, 60, 300} {
		jobs := randomJobs(n, rand.New(rand.NewPCG(2, uint64(n))))
		p, ready := &plan{}, [Devices][]float64{make([]float64, 8), make([]float64, 3)}
		p.update(context.Background(), ready, jobs)
		promised := p.cost()
		if got := drain(p, ready, jobs); got > promised*(1+1e-9) || got < promised*(1-1e-9) {
			t.Errorf("%d jobs: ran at %v, promised %v", n, got, promised)
		}
	}
}

// BenchmarkPlan builds the optimal plan of jobs that are all there at once.
func BenchmarkPlan(b *testing.B) {
	for _, n := range []int{50, 200, 1000} {
		b.Run(fmt.Sprintf("jobs=%d/machines=100", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				(&plan{}).update(context.Background(), [Devices][]float64{make([]float64, 80), make([]float64, 20)}, randomJobs(n, rand.New(rand.NewPCG(1, 1))))
			}
		})
	}
}
