package cluster

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/foretime/foretime/mirage/internal/trace"
)

// The reference keeps what is free second by second from now on, for span seconds; the last
// second stands for all after it.
const (
	now  = 1000
	span = 80
)

// grid holds what is free on each node at each second; a counted machine has one node whose
// CPUs are its nodes.
type grid struct {
	layout *Layout
	rows   [][span]Amount
	shut   []bool
}

// newGrid returns the reference's view of an occupancy: jobs end at their limits, if ends is
// set, and windows take nodes; times are rounded up to the resolution.
func newGrid(o *Occupancy, ends bool, resolution int64) *grid {
	g := &grid{layout: o.layout}
	idle := o.idle
	if o.layout == nil {
		idle = []Amount{{int64(o.free)}}
	}
	g.shut = make([]bool, len(idle))
	for _, free := range idle {
		var row [span]Amount
		for s := range row {
			row[s] = free
		}
		g.rows = append(g.rows, row)
	}
	for _, a := range o.running {
		at := roundSlowly(max(a.Until, now+1), resolution)
		switch {
		case !ends:
		case a.Place == nil:
			g.add(0, at, now+span, Amount{int64(a.Nodes)})
		default:
			for _, n := range a.Place.On {
				g.add(int(n), at, now+span, g.takes(a.Place.Share, n))
			}
		}
	}
	for _, w := range o.down {
		to := roundSlowly(w.To, resolution)
		switch {
		case w.To <= now:
		case o.layout == nil:
			g.add(0, w.From, to, Amount{-int64(w.Nodes)})
		case w.On == nil:
			for n := len(idle) - w.Nodes; n < len(idle); n++ {
				g.add(n, w.From, to, negative(o.layout.nodes[n]))
			}
		default:
			for _, n := range w.On {
				g.add(int(n), w.From, to, negative(o.layout.nodes[n]))
			}
		}
	}
	return g
}

func negative(a Amount) Amount { return Amount{-a[0], -a[1], -a[2]} }

// roundSlowly counts up to the next slot after now.
func roundSlowly(at, resolution int64) int64 {
	for resolution > 0 && at > now && (at-now)%resolution != 0 {
		at++
	}
	return at
}

func (g *grid) add(n int, from, to int64, by Amount) {
	for s := max(from, now); s < min(to, now+span); s++ {
		for i := range by {
			g.rows[n][s-now][i] += by[i]
		}
	}
}

// takes returns what a job takes of a node.
func (g *grid) takes(s *Share, n int32) Amount {
	if s.Whole {
		return g.layout.nodes[n]
	}
	return s.Per
}

// choose returns the first nodes that take a request from at on, or nil if they are too few.
func (g *grid) choose(r *Request, at int64) []int32 {
	fits := func(n int) bool {
		for s := at; s < at+max(r.Limit, 1); s++ {
			free := g.rows[n][min(s-now, span-1)]
			switch {
			case g.layout == nil:
				if free[cpus] < int64(r.Nodes) {
					return false
				}
			case r.Share.Whole && free != g.layout.nodes[n]:
				return false
			case free[cpus] < r.Share.Per[cpus], free[gpus] < r.Share.Per[gpus], free[memory] < r.Share.Per[memory]:
				return false
			}
		}
		return true
	}
	if g.layout == nil {
		if fits(0) {
			return []int32{0}
		}
		return nil
	}
	var on []int32
	for n := range g.rows {
		allowed := r.Share.In == nil || r.Share.In[n]
		only := r.Share.Only == nil || slices.Contains(r.Share.Only, int32(n))
		if allowed && only && !g.shut[n] && len(on) < int(r.Nodes) && fits(n) {
			on = append(on, int32(n))
		}
	}
	if len(on) < int(r.Nodes) {
		return nil
	}
	return on
}

// earliest returns the first second at which a request fits.
func (g *grid) earliest(r *Request) int64 {
	at := int64(now)
	for at < now+2*span && g.choose(r, at) == nil {
		at++
	}
	return at
}

// reserve takes a request's nodes, whole ones for a promise.
func (g *grid) reserve(r *Request, at, seconds int64, promise bool) []int32 {
	on := g.choose(r, at)
	for _, n := range on {
		switch {
		case g.layout == nil:
			g.add(0, at, at+seconds, Amount{-int64(r.Nodes)})
		case promise:
			g.add(int(n), at, at+seconds, negative(g.layout.nodes[n]))
		default:
			g.add(int(n), at, at+seconds, negative(g.takes(r.Share, n)))
		}
	}
	return on
}

// close keeps the nodes of a request from others and reports whether others have a CPU.
func (g *grid) close(r *Request) bool {
	others := false
	for n := range g.rows {
		g.shut[n] = g.shut[n] || r.Share.In == nil || r.Share.In[n]
		others = others || !g.shut[n] && g.rows[n][0][cpus] > 0
	}
	return others
}

// sharedMachine is a machine of two kinds in overlapping partitions.
func sharedMachine() Machine {
	return Machine{
		Nodes: 5,
		Kinds: []Kind{
			{Name: "small", Nodes: 2, CPUs: 2, Partitions: []string{"a", "c"}},
			{Name: "gpu", Nodes: 2, CPUs: 4, GPUs: 2, MemoryMB: 8, Partitions: []string{"b", "c"}},
			{Name: "any", Nodes: 1, CPUs: 3, MemoryMB: 4},
		},
		Partitions: []Partition{{Name: "a", Tier: 2}, {Name: "b"}, {Name: "c"}},
	}
}

// drawJob returns a job that the layout can run.
func drawJob(t *testing.T, rng *rand.Rand, l *Layout) (trace.Job, *Share) {
	t.Helper()
	for {
		j := trace.Job{Nodes: 1 + rng.IntN(3), Limit: int64(rng.IntN(9)), Partition: []string{"", "a", "b", "c", "a,b"}[rng.IntN(5)]}
		if rng.IntN(4) > 0 {
			j.Need = &trace.Need{CPUs: j.Nodes * rng.IntN(4), GPUs: j.Nodes * rng.IntN(2), MemoryMB: int64(j.Nodes * rng.IntN(5)), Exclusive: rng.IntN(6) == 0}
			if rng.IntN(5) == 0 {
				j.Need.Only = []int32{0, 2, 3, 4}
			}
		}
		s, _, err := l.Share(&j)
		if err == nil {
			return j, s
		}
	}
}

// drawOccupancy returns a machine with jobs that run and nodes that go down, and the jobs'
// number.
func drawOccupancy(t *testing.T, rng *rand.Rand, kinds bool) (*Occupancy, Machine) {
	t.Helper()
	m := Machine{Nodes: 5}
	if kinds {
		m = sharedMachine()
	}
	if rng.IntN(2) == 0 {
		from := now - 5 + int64(rng.IntN(20))
		m.Down = []Window{{From: from, To: from + 1 + int64(rng.IntN(9)), Nodes: 1 + rng.IntN(2)}}
		if kinds && rng.IntN(2) == 0 {
			m.Down[0].On = []int32{1, 3}[:m.Down[0].Nodes]
		}
	}
	if err := m.Check(); err != nil {
		t.Fatal(err)
	}
	o := NewOccupancy(m)
	for job := range int32(3) {
		until := now - 2 + int64(rng.IntN(14))
		a := Allocation{Job: 100 + job, Nodes: 1, Until: until, End: until}
		if kinds {
			j, s := drawJob(t, rng, o.layout)
			if !o.Room(j.Nodes, s) {
				continue
			}
			a.Nodes, a.Place = int32(j.Nodes), o.Assign(j.Nodes, s, nil)
		}
		o.Take(a)
	}
	return o, m
}

// Places found in steps are those found second by second, on
// machines that count nodes and on those with kinds.
func TestProfilesAgainstSeconds(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for round := range 1500 {
		kinds := round%2 == 0
		o, _ := drawOccupancy(t, rng, kinds)
		resolution := int64(rng.IntN(4))
		var p Profile
		o.Plan(&p, now, resolution)
		g := newGrid(o, true, resolution)
		for step := range 8 {
			r := &Request{Nodes: int32(1 + rng.IntN(3)), Limit: int64(rng.IntN(9))}
			if kinds {
				j, s := drawJob(t, rng, o.layout)
				r.Nodes, r.Share = int32(j.Nodes), s
			}
			if kinds && step > 5 && rng.IntN(3) == 0 {
				if got, want := p.Close(r.Share), g.close(r); got != want {
					t.Fatalf("round %d: others than %+v: %v, want %v", round, r.Share, got, want)
				}
				continue
			}
			at := g.earliest(r)
			if at >= now+span {
				continue
			}
			if got := p.Earliest(int(r.Nodes), r.Share, r.Limit); got != at {
				t.Fatalf("round %d: %d nodes for %d s at %d, want %d", round, r.Nodes, r.Limit, got, at)
			}
			if got, want := p.Fits(int(r.Nodes), r.Share, r.Limit), at == now; got != want {
				t.Fatalf("round %d: %d nodes for %d s fit now: %v, want %v", round, r.Nodes, r.Limit, got, want)
			}
			at += int64(rng.IntN(2)) // not always the first moment
			if g.choose(r, at) == nil || r.Limit == 0 {
				continue
			}
			if rng.IntN(3) == 0 {
				g.reserve(r, at, r.Limit, true)
				p.Promise(at, at+r.Limit, int(r.Nodes), r.Share)
				continue
			}
			on := g.reserve(r, at, r.Limit, false)
			place := p.Reserve(at, at+r.Limit, int(r.Nodes), r.Share)
			if !kinds {
				continue
			}
			total := int64(0)
			for _, n := range on {
				total += g.takes(r.Share, n)[cpus]
			}
			if !slices.Equal(place.On, on) || int64(place.CPUs) != total {
				t.Fatalf("round %d: placed on %v with %d CPUs, want %v with %d", round, place.On, place.CPUs, on, total)
			}
		}
	}
}

// referencePass serves sorted requests by a discipline. It returns those that start, with their
// nodes.
func referencePass(d Discipline, periodic bool, rules Rules, o *Occupancy, queue []Request, blocked func(*Request) bool) (started []string) {
	free := o.Free()
	if free == 0 {
		return nil
	}
	outOfTurn := false
	begin := func(g *grid, r *Request, seconds int64) {
		on := g.reserve(r, now, seconds, false)
		if o.layout == nil {
			on = nil
			free -= int(r.Nodes)
		} else {
			free = 0
			for n := range g.rows {
				free += int(min(max(g.rows[n][0][cpus], 0), 1))
			}
		}
		started = append(started, fmt.Sprint(r.Job, on, outOfTurn))
	}
	backfill := Backfill{}
	switch {
	case d == Slurm && periodic:
		backfill = rules.Backfill
		fallthrough
	case d == Conservative:
		g := newGrid(o, true, backfill.ResolutionSeconds)
		for i := range queue {
			r := queue[i]
			if backfill.MaxJobTest > 0 && i >= backfill.MaxJobTest {
				return started
			}
			if blocked(&r) {
				outOfTurn = true
				continue
			}
			r.Limit = roundSlowly(now+max(r.Limit, 1), backfill.ResolutionSeconds) - now
			at := g.earliest(&r)
			if at == now {
				begin(g, &r, r.Limit)
				continue
			}
			outOfTurn = true
			if backfill.WindowMinutes == 0 || at < now+60*backfill.WindowMinutes {
				g.reserve(&r, at, r.Limit, d == Slurm)
			}
		}
	case d == EASY:
		g := newGrid(o, true, 0)
		reserved := map[string]bool{}
		for i := range queue {
			r := &queue[i]
			switch {
			case blocked(r):
				outOfTurn = true
			case g.choose(r, now) != nil:
				begin(g, r, max(r.Limit, 1))
			default:
				names := []string{""}
				if r.Share != nil && r.Share.partitions != nil {
					names = r.Share.partitions
				}
				first := !reserved[""]
				fresh := false
				for _, name := range names {
					fresh = fresh || !reserved[name]
					reserved[name] = true
				}
				if first && fresh {
					g.reserve(r, g.earliest(r), max(r.Limit, 1), false)
					outOfTurn = true
				}
			}
			if free == 0 {
				return started
			}
		}
	default:
		g := newGrid(o, o.layout == nil, 0)
		for i := range queue {
			r := &queue[i]
			if rules.QueueDepth > 0 && i >= rules.QueueDepth {
				return started
			}
			if blocked(r) {
				outOfTurn = true
				continue
			}
			if g.choose(r, now) == nil || int(r.Nodes) > free {
				outOfTurn = true
				if o.layout == nil || !g.close(r) {
					return started
				}
				continue
			}
			begin(g, r, max(r.Limit, 1))
			if free == 0 {
				return started
			}
		}
	}
	return started
}

// Each discipline starts the jobs that a reference starts which
// plans second by second and looks at every job.
func TestDisciplinesAgainstSeconds(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for round := range 1200 {
		d := []Discipline{FCFS, EASY, Conservative, Slurm}[rng.IntN(4)]
		kinds := rng.IntN(2) == 0
		periodic := d == Slurm && rng.IntN(2) == 0
		rules := Defaults(d)
		rules.UserLimit = rng.IntN(2) * 2
		if d == Slurm {
			rules.Weights = Weights{}
			rules.QueueDepth = rng.IntN(6)
			rules.Backfill = Backfill{MaxJobTest: rng.IntN(6), ResolutionSeconds: int64(rng.IntN(4))}
		}
		plan, err := rules.Plan()
		if err != nil {
			t.Fatal(err)
		}
		o, _ := drawOccupancy(t, rng, kinds)
		if round%3 == 0 {
			o.down = nil
		}
		f := &Pass{Now: now, Queue: NewQueue(&rules, 0), Nodes: o, Running: []int32{2, 1, 0, 3}}
		odd := rng.IntN(2) == 0
		admitted := func(r *Request) bool { return !odd || r.Job%5 != 3 }
		if odd {
			f.Admits = admitted
		}
		var queue []Request
		for job := range int32(1 + rng.IntN(7)) {
			r := Request{Job: job, User: int32(rng.IntN(4)), Nodes: int32(1 + rng.IntN(4)), Limit: int64(rng.IntN(12)), Submit: int64(job)}
			if kinds {
				j, s := drawJob(t, rng, o.layout)
				r.Nodes, r.Share = int32(j.Nodes), s
			}
			queue = append(queue, r)
			f.Queue.Add(r)
		}
		running := slices.Clone(f.Running)
		blocked := func(r *Request) bool {
			return rules.UserLimit > 0 && running[r.User] >= int32(rules.UserLimit) || !admitted(r)
		}
		want := referencePass(d, periodic, rules, o.Clone(), queue, blocked)
		var got []string
		f.Start = func(r *Request, place *Place, outOfTurn bool) {
			var on []int32
			if kinds && place == nil { // free nodes alone decide
				t.Fatal("no place")
			}
			if place != nil {
				on = place.On
			}
			got = append(got, fmt.Sprint(r.Job, on, outOfTurn))
			o.Take(Allocation{Job: r.Job, Nodes: r.Nodes, Until: now + r.Limit, End: now + r.Limit, Place: place})
		}
		if periodic {
			plan.Periodically(f)
		} else {
			plan.Event(f)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("round %d: %s, periodic %v, kinds %v, %+v: started %v, want %v", round, d, periodic, kinds, rules, got, want)
		}
		if f.Queue.Len() != len(queue)-len(want) {
			t.Fatalf("round %d: %d of %d left after %d started", round, f.Queue.Len(), len(queue), len(want))
		}
	}
}
