package schedule

import (
	"cmp"
	"container/heap"
	"math"
	"slices"
)

// LowerBound returns a mean job completion time that no schedule of the same
// jobs on the same cluster is below, computed from the true times; also not
// one that preempts, moves jobs at no cost or knows the future. It is the
// greatest of three bounds:
//
//   - every job takes at least its time on its fastest device;
//   - the pooled bound: price a second of a node of each device, such as a CPU
//     node at 1-q and a GPU node at q. Whatever devices a job uses, it costs at
//     least w = the cheapest of its ways, and the cluster earns at most R a
//     second. So no schedule
//     ends jobs sooner than one machine of speed R with works w, on which
//     shortest remaining work first is best;
//   - the mean busy time bound: on that one machine the sum of mean busy times
//     M is least when the smallest w goes first (Goemans 1997), and a job ends
//     at least half its fastest time after its mean busy time.
//
// The last two are taken at the prices where they are greatest, as found by
// a search. DESIGN.md has the proof.
func (s *Schedule) LowerBound() float64 {
	var b bound
	for _, r := range s.Runs {
		t := task{arrival: r.Job.Arrival, fastest: s.fastest(r.Job)}
		for d := range Device(Devices) {
			t.area[d] = math.Inf(1)
			if s.Cluster.runs(r.Job, d) {
				t.area[d] = r.Job.Seconds(d)
			}
		}
		b.tasks = append(b.tasks, t)
		b.base += t.fastest
	}
	b.devices = s.Cluster.devices()
	for _, d := range b.devices {
		b.nodes[d] = float64(s.Cluster.Nodes(d))
	}
	slices.SortStableFunc(b.tasks, func(x, y task) int { return cmp.Compare(x.arrival, y.arrival) })
	return b.best() / float64(len(b.tasks))
}

// bound is the search for the best price.
type bound struct {
	tasks   []task // by arrival
	devices []Device
	nodes   [Devices]float64
	base    float64 // sum of fastest times
}

type task struct {
	arrival, fastest float64
	area             [Devices]float64 // node seconds it takes on each device
	work             float64          // at the price in question
}

// prices of a second of a node of each device.
type prices [Devices]float64

// best returns the greatest bound on the sum of completion times found. Every price
// gives a valid bound, so the search need not be exact: the price of one device after
// the other is changed by a factor, a smaller one where none is better (Hooke and
// Jeeves 1961).
func (b *bound) best() float64 {
	var at prices
	for _, d := range b.devices {
		at[d] = 1
	}
	most := max(b.base, b.value(at))
	for step := 2.0; step > 1e-3; {
		before := most
		for _, d := range b.devices[1:] { // prices count relative to the first
			for _, factor := range []float64{1 + step, 1 / (1 + step)} {
				p := at
				p[d] *= factor
				if x := b.value(p); x > most {
					most, at = x, p
				}
			}
		}
		if most == before {
			step /= 2
		}
	}
	return most
}

// value returns the bound on the sum of completion times at some prices.
func (b *bound) value(price prices) float64 {
	speed := 0.0
	for d, n := range b.nodes {
		speed += n * price[d]
	}
	if speed <= 0 {
		return 0
	}
	for i := range b.tasks {
		t := &b.tasks[i]
		t.work = math.Inf(1)
		for _, d := range b.devices {
			if !math.IsInf(t.area[d], 1) {
				t.work = min(t.work, price[d]*t.area[d]/speed)
			}
		}
	}
	sum, busy := b.serve(remainingFirst), b.serve(wholeFirst)
	return max(sum, busy+b.base/2)
}

// rule is which task goes first on the one machine.
type rule int

const (
	remainingFirst rule = iota // of the smallest remaining work
	wholeFirst                 // of the smallest whole work
)

// serve runs one machine that always works on the task of the smallest
// remaining work, and returns the sum of completion times; or of the smallest
// whole work, and returns the sum of mean busy times. Arrivals are deducted.
func (b *bound) serve(by rule) float64 {
	var queue first[load]
	now, sum := 0.0, 0.0
	for i := 0; i < len(b.tasks) || len(queue) > 0; {
		if len(queue) == 0 {
			now = max(now, b.tasks[i].arrival)
		}
		for ; i < len(b.tasks) && b.tasks[i].arrival <= now; i++ {
			heap.Push(&queue, load{key: b.tasks[i].work, left: b.tasks[i].work, task: &b.tasks[i]})
		}
		until := math.Inf(1)
		if i < len(b.tasks) {
			until = b.tasks[i].arrival
		}
		l := &queue[0]
		spent := min(l.left, until-now)
		if by == wholeFirst && l.task.work > 0 {
			sum += spent / l.task.work * (now + spent/2 - l.task.arrival)
		}
		now += spent
		if l.left -= spent; l.left > 0 && now < until {
			l.left = 0 // rounding: the clock cannot resolve it
		}
		if l.left > 0 {
			if by == remainingFirst {
				l.key = l.left // a smaller key keeps it first
			}
			continue
		}
		if by == remainingFirst || l.task.work == 0 {
			sum += now - l.task.arrival
		}
		heap.Pop(&queue)
	}
	return sum
}

// load is a task on the one machine.
type load struct {
	key, left float64
	task      *task
}

// Before says that it goes first.
func (l load) Before(m load) bool { return l.key < m.key }
