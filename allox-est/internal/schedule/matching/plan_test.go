package matching

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// instance is a small problem to be solved by trying everything.
type instance struct {
	ready [][]float64
	jobs  map[int][]float64
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
	var ids []int
	for id := range in.jobs {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	queues := make([][]float64, len(machines))
	best := math.Inf(1)
	var try func(i int)
	try = func(i int) {
		if i == len(ids) {
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
			queues[m] = append(queues[m], in.jobs[ids[i]][machines[m].kind])
			try(i + 1)
			queues[m] = queues[m][:len(queues[m])-1]
		}
	}
	try(0)
	return best
}

// proof returns an error unless the prices prove that the plan is optimal.
func proof(p *Plan) (err error) {
	p.solve()
	for v, l := range p.graph.levels {
		if l != nil && l.n > p.types[l.kind].open {
			continue
		}
		p.edges(v, func(to int, cost float64, _ *job) {
			if p.graph.price[v]+cost < p.graph.price[to]-1e-9*p.scale {
				err = fmt.Errorf("node %d has price %v, but %v over node %d", to, p.graph.price[to], p.graph.price[v]+cost, v)
			}
		})
	}
	return err
}

// check compares a plan with the optimum and recomputes its cost from its
// queues alone.
func check(t *rapid.T, p *Plan, in instance) {
	want, got := in.optimum(), p.Cost()
	if math.Abs(got-want) > 1e-9*(1+want) {
		t.Fatalf("cost %v, optimum %v\n%+v", got, want, in)
	}
	sum, seen := 0.0, map[int]bool{}
	for k, times := range in.ready {
		for i, now := range times {
			queue := p.Queue(k, i)
			if first, ok := p.First(k, i); ok != (len(queue) > 0) || ok && in.jobs[first] == nil {
				t.Fatalf("first of machine %d/%d is %d, %v; queue %v", k, i, first, ok, queue)
			}
			for _, id := range queue {
				if in.jobs[id] == nil || seen[id] {
					t.Fatalf("job %d is in two queues or none of ours: %v", id, queue)
				}
				seen[id] = true
				now += in.jobs[id][k]
				sum += now
			}
		}
	}
	if len(seen) != len(in.jobs) || p.Len() != len(in.jobs) {
		t.Fatalf("%d jobs in queues, %d in the plan, want %d", len(seen), p.Len(), len(in.jobs))
	}
	if math.Abs(sum-got) > 1e-9*(1+want) {
		t.Fatalf("queues cost %v, plan says %v", sum, got)
	}
}

func drawSeconds(types int) *rapid.Generator[[]float64] {
	some := rapid.OneOf(rapid.Float64Range(0.1, 100), rapid.Map(rapid.IntRange(1, 4), func(n int) float64 { return float64(n) }))
	return rapid.Custom(func(t *rapid.T) []float64 {
		seconds := make([]float64, types)
		for i := range seconds {
			seconds[i] = some.Draw(t, "seconds")
			if rapid.IntRange(0, 7).Draw(t, "cannot") == 0 {
				seconds[i] = math.Inf(1)
			}
		}
		return seconds
	})
}

// TestOptimum drives a plan through random changes on up to 3 machines of up
// to 3 types with up to 6 jobs and compares it with trying everything.
func TestOptimum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		types := rapid.IntRange(1, 3).Draw(t, "types")
		in := instance{ready: make([][]float64, types), jobs: map[int][]float64{}}
		ready := rapid.OneOf(rapid.Float64Range(0, 200), rapid.Just(0.0), rapid.Just(3.0))
		for range rapid.IntRange(1, 3).Draw(t, "machines") {
			k := rapid.IntRange(0, types-1).Draw(t, "type")
			in.ready[k] = append(in.ready[k], ready.Draw(t, "ready"))
		}
		p, err := New(in.ready)
		if err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0, 1:
				if len(in.jobs) == 6 {
					continue
				}
				seconds := drawSeconds(types).Draw(t, "job")
				id, err := p.Add(seconds)
				if err != nil {
					if !errors.Is(err, ErrTime) {
						t.Fatal(err)
					}
					continue
				}
				in.jobs[id] = seconds
			case 2:
				for _, id := range slices.Sorted(func(yield func(int) bool) {
					for id := range in.jobs {
						if !yield(id) {
							return
						}
					}
				}) {
					if rapid.Bool().Draw(t, "remove") {
						p.Remove(id)
						delete(in.jobs, id)
						break
					}
				}
			case 3:
				for k := range in.ready {
					for i := range in.ready[k] {
						if rapid.Bool().Draw(t, "change") {
							in.ready[k][i] = ready.Draw(t, "ready")
							if err := p.SetReady(k, i, in.ready[k][i]); err != nil {
								t.Fatal(err)
							}
						}
					}
				}
			}
			if rapid.Bool().Draw(t, "prove") {
				if err := proof(p); err != nil {
					t.Fatal(err)
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
// shares nothing with Plan.
func hungarian(in instance, jobs [][]float64) float64 {
	var cost [][]float64 // by job, then by slot
	for _, seconds := range jobs {
		var row []float64
		for t, ready := range in.ready {
			for _, x := range ready {
				for n := range jobs {
					row = append(row, x+float64(n+1)*seconds[t])
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
		in := instance{ready: [][]float64{{0, 30, 30, 200}, {0, 50, 90}}}
		jobs := drawJobs(n, rng)
		p, err := New(in.ready)
		if err != nil {
			t.Fatal(err)
		}
		for _, seconds := range jobs {
			if _, err := p.Add(seconds); err != nil {
				t.Fatal(err)
			}
		}
		if got, want := p.Cost(), hungarian(in, jobs); math.Abs(got-want) > 1e-9*want {
			t.Errorf("%d jobs: cost %v, the Hungarian algorithm finds %v", n, got, want)
		}
		if err := proof(p); err != nil {
			t.Errorf("%d jobs: %v", n, err)
		}
	}
}

func TestRefuses(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, ready := range [][][]float64{{}, {{}}, {{nan}}, {{0}, {inf}}} {
		if _, err := New(ready); !errors.Is(err, ErrReady) {
			t.Errorf("ready %v: %v", ready, err)
		}
	}
	p, err := New([][]float64{{0}, {}})
	if err != nil {
		t.Fatal(err)
	}
	for _, seconds := range [][]float64{nil, {1}, {0, 1}, {-1, 1}, {nan, 1}, {inf, inf}, {inf, 1}} {
		if _, err := p.Add(seconds); !errors.Is(err, ErrTime) {
			t.Errorf("seconds %v: %v", seconds, err)
		}
	}
	if err := p.SetReady(0, 0, nan); !errors.Is(err, ErrReady) {
		t.Errorf("got %v", err)
	}
	if p.Cost() != 0 || p.Len() != 0 {
		t.Errorf("cost %v, %d jobs after nothing was added", p.Cost(), p.Len())
	}
	if _, ok := p.First(0, 0); ok {
		t.Error("an empty plan has a first job")
	}
}

func Example() {
	p, err := New([][]float64{{0, 5}, {0}})
	if err != nil {
		panic(err)
	}
	for _, seconds := range [][]float64{{4, 2}, {9, 3}, {6, 6}} {
		if _, err := p.Add(seconds); err != nil {
			panic(err)
		}
	}
	fmt.Println(p.Cost(), p.Queue(1, 0))
	// Output: 13 [0 1]
}

// Queue returns the jobs that machine i of type t runs, in order.
func (p *Plan) Queue(t, i int) []int {
	p.solve()
	k := p.types[t]
	var ids []int
	for n := k.open - 1; n >= 0; n-- {
		if l := k.levels[n]; len(l.jobs) > k.rank[i] {
			ids = append(ids, l.jobs[k.rank[i]].id)
		}
	}
	return ids
}

// Len returns the number of jobs in the plan.
func (p *Plan) Len() int {
	n := 0
	for _, k := range p.types {
		for _, l := range k.levels[:k.open] {
			n += len(l.jobs)
		}
	}
	return n
}

// Cost returns the sum of the completion times of all jobs.
func (p *Plan) Cost() float64 {
	p.solve()
	sum := 0.0
	for t, k := range p.types {
		for _, l := range k.levels[:k.open] {
			for i, j := range l.jobs {
				sum += float64(l.n)*j.seconds[t] + k.ready[k.order[i]]
			}
		}
	}
	return sum
}
