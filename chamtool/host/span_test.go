package host_test

import (
	"cmp"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Classes of waits and kinds of dependences, as in graph.h.
const (
	barrier   = 1
	taskwait  = 2
	taskgroup = 3

	reads    = 1
	writes   = 2
	mutexSet = 3
	setInOut = 4
)

// program collects a program's moves in the graph of tasks. A tick is a nanosecond.
type program struct {
	threads int
	moves   []move
}

type move struct {
	at   uint64
	text string
}

// dependence is a dependence of a task on an address.
type dependence struct {
	address uint64
	kind    int
}

func newProgram(threads int) *program {
	p := &program{threads: threads}
	for lane := range threads {
		p.add("join", lane, 0, 1000, 0, 0)
		if lane > 0 { // the others wait for tasks
			p.add("wait", lane, 0, 1000, barrier, 0)
		}
	}
	return p
}

func (p *program) add(what string, lane int, task, at uint64, a, b uint64) {
	p.moves = append(p.moves, move{at, fmt.Sprintln(what, lane, task, at, a, b)})
}

func (p *program) depend(lane int, at, task uint64, depends []dependence) {
	for _, d := range depends {
		p.add("depend", lane, task, at, d.address, uint64(d.kind))
	}
}

// createOf creates a task of a construct.
func (p *program) createOf(lane int, at, task, construct uint64, depends ...dependence) {
	p.add("create", lane, task, at, construct, 0)
	p.depend(lane, at, task, depends)
}

func (p *program) create(lane int, at, task uint64, depends ...dependence) {
	p.createOf(lane, at, task, 1, depends...)
}

func (p *program) begin(lane int, at, task uint64) { p.add("begin", lane, task, at, 0, 0) }

func (p *program) end(lane int, at, task uint64) { p.add("end", lane, task, at, 0, 0) }

// run runs a task without a pause.
func (p *program) run(lane int, from, to, task uint64) {
	p.begin(lane, from, task)
	p.end(lane, to, task)
}

// waitFor waits in the present task of a thread.
func (p *program) waitFor(lane int, class, from, to uint64) {
	p.add("wait", lane, 0, from, class, 0)
	p.add("go", lane, 0, to, class, 0)
}

// graph is the graph of a program's tasks in ticks.
type graph struct {
	known      int
	work, span uint64
	parts      [10]uint64 // of the span: outside of tasks, by construct, of the others
	kept       int        // cells of memory
}

// buildMoves compiles the C side's graph of tasks.
func buildMoves(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("needs gcc: install with apt-get install gcc")
	}
	path := filepath.Join(t.TempDir(), "moves")
	compile(t, "", "gcc", "-std=gnu11", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-I../cmd/libchamtool", "-o", path, "testdata/moves.c", "../cmd/libchamtool/graph.c")
	return path
}

// graph returns the graph of the moves in the order of time.
func (p *program) graph(path string) (g graph, err error) {
	slices.SortStableFunc(p.moves, func(a, b move) int { return cmp.Compare(a.at, b.at) })
	var text strings.Builder
	for _, m := range p.moves {
		text.WriteString(m.text)
	}
	cmd := exec.Command(path)
	cmd.Stdin = strings.NewReader(text.String())
	printed, err := cmd.Output()
	if err != nil {
		return g, fmt.Errorf("%w\n%s", err, text.String())
	}
	into := []any{&g.known, &g.work, &g.span}
	for i := range g.parts {
		into = append(into, &g.parts[i])
	}
	_, err = fmt.Sscan(string(printed), append(into, &g.kept)...)
	return g, err
}

// The work and the span of small graphs, in ticks. A tick is a nanosecond.
func TestSpans(t *testing.T) {
	path := buildMoves(t)
	for name, tt := range map[string]struct {
		run        func() *program
		work, span uint64
	}{
		"two independent tasks": {func() *program {
			p := newProgram(2)
			p.create(0, 1000, 1)
			p.create(0, 1010, 2)
			p.begin(1, 1010, 1)
			p.waitFor(0, barrier, 1010, 1120)
			p.begin(0, 1010, 2)
			p.end(0, 1110, 2)
			p.end(1, 1060, 1)
			return p
		}, 10 + 100 + 50, 10 + 100},
		"a hidden helper thread works in tasks only": {func() *program {
			p := newProgram(1)
			p.add("join", 1, 0, 1000, 0, 0)
			p.add("wait", 1, 0, 1000, 0, 0)
			p.create(0, 1000, 1)
			p.create(0, 1000, 2)
			p.waitFor(0, barrier, 1000, 1700)
			p.begin(1, 1010, 1)
			p.end(1, 1110, 1)
			p.begin(1, 1500, 2)
			p.end(1, 1600, 2)
			return p
		}, 200, 100},
		"a chain by dependences": {func() *program {
			p := newProgram(2)
			for i := range uint64(3) {
				p.create(0, 1000, i+1, dependence{8, writes})
			}
			p.waitFor(0, barrier, 1000, 1301)
			for i := range uint64(3) { // on threads in turn
				p.begin(1, 1000+100*i, i+1)
				p.end(1, 1100+100*i, i+1)
			}
			return p
		}, 300, 300},
		"readers between two writers": {func() *program {
			p := newProgram(3)
			p.create(0, 1000, 1, dependence{8, writes})
			p.create(0, 1000, 2, dependence{8, reads})
			p.create(0, 1000, 3, dependence{8, reads})
			p.create(0, 1000, 4, dependence{8, writes})
			p.waitFor(0, barrier, 1000, 1400)
			p.begin(1, 1000, 1)
			p.end(1, 1100, 1)
			p.begin(1, 1100, 2)
			p.begin(2, 1100, 3)
			p.end(1, 1150, 2)
			p.end(2, 1300, 3)
			p.begin(2, 1300, 4)
			p.end(2, 1310, 4)
			return p
		}, 100 + 50 + 200 + 10, 100 + 200 + 10},
		"a parent that waits for its children": {func() *program {
			p := newProgram(2)
			p.create(0, 1000, 1)
			p.waitFor(0, barrier, 1000, 1500)
			p.begin(0, 1000, 1)
			p.create(0, 1010, 2)
			p.create(0, 1020, 3)
			p.begin(1, 1020, 2)
			p.waitFor(0, taskwait, 1020, 1105)
			p.begin(0, 1020, 3)
			p.end(0, 1050, 3)
			p.end(1, 1100, 2)
			p.end(0, 1135, 1)
			return p
		}, 20 + 80 + 30 + 30, 10 + 80 + 30},
		"a parent that does not wait": {func() *program {
			p := newProgram(2)
			p.create(0, 1000, 1)
			p.waitFor(0, barrier, 1000, 1500)
			p.begin(0, 1000, 1)
			p.create(0, 1010, 2)
			p.begin(1, 1010, 2)
			p.end(0, 1130, 1)
			p.end(1, 1090, 2)
			return p
		}, 130 + 80, 130},
		"a task that its parent waits for": {func() *program {
			p := newProgram(1)
			p.add("create", 0, 1, 1000, 1, 1)
			p.begin(0, 1000, 1)
			p.end(0, 1100, 1)
			p.create(0, 1140, 2)
			p.waitFor(0, barrier, 1140, 1500)
			p.begin(0, 1140, 2)
			p.end(0, 1150, 2)
			return p
		}, 100 + 40 + 10, 100 + 40 + 10},
		"a grandchild ends behind the last taskwait": {func() *program {
			p := newProgram(2)
			p.create(0, 1000, 1)
			p.waitFor(0, taskwait, 1000, 1111)
			p.begin(0, 1000, 1)
			p.create(0, 1100, 2)
			p.end(0, 1110, 1)
			p.run(1, 1100, 1400, 2)
			p.add("wait", 0, 0, 1120, barrier, 0) // of the region's end
			return p
		}, 110 + 300 + 9, 100 + 300},
		"a task that is created and ends behind the last taskwait": {func() *program {
			p := newProgram(2)
			p.create(0, 1000, 1)
			p.waitFor(0, taskwait, 1000, 1101)
			p.run(0, 1000, 1100, 1)
			p.create(0, 1120, 2)
			p.run(1, 1120, 1150, 2)
			p.add("wait", 0, 0, 1130, barrier, 0)
			return p
		}, 100 + 29 + 30, 100 + 19 + 30},
		"serial code before the first task and behind the last one": {func() *program {
			p := newProgram(1)
			p.create(0, 1500, 1)
			p.waitFor(0, taskwait, 1500, 1601)
			p.run(0, 1500, 1600, 1)
			p.add("wait", 0, 0, 1800, barrier, 0)
			return p
		}, 500 + 100 + 199, 500 + 100 + 199},
		"a group waits for grandchildren": {func() *program {
			p := newProgram(2)
			p.add("group", 0, 0, 1000, 0, 0)
			p.create(0, 1000, 1)
			p.waitFor(0, taskgroup, 1000, 1300)
			p.begin(1, 1000, 1)
			p.create(1, 1010, 2)
			p.end(1, 1020, 1)
			p.begin(1, 1020, 2)
			p.end(1, 1220, 2)
			p.create(0, 1330, 3)
			p.waitFor(0, barrier, 1330, 1500)
			p.begin(1, 1330, 3)
			p.end(1, 1335, 3)
			return p
		}, 20 + 200 + 30 + 5, 10 + 200 + 30 + 5},
		"a group does not wait for tasks before it": {func() *program {
			p := newProgram(2)
			p.create(0, 1000, 1)
			p.begin(1, 1000, 1)
			p.end(1, 1200, 1)
			p.add("group", 0, 0, 1100, 0, 0)
			p.waitFor(0, taskgroup, 1100, 1205)
			p.create(0, 1250, 2)
			p.waitFor(0, barrier, 1250, 1400)
			p.begin(1, 1250, 2)
			p.end(1, 1350, 2)
			return p
		}, 100 + 200 + 45 + 100, 100 + 45 + 100},
		"a detached task ends with its event": {func() *program {
			p := newProgram(2)
			p.create(0, 1000, 1, dependence{8, writes})
			p.create(0, 1000, 2)
			p.create(0, 1000, 3, dependence{8, reads})
			p.waitFor(0, barrier, 1000, 1500)
			p.begin(1, 1000, 1)
			p.add("part", 1, 1, 1010, 0, 0)
			p.begin(1, 1010, 2)
			p.add("fulfill", 1, 1, 1200, 0, 0)
			p.end(1, 1210, 2)
			p.begin(1, 1210, 3)
			p.end(1, 1310, 3)
			return p
		}, 10 + 200 + 100, 190 + 100},
		"two regions, serial code between": {func() *program {
			p := newProgram(2)
			p.create(0, 1000, 1)
			p.waitFor(0, barrier, 1000, 1110)
			p.begin(1, 1000, 1)
			p.end(1, 1100, 1)
			p.add("go", 1, 0, 1150, barrier, 0) // the next fork
			p.add("wait", 1, 0, 1150, barrier, 0)
			p.create(0, 1160, 2)
			p.waitFor(0, barrier, 1160, 1270)
			p.begin(1, 1160, 2)
			p.end(1, 1260, 2)
			return p
		}, 100 + 50 + 100, 100 + 50 + 100},
		"an untied task goes on at another thread": {func() *program {
			p := newProgram(2)
			p.create(0, 1000, 1)
			p.waitFor(0, barrier, 1000, 1600)
			p.begin(0, 1000, 1)
			p.add("part", 0, 1, 1100, 0, 0)
			p.begin(1, 1200, 1)
			p.create(1, 1210, 2)
			p.waitFor(1, taskwait, 1220, 1300)
			p.run(1, 1220, 1290, 2)
			p.end(0, 1350, 1) // which another thread reports
			return p
		}, 240, 230},
		"a cancelled task is no step of a chain": {func() *program {
			p := newProgram(2)
			for i := range uint64(3) {
				p.create(0, 1000, i+1, dependence{8, writes})
			}
			p.waitFor(0, barrier, 1000, 1500)
			p.run(1, 1000, 1100, 1)
			p.end(1, 1100, 2)
			p.run(1, 1110, 1150, 3)
			return p
		}, 140, 140},
		"all memory": {func() *program {
			p := newProgram(2)
			p.create(0, 1000, 1, dependence{8, writes})
			p.create(0, 1000, 2, dependence{16, writes})
			p.create(0, 1000, 3, dependence{0, writes})
			p.create(0, 1000, 4, dependence{24, reads})
			p.waitFor(0, barrier, 1000, 1500)
			p.run(1, 1000, 1010, 1)
			p.run(1, 1010, 1030, 2)
			p.run(1, 1030, 1130, 3)
			p.run(1, 1130, 1135, 4)
			return p
		}, 135, 125},
		"a thread leaves a barrier late": {func() *program {
			p := newProgram(2)
			p.create(0, 1000, 1)
			p.waitFor(0, barrier, 1000, 1101)
			p.run(0, 1000, 1100, 1)
			p.waitFor(0, barrier, 1300, 1400) // the other thread is still in the barrier before
			p.add("go", 1, 0, 1310, barrier, 0)
			p.waitFor(1, barrier, 1350, 1400)
			return p
		}, 100 + 199 + 40, 100 + 199},
	} {
		t.Run(name, func(t *testing.T) {
			g, err := tt.run().graph(path)
			if err != nil || g.known != 1 || g.work != tt.work || g.span != tt.span {
				t.Errorf("%+v, want work %d and span %d (%v)", g, tt.work, tt.span, err)
			}
		})
	}
}

// The critical path goes through the constructs of its tasks and the code between them; those
// beyond the first eight are one part.
func TestCriticalPath(t *testing.T) {
	p := newProgram(2)
	at, token := uint64(1000), uint64(0)
	task := func(construct, ticks uint64) {
		token++
		p.createOf(0, at, token, construct)
		p.waitFor(0, taskwait, at, at+ticks+2)
		p.run(1, at+1, at+1+ticks, token)
		at += ticks + 2
	}
	task(1, 100)
	at += 7 // of serial code
	task(2, 50)
	task(1, 30)
	for construct := range uint64(8) {
		task(3+construct, 10+construct)
	}
	task(0, 1) // one of the constructs without a number
	g, err := p.graph(buildMoves(t))
	if want := [...]uint64{7, 130, 50, 10, 11, 12, 13, 14, 15, 16 + 17 + 1}; err != nil || g.parts != want || g.span != 296 {
		t.Errorf("%+v (%v), want %v", g, err, want)
	}
}
