package host_test

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/foretime/foretime/chamtool/internal/job"
)

// A chain of dependences has a parallelism of 1. A wavefront of 24 by 24 blocks has at most 12,
// trees have more, with one thread as with two.
func TestRealGraph(t *testing.T) {
	needOpenMP(t)
	program := filepath.Join(t.TempDir(), "graphs")
	compile(t, "", "clang", "-fopenmp", "-O2", "-g", "-Wall", "-Werror", "-o", program, "testdata/graphs.c", "-lm")
	for _, tt := range []struct {
		name        string
		least, most float64 // parallelism
	}{{"chain", 0.99, 1.1}, {"wave", 1.3, 13}, {"cholesky", 1.3, 30}, {"health", 1.3, 1000}, {"sort", 1.3, 200}, {"strassen", 1.3, 1000}} {
		for _, threads := range []string{"1", "2"} {
			t.Run(tt.name+"/"+threads, func(t *testing.T) {
				checkParallelism(t, []string{"OMP_NUM_THREADS=" + threads}, program, tt.name, tt.least, tt.most)
			})
		}
	}
}

// fib(16) creates two tasks for each call of 2 or more: the tasks by depth are exact, with tasks
// for all calls and with tasks down to a depth only.
func TestRealDepths(t *testing.T) {
	needOpenMP(t)
	program := filepath.Join(t.TempDir(), "cutoff")
	compile(t, "", "clang", "-fopenmp", "-O2", "-g", "-Wall", "-Werror", "-o", program, "testdata/cutoff.c")
	const n = 16
	for _, depth := range []int{100, 3} {
		_, logs := underOMPT(t, nil, program, "fib", fmt.Sprint(n), fmt.Sprint(depth))
		want := []int{}
		for calls := []int{n}; ; {
			var next []int
			for _, m := range calls {
				if m >= 2 {
					next = append(next, m-1, m-2)
				}
			}
			if len(next) == 0 || len(want) == depth {
				break
			}
			want, calls = append(want, len(next)), next
		}
		got := []int{}
		for _, d := range rankOf(t, logs).Summary.Depths {
			got = append(got, d.Tasks)
		}
		if !slices.Equal(got, want) {
			t.Errorf("down to depth %d: tasks by depth %v, want %v", depth, got, want)
		}
	}
}

// Work and span are known for fine tasks of which most are only counted. The span contains the
// longest task and all its parents' work before them, and no more than the work.
func TestRealFloodGraph(t *testing.T) {
	needOpenMP(t)
	program := filepath.Join(t.TempDir(), "cutoff")
	compile(t, "", "clang", "-fopenmp", "-O2", "-g", "-Wall", "-Werror", "-o", program, "testdata/cutoff.c")
	for _, args := range [][]string{{"fib", "22"}, {"health", "6"}} {
		_, logs := underOMPT(t, []string{"CHAMTOOL_RING_SLOTS=64"}, program, args...)
		s := rankOf(t, logs).Summary
		if g := s.Graph; s.Unread == 0 || g == nil || g.Lost != 0 || !(g.Span > 0 && g.Span < g.Work) || g.Work > 3.2*s.RunSeconds {
			t.Errorf("%v: %d only counted, graph %+v in %v s", args, s.Unread, g, s.RunSeconds)
		}
		sum := 0.0
		for _, part := range s.Critical {
			sum += part.Seconds
		}
		if g := s.Graph; g != nil && math.Abs(sum-g.Span) > 0.05*g.Span {
			t.Errorf("%v: parts of the span take %v of %v s", args, sum, g.Span)
		}
	}
}

// The kinds of dependences have the graph that the standard gives them.
func TestRealDependences(t *testing.T) {
	needOpenMP(t)
	tool, _ := need(t)
	program := filepath.Join(t.TempDir(), "kinds")
	compile(t, "", "clang", "-fopenmp", "-O1", "-g", "-o", program, "testdata/kinds.c")
	for kind, parallelism := range map[string][2]float64{
		"mutex": {0.99, 1.03}, "wait": {0.99, 1.03}, "undeferred": {0.99, 1.03}, "set": {4, 40},
		"detach": {0.99, 1.6}, // the task that fulfills the event may run beside the one that it ends
	} {
		t.Run(kind, func(t *testing.T) {
			checkParallelism(t, []string{"LD_PRELOAD=" + tool}, program, kind, parallelism[0], parallelism[1])
		})
	}
}

// Clauses that serialise tasks, tasks that outlive the last taskwait, and serial code have the same
// graph with one thread as with several, by clang as by gcc.
func TestRealClauses(t *testing.T) {
	needOpenMP(t)
	tool, _ := need(t)
	for compiler, preload := range map[string]string{"clang": tool, "gcc": tool + ":libomp.so.5"} {
		program := filepath.Join(t.TempDir(), compiler)
		compile(t, "", compiler, "-fopenmp", "-O1", "-g", "-Wall", "-Werror", "-o", program, "testdata/clauses.c")
		for clause, parallelism := range map[string][2]float64{
			"false": {0.99, 1.03}, "depends": {0.99, 1.03}, "final": {0.99, 1.03},
			"outlives": {1.3, 4.2}, "serial": {1.3, 1.7}, // of 160 and 100 ms
		} {
			for _, threads := range []string{"1", "3"} {
				t.Run(compiler+"/"+clause+"/"+threads, func(t *testing.T) {
					env := []string{"LD_PRELOAD=" + preload, "OMP_NUM_THREADS=" + threads}
					checkParallelism(t, env, program, clause, parallelism[0], parallelism[1])
				})
			}
		}
	}
}

// A thread that waits for critical, ordered, a lock or an earlier iteration waits, at the line of the
// lock, and does not compute there; nor does its task. What the others compute is not its time: of
// a thread that sleeps with the lock the sleep is seen.
func TestRealLocks(t *testing.T) {
	needOpenMP(t)
	tool, _ := need(t)
	program := filepath.Join(t.TempDir(), "locks")
	compile(t, "", "clang", "-fopenmp", "-O1", "-g", "-Wall", "-Werror", "-o", program, "testdata/locks.c")
	for kind, line := range map[string]int{"critical": 28, "ordered": 34, "lock": 40, "tasks": 49, "sleep": 56, "doacross": 62, "nest": 0, "test": 0, "alone": 0} {
		t.Run(kind, func(t *testing.T) {
			_, logs := underOMPT(t, []string{"LD_PRELOAD=" + tool}, program, kind)
			j, err := job.Load(t.Context(), logs, nil)
			if err != nil {
				t.Fatal(err)
			}
			f := j.Figures()
			computing := map[string][2]float64{"sleep": {0, 0.05}, "nest": {0.4, 0.55}, "test": {0.4, 0.55}, "alone": {0.0001, 0.2}}[kind] // of 150 times a millisecond
			if computing[1] == 0 {
				computing = [2]float64{0.13, 0.2}
			}
			if r := f.Times.Ranks[0]; r.Computing < computing[0] || r.Computing > computing[1] || kind == "sleep" && r.Stopped < 0.12 {
				t.Errorf("%+v, want %v s of computing", r, computing)
			}
			if line == 0 {
				if slices.ContainsFunc(f.Times.Losses, func(l job.Loss) bool { return strings.HasPrefix(l.Name, "waiting for the lock") }) {
					t.Errorf("losses %+v, want none for a lock", f.Times.Losses)
				}
				return
			}
			name := fmt.Sprintf("waiting for the lock at locks:main (locks.c:%d)", line)
			i := slices.IndexFunc(f.Times.Losses, func(l job.Loss) bool { return l.Name == name })
			if i < 0 || i > 2 {
				t.Fatalf("losses %+v, want %q among the first three", f.Times.Losses, name)
			}
			wait := f.Times.Losses[i].Seconds
			if r := f.Times.Ranks[0]; r.Waiting < wait || r.Computing+r.Stopped+r.Waiting > 3.01*f.Times.Wall {
				t.Errorf("%+v in %v s, of which %v s for the lock", r, f.Times.Wall, wait)
			}
			if g := f.Lost.Graph; kind == "tasks" && (g == nil || g.Work+wait > 3.01*f.Times.Wall || f.Seconds+wait > 3.01*f.Times.Wall) {
				t.Errorf("graph %+v, tasks %v s and %v s for the lock in %v s", g, f.Seconds, wait, f.Times.Wall)
			}
		})
	}
}

// The callbacks of locks are in the slowdown: that of a thread that does nothing but take one.
func TestRealLockCost(t *testing.T) {
	needOpenMP(t)
	program := filepath.Join(t.TempDir(), "locks")
	compile(t, "", "clang", "-fopenmp", "-O1", "-g", "-Wall", "-Werror", "-o", program, "testdata/locks.c")
	_, logs := underOMPT(t, nil, program, "cheap")
	j, err := job.Load(t.Context(), logs, nil)
	if err != nil {
		t.Fatal(err)
	}
	if s := j.Figures().Times.Slowdown; s[1] < 1.05 {
		t.Errorf("%v times slower", s)
	}
}

// Work and span of tasks that are nested deeper than a thread's tasks are kept are unknown.
func TestRealDeepTasks(t *testing.T) {
	needOpenMP(t)
	program := filepath.Join(t.TempDir(), "deep")
	compile(t, "", "clang", "-fopenmp", "-O1", "-g", "-Wall", "-Werror", "-o", program, "testdata/deep.c")
	for n, known := range map[string]bool{"2000": true, "80000": false} {
		out, logs := underOMPT(t, nil, program, n)
		j, err := job.Load(t.Context(), logs, nil)
		if err != nil {
			t.Fatal(err)
		}
		if g := j.Figures().Lost.Graph; out != n+"\n" || (g != nil) != known {
			t.Errorf("%s tasks: %q, graph %+v, want it known: %v", n, out, g, known)
		}
	}
}

// checkParallelism runs a program until the parallelism of its graph is between two bounds, and all
// its work is in it. Other work on the machine may lengthen a task, or fall between two of them; a
// wrong graph is wrong in each run.
func checkParallelism(t *testing.T, env []string, program, kind string, least, most float64) {
	t.Helper()
	var seen []string
	for range 5 {
		_, logs := underOMPT(t, env, program, kind)
		j, err := job.Load(t.Context(), logs, nil)
		if err != nil {
			t.Fatal(err)
		}
		l := j.Figures().Lost
		if g := l.Graph; g != nil && g.Parallelism >= least && g.Parallelism <= most && g.Work >= 0.98*l.Tasks {
			return
		}
		seen = append(seen, fmt.Sprintf("%+v, in tasks %v s", l.Graph, l.Tasks))
	}
	t.Errorf("%s: want a parallelism of %v to %v, and no less work than computing", strings.Join(seen, "\n"), least, most)
}
