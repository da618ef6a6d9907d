package host_test

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// planned is a task of a random graph.
type planned struct {
	ticks, created uint64
	depends        map[uint64]int
	start, end     uint64 // on the simulated machine
	ran            bool
	path           uint64 // of the reference, at its creation and then at its end
}

// conflict reports whether the later of two siblings waits for the earlier one, and whether they
// only exclude one another, by the rules of OpenMP 5.2, section 15.9.5.
func conflict(a, b *planned) (waits, excludes bool) {
	for address, kind := range a.depends {
		other, both := b.depends[address]
		switch {
		case !both, kind == other && (kind == reads || kind == setInOut):
		case kind == other && kind == mutexSet:
			excludes = true
		default:
			waits = true
		}
	}
	return waits, excludes
}

// machine runs the tasks of one creator on workers, each as soon as a worker is free.
type machine struct {
	tasks []*planned
	free  []uint64 // when each worker is
	p     *program
}

// earliest returns when a task can start at the earliest, and on which worker; ok is false if a
// task that it waits for has not run.
func (m *machine) earliest(i int) (at uint64, worker int, ok bool) {
	t := m.tasks[i]
	worker = slices.Index(m.free, slices.Min(m.free))
	at = max(t.created, m.free[worker])
	for n, other := range m.tasks {
		waits, excludes := conflict(other, t)
		switch {
		case n == i || !waits && !excludes:
		case waits && n < i && !other.ran:
			return 0, 0, false
		case waits && n < i, excludes && !waits && other.ran:
			at = max(at, other.end)
		}
	}
	return at, worker, true
}

// runUntil runs tasks until all of the given ones have ended, and returns when.
func (m *machine) runUntil(waited []int) (end uint64) {
	for slices.ContainsFunc(waited, func(i int) bool { return !m.tasks[i].ran }) {
		best, at, worker := -1, uint64(math.MaxUint64), 0
		for i, t := range m.tasks {
			if start, w, ok := m.earliest(i); ok && !t.ran && start < at {
				best, at, worker = i, start, w
			}
		}
		t := m.tasks[best]
		t.ran, t.start, t.end = true, at, at+t.ticks
		m.free[worker] = t.end
		token := uint64(best + 1)
		m.p.run(worker+1, t.start, t.end, token)
	}
	for _, i := range waited {
		end = max(end, m.tasks[i].end)
	}
	return end
}

// before returns the tasks that a further one with some dependences would wait for.
func (m *machine) before(depends map[uint64]int) (waited []int) {
	probe := &planned{depends: depends}
	for i, t := range m.tasks {
		if waits, _ := conflict(t, probe); waits {
			waited = append(waited, i)
		}
	}
	return waited
}

// reference lengthens the paths of the tasks from a number on, in the order in which they ran.
func (m *machine) reference(done map[int]bool) {
	order := []int{}
	for i, t := range m.tasks {
		if t.ran && !done[i] {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(m.tasks[a].start, m.tasks[b].start), cmp.Compare(a, b)) })
	for _, i := range order {
		t := m.tasks[i]
		for n, other := range m.tasks {
			waits, excludes := conflict(other, t)
			if done[n] && (waits && n < i || excludes) {
				t.path = max(t.path, other.path)
			}
		}
		t.path += t.ticks
		done[i] = true
	}
}

// The span of random graphs with all kinds of dependences, taskwaits with and without them and
// taskgroups is that of a plain reference, within a twentieth.
func TestSpanOfRandomGraphs(t *testing.T) {
	moves := buildMoves(t)
	rapid.Check(t, func(t *rapid.T) {
		const creation = 3
		draw := func(low, high int, what string) int { return rapid.IntRange(low, high).Draw(t, what) }
		m := &machine{free: make([]uint64, draw(1, 4, "workers"))}
		m.p = newProgram(1 + len(m.free))
		for i := range m.free {
			m.free[i] = 1000
		}
		done := map[int]bool{}
		now, path := uint64(1000), uint64(0) // of the creator
		group := -1                          // the number of tasks before the group under way
		dependences := func() map[uint64]int {
			d := map[uint64]int{}
			for range draw(0, 2, "dependences") {
				d[uint64(8*draw(1, 3, "address"))] = draw(1, 4, "kind")
			}
			return d
		}
		list := func(d map[uint64]int) (depends []dependence) {
			for address := uint64(8); address <= 24; address += 8 {
				if kind, ok := d[address]; ok {
					depends = append(depends, dependence{address, kind})
				}
			}
			return depends
		}
		wait := func(class uint64, waited []int, depends []dependence) {
			from := now
			now = max(now, m.runUntil(waited)) + 1
			m.p.add("wait", 0, 0, from, class, 0)
			for _, d := range depends {
				m.p.add("await", 0, 0, now, d.address, uint64(d.kind))
			}
			m.p.add("go", 0, 0, now, class, 0)
			m.reference(done)
			for _, i := range waited {
				path = max(path, m.tasks[i].path)
			}
		}
		all := func(from int) (tasks []int) {
			for i := from; i < len(m.tasks); i++ {
				tasks = append(tasks, i)
			}
			return tasks
		}
		for range draw(1, 40, "steps") {
			switch draw(0, 9, "step") {
			case 0:
				wait(taskwait, all(0), nil)
			case 1:
				d := dependences()
				if len(d) == 0 {
					continue
				}
				wait(0, m.before(d), list(d))
			case 2:
				if group >= 0 {
					wait(taskgroup, all(group), nil)
					group = -1
					continue
				}
				group = len(m.tasks)
				m.p.add("group", 0, 0, now, 0, 0)
			default:
				now += creation
				path += creation
				task := &planned{ticks: uint64(draw(1, 100, "ticks")), created: now, depends: dependences(), path: path}
				m.tasks = append(m.tasks, task)
				m.p.create(0, now, uint64(len(m.tasks)), list(task.depends)...)
			}
		}
		if group >= 0 {
			wait(taskgroup, all(group), nil)
		}
		wait(barrier, all(0), nil)
		if len(m.tasks) == 0 {
			return
		}
		g, err := m.p.graph(moves)
		if kept := 2 + len(m.free); err != nil || g.known != 1 || math.Abs(float64(g.span)-float64(path)) > 0.05*float64(path) || g.kept > kept {
			text := ""
			for i, task := range m.tasks {
				text += fmt.Sprintf("\n%d: %+v", i, *task)
			}
			t.Fatalf("%+v, of the reference %d (%v)%s", g, path, err, text)
		}
	})
}
