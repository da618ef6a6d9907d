package host_test

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/foretime/foretime/chamtool/internal/event"
	"github.com/foretime/foretime/chamtool/internal/job"
	"github.com/foretime/foretime/chamtool/internal/summary"
	"github.com/foretime/foretime/chamtool/internal/task"
	"github.com/foretime/foretime/shared/stats"
)

// needOpenMP skips where there is no clang with its OpenMP runtime.
func needOpenMP(t *testing.T) {
	t.Helper()
	probe := filepath.Join(t.TempDir(), "probe")
	cmd := exec.Command("clang", "-fopenmp", "-x", "c", "-o", probe, "-")
	cmd.Stdin = strings.NewReader("#include <omp.h>\nint main(void) { return omp_get_max_threads() < 1; }\n")
	if cmd.Run() != nil {
		t.Skip("needs clang and its OpenMP: install with apt-get install clang libomp-dev")
	}
}

// underOMPT runs a program with the tool in its OpenMP runtime, and returns what it
// printed and its folder of logs.
func underOMPT(t *testing.T, env []string, program string, args ...string) (stdout, logs string) {
	t.Helper()
	lib, _ := need(t)
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Dir = dir
	// A thread that gives its processor away while it waits gets it back late on a busy machine.
	cmd.Env = append(cmd.Environ(), "OMP_TOOL_LIBRARIES="+lib, "OMP_NUM_THREADS=3", "OMP_WAIT_POLICY=passive", "KMP_USE_YIELD=0", "CHAMTOOL_RING_SLOTS=262144", "HOME="+dir, "CHAMTOOL_HOME="+dir)
	cmd.Env = append(cmd.Env, env...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", program, err, stderr.String())
	}
	return string(out), filepath.Join(dir, "logs")
}

// example compiles a program of the examples.
func example(t *testing.T, compiler, name string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	source := "../examples/" + name + ".c"
	if _, err := os.Stat(source); err != nil {
		source = "testdata/" + name + ".c"
	}
	compile(t, "", compiler, "-fopenmp", "-O2", "-g", "-Wall", "-Werror", "-o", path, source, "-lm")
	return path
}

// functionsOf returns the functions in the report of a run.
func functionsOf(t *testing.T, logs string) []job.Function {
	t.Helper()
	j, err := job.Load(t.Context(), logs, nil)
	if err != nil {
		t.Fatal(err)
	}
	return j.Figures().Functions
}

func rankOf(t *testing.T, logs string) job.Rank {
	t.Helper()
	j, err := job.Load(t.Context(), logs, nil)
	if err != nil || len(j.Reasons) > 0 {
		t.Fatal(err, j)
	}
	return j.Ranks[0]
}

// counted compares the tool's counts with the program's own.
func counted(t *testing.T, r job.Rank, tasks uint64, iterations int) {
	t.Helper()
	s := r.Summary
	if s.Created != tasks || s.Started != tasks || s.Ended != tasks || uint64(len(r.Log.Rows)) != tasks {
		t.Errorf("%d created, %d started, %d ended, %d logged, the program counted %d", s.Created, s.Started, s.Ended, len(r.Log.Rows), tasks)
	}
	if s.Dropped+s.Incomplete+s.Bad != 0 || s.Dialect != "openmp" || s.Waits != s.WaitsLeft {
		t.Errorf("%+v", s)
	}
	if s.Iterations != iterations {
		t.Errorf("%d iterations, want %d", s.Iterations, iterations)
	}
}

// Three textbook programs under libomp, by clang and, with libomp in the place of
// its own runtime, by gcc: each task is counted as the program counts it, and named
// by its function and line.
func TestRealOpenMP(t *testing.T) {
	needOpenMP(t)
	for _, tt := range []struct {
		program    string
		args       []string
		iterations int
		functions  []string
	}{
		{"cholesky", []string{"8", "20"}, 20, []string{"main (cholesky.c:", "main (cholesky.c:", "main (cholesky.c:"}},
		{"queens", []string{"10", "4"}, 7, []string{"search (queens.c:"}},
		{"heat", []string{"256", "64"}, 64, []string{"step (heat.c:"}},
	} {
		for _, compiler := range []string{"clang", "gcc"} {
			t.Run(tt.program+"/"+compiler, func(t *testing.T) {
				env := []string{}
				if compiler == "gcc" {
					env = append(env, "LD_PRELOAD=libomp.so.5")
				}
				out, logs := underOMPT(t, env, example(t, compiler, tt.program), tt.args...)
				var tasks uint64
				if _, err := fmt.Sscanf(out, "tasks %d,", &tasks); err != nil || tasks == 0 {
					t.Fatalf("%v: %q", err, out)
				}
				r := rankOf(t, logs)
				counted(t, r, tasks, tt.iterations)
				functions := functionsOf(t, logs)
				if len(functions) != len(tt.functions) {
					t.Fatalf("functions %+v", functions)
				}
				for i, f := range functions {
					// gcc puts a function into its caller, and tells the caller's line.
					if want := tt.program + ":" + tt.functions[i]; !strings.HasPrefix(f.Name, want) && !(compiler == "gcc" && strings.HasPrefix(f.Name, tt.program+":main (")) {
						t.Errorf("function %q", f.Name)
					}
				}
			})
		}
	}
}

// The numbers that a task carries tell its time: tasks of one construct and of
// unlike work are told apart, and equal numbers took equal work.
func TestRealOpenMPFeatures(t *testing.T) {
	needOpenMP(t)
	_, logs := underOMPT(t, nil, example(t, "clang", "cholesky"), "10", "20")
	byWork := map[string]map[string][]float64{}
	for _, r := range rankOf(t, logs).Log.Rows[500:] {
		sizes, _ := r.Sizes.MarshalText()
		if byWork[r.Entry] == nil {
			byWork[r.Entry] = map[string][]float64{}
		}
		byWork[r.Entry][string(sizes)] = append(byWork[r.Entry][string(sizes)], r.Seconds)
	}
	for function, classes := range byWork {
		least, most := 1e9, 0.0
		for _, seconds := range classes {
			m := stats.Median(seconds)
			least, most = min(least, m), max(most, m)
		}
		if len(classes) < 4 || most < 3*least {
			t.Errorf("%s: %d classes, medians from %v to %v s", function, len(classes), least, most)
		}
	}
}

// A program that nobody here made, as Debian builds it: an aligner of protein
// sequences, whose calls for tasks are counted by a library between it and gcc's
// own runtime.
func TestRealOpenMPKalign(t *testing.T) {
	needOpenMP(t)
	program := "/usr/lib/kalign/kalign-plain"
	if _, err := os.Stat(program); err != nil {
		t.Skip("needs kalign: install with apt-get install kalign")
	}
	dir := t.TempDir()
	counter, sequences := filepath.Join(dir, "counter.so"), filepath.Join(dir, "in.fa")
	compile(t, `
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
static _Atomic long tasks;
void GOMP_task(void (*f)(void *), void *d, void (*c)(void *, void *), long s, long a, _Bool i, unsigned g, void **p, int q) {
    void (*real)(void (*)(void *), void *, void (*)(void *, void *), long, long, _Bool, unsigned, void **, int) = dlsym(RTLD_NEXT, "GOMP_task");
    tasks++;
    real(f, d, c, s, a, i, g, p, q);
}
__attribute__((destructor)) static void tell(void) { fprintf(stderr, "counted %ld\n", tasks); }`, "gcc", "-shared", "-fPIC", "-x", "c", "-o", counter, "-", "-ldl")
	if err := os.WriteFile(sequences, fasta(120), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"-n", "3", "-i", sequences, "-o", filepath.Join(dir, "out.fa")}
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Env = append(cmd.Environ(), "LD_PRELOAD="+counter, "OMP_NUM_THREADS=3")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var tasks uint64
	if _, said, ok := strings.Cut(string(out), "counted "); ok {
		fmt.Sscan(said, &tasks)
	}
	if tasks < 50 {
		t.Fatalf("%d tasks counted: %s", tasks, out)
	}
	_, logs := underOMPT(t, []string{"LD_PRELOAD=libomp.so.5"}, program, args...)
	r := rankOf(t, logs)
	counted(t, r, tasks, r.Summary.Iterations)
}

// fasta is a family of sequences of unlike lengths, in FASTA.
func fasta(n int) []byte {
	var b strings.Builder
	seed := uint32(7)
	draw := func(below uint32) uint32 { seed = seed*1664525 + 1013904223; return (seed >> 8) % below }
	for i := range n {
		fmt.Fprintf(&b, ">s%d\n", i)
		for p := range 80 + draw(220) {
			letter := "ACDEFGHIKLMNPQRSTVWY"[(p*p/3+p)%20]
			if draw(10) < 4 {
				letter = "ACDEFGHIKLMNPQRSTVWY"[draw(20)]
			}
			b.WriteByte(letter)
		}
		b.WriteByte('\n')
	}
	return []byte(b.String())
}

// Hidden helper threads run target tasks and belong to no team: they have no part in the
// threads, and their waits are no waits of the program.
func TestRealHelperThreads(t *testing.T) {
	needOpenMP(t)
	program := filepath.Join(t.TempDir(), "target")
	compile(t, "", "clang", "-fopenmp", "-O2", "-o", program, "testdata/target.c")
	out, logs := underOMPT(t, nil, program)
	if !strings.HasPrefix(out, "tasks 80, 24.9") {
		t.Fatalf("%q", out)
	}
	r := rankOf(t, logs)
	counted(t, r, 80, 5)
	if r.Summary.Threads != 3 {
		t.Errorf("%d threads, want 3", r.Summary.Threads)
	}
	if g := r.Summary.Graph; g == nil || g.Span > g.Work+1e-9 {
		t.Errorf("%+v", g)
	}
}

// An iteration ends with a wait of the program: for a region, or the tasks before a taskwait. The
// end of a region does not reach into the next one, regions within tasks and tasks that
// change the thread end none.
func TestRealIterations(t *testing.T) {
	needOpenMP(t)
	program := filepath.Join(t.TempDir(), "iterations")
	compile(t, "", "clang", "-fopenmp", "-O1", "-g", "-Wall", "-Werror", "-o", program, "testdata/iterations.c", "-lm")
	for form, tasks := range map[string]int{"chained": 20, "nested": 20, "untied": 20, "waited": 20} {
		t.Run(form, func(t *testing.T) {
			const count = 40
			_, logs := underOMPT(t, nil, program, form, fmt.Sprint(count))
			var got [count]int
			log, err := task.Scan(t.Context(), filepath.Join(logs, "chamtool_rank_0.csv"), task.Options{Format: task.FormatCSV})
			if err != nil {
				t.Fatal(err)
			}
			for _, row := range log.Rows {
				if row.Iteration >= count {
					t.Fatalf("iteration %d, want %d of them", row.Iteration, count)
				}
				got[row.Iteration]++
			}
			for i, n := range got {
				if n != tasks {
					t.Errorf("iteration %d: %d tasks, want %d", i, n, tasks)
				}
			}
		})
	}
}

// Threads of the program that run regions at the same time have iterations of their own.
func TestRealConcurrentIterations(t *testing.T) {
	needOpenMP(t)
	program := filepath.Join(t.TempDir(), "iterations")
	compile(t, "", "clang", "-fopenmp", "-O1", "-g", "-Wall", "-Werror", "-o", program, "testdata/iterations.c", "-lm", "-lpthread")
	const count = 40
	for _, threads := range []string{"1", "2", "3"} {
		_, logs := underOMPT(t, []string{"OMP_NUM_THREADS=" + threads}, program, "concurrent", fmt.Sprint(count))
		counted(t, rankOf(t, logs), 2*20*count, 2*count)
	}
}

// Tasks that come faster than they are read are counted exactly, by function and thread; what
// the log holds of the others can be used.
func TestRealOpenMPFlood(t *testing.T) {
	needOpenMP(t)
	out, logs := underOMPT(t, []string{"CHAMTOOL_RING_SLOTS=64"}, example(t, "clang", "queens"), "10", "10")
	var tasks uint64
	if _, err := fmt.Sscanf(out, "tasks %d,", &tasks); err != nil || tasks == 0 {
		t.Fatalf("%v: %q", err, out)
	}
	r := rankOf(t, logs)
	s := r.Summary
	if s.Created != tasks || s.Started != tasks || s.Ended != tasks || s.Incomplete+s.Bad != 0 || s.TooShort > 0 {
		t.Errorf("%d created, %d started, %d ended, %d incomplete, %d of no time; the program counted %d", s.Created, s.Started, s.Ended, s.Incomplete, s.TooShort, tasks)
	}
	if s.Unread == 0 || s.Unlogged == nil || uint64(s.Unlogged.Count) != s.Unread || uint64(len(r.Log.Rows))+s.Unread != tasks {
		t.Fatalf("%d rows, %d unread, %+v", len(r.Log.Rows), s.Unread, s.Unlogged)
	}
	byDepth := 0
	for _, d := range s.Depths {
		byDepth += d.Tasks
	}
	if uint64(byDepth) != tasks || len(s.Depths) != 10 {
		t.Errorf("%d tasks down to depth %d, want %d down to 10", byDepth, len(s.Depths), tasks)
	}
	inRounds := 0
	for _, round := range s.Rounds {
		inRounds += round.Created
	}
	if uint64(inRounds) != tasks || s.Iterations != 7 {
		t.Errorf("%d tasks in %d iterations, want %d in 7", inRounds, s.Iterations, tasks)
	}
	function := r.Log.Rows[0].Entry
	if f := s.Unlogged.Functions[function]; len(s.Unlogged.Functions) != 1 || f == nil || f.Count != s.Unlogged.Count {
		t.Errorf("%s: %+v", function, s.Unlogged.Functions)
	}
	if b := s.Unlogged; b.Seconds <= 0 || b.Seconds > 3*s.RunSeconds || b.Longest <= 0 || b.Longest > b.Seconds {
		t.Errorf("%v s of tasks, the longest %v, in a run of %v s", b.Seconds, b.Longest, s.RunSeconds)
	}
}

// Untied tasks that leave their threads at every step are counted exactly: the runtime may report
// the end of one on a thread that ran an earlier part of it.
func TestRealOpenMPUntied(t *testing.T) {
	needOpenMP(t)
	program := harmful(t)
	for _, slots := range []string{"4096", "64"} {
		for range 2 {
			env := []string{"CHAMTOOL_RING_SLOTS=" + slots, "OMP_NUM_THREADS=4"}
			out, logs := underOMPT(t, env, program, "untied")
			tasks, err := strconv.ParseUint(strings.TrimSpace(out), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			r := rankOf(t, logs)
			s := r.Summary
			if s.Created != tasks || s.Started != tasks || s.Ended != tasks || s.Incomplete+s.Bad+s.Dropped != 0 || uint64(len(r.Log.Rows))+s.Unread != tasks {
				t.Errorf("%d rows, the program counted %d: %+v", len(r.Log.Rows), tasks, s.Counts)
			}
		}
	}
}

// A task's size is found where it is a double, the distance of two addresses or of two
// doubles, an integer alone or next to a float, a float next to an integer, or a negative number.
func TestRealOpenMPNumbers(t *testing.T) {
	needOpenMP(t)
	for _, compiler := range []string{"clang", "gcc"} {
		env := []string{}
		if compiler == "gcc" {
			env = append(env, "LD_PRELOAD=libomp.so.5")
		}
		program := filepath.Join(t.TempDir(), "numbers")
		compile(t, "", compiler, "-fopenmp", "-O2", "-Wall", "-Werror", "-o", program, "testdata/numbers.c")
		for form, unit := range map[string]int64{"addresses": 8, "double": 1000, "bounds": 1000, "integer": 1, "float": 1000, "negative": 1, "alone": 1} {
			t.Run(compiler+"/"+form, func(t *testing.T) {
				_, logs := underOMPT(t, env, program, form)
				rows := rankOf(t, logs).Log.Rows
				if len(rows) != 3*40 {
					t.Fatalf("%d tasks", len(rows))
				}
				for _, r := range rows {
					want := unit * int64(1000+137*r.Iteration)
					found := slices.ContainsFunc(r.Sizes, func(x int64) bool { return x >= want-1 && x <= want+1 }) // doubles are rounded down
					if !found && r.Iteration > 1 {                                                                  // nothing differs before
						t.Fatalf("iteration %d: sizes %v, want %d among them", r.Iteration, r.Sizes, want)
					}
				}
			})
		}
	}
}

// Tasks from below a microsecond on: over a run and in at least six of its eighths the
// intervals hold about what they promise. In the others the machine may have changed its
// speed, which thousands of kinds of tasks learn one by one; on a busy machine it does so in
// most of a run now and then, but not in three of them.
func TestRealShortTasks(t *testing.T) {
	needOpenMP(t)
	program := filepath.Join(t.TempDir(), "short")
	compile(t, "", "clang", "-fopenmp", "-O1", "-g", "-Wall", "-Werror", "-o", program, "testdata/short.c", "-lm")
	for _, form := range []string{"fibonacci", "health", "sort", "queens", "sizes"} {
		t.Run(form, func(t *testing.T) {
			for tries := 1; !holdsAboutNine(t, program, form); tries++ {
				if tries == 3 {
					t.Fatal("want about 0.9 inside")
				}
			}
		})
	}
}

// holdsAboutNine reports whether about nine of ten runs of tasks lie in their intervals.
func holdsAboutNine(t *testing.T, program, form string) bool {
	t.Helper()
	_, logs := underOMPT(t, []string{"CHAMTOOL_RING_SLOTS=1048576"}, program, form)
	log, err := task.Scan(t.Context(), filepath.Join(logs, "chamtool_rank_0.csv"), task.Options{Format: task.FormatCSV})
	if err != nil {
		t.Fatal(err)
	}
	slices.SortStableFunc(log.Rows, func(a, b task.Row) int { return cmp.Compare(a.Start, b.Start) })
	held, ours, rules := shortTasks(log.Rows)
	t.Logf("%d tasks; inside by eighths %.3f; MAPE and median error %.1f, %.2f %%; of the median so far %.1f, %.2f; of the last value %.1f, %.2f",
		len(log.Rows), held, ours[0], ours[1], rules[0][0], rules[0][1], rules[1][0], rules[1][1])
	good := 0
	for _, share := range held {
		if share > 0.84 && share < 0.97 {
			good++
		}
	}
	all := stat.Mean(held[:], nil)
	return good >= 6 && all >= 0.86 && all <= 0.95
}

// shortTasks returns the share of runs inside their intervals by eighths of the rows, and
// the mean and median relative errors in percent of the predictions, and of the median and
// the last of the same sizes so far.
func shortTasks(rows []task.Row) (held [8]float64, ours [2]float64, rules [2][2]float64) {
	var n [8]float64
	var errors [3][]float64
	median, last := map[string]*float64{}, map[string]float64{}
	for i, r := range rows {
		key := fmt.Sprint(r.Entry, r.Sizes)
		if m := median[key]; m != nil && r.Predicted != nil && r.Seconds > 0 {
			for k, p := range []float64{*r.Predicted, *m, last[key]} {
				errors[k] = append(errors[k], 100*math.Abs(p/r.Seconds-1))
			}
			if r.Low != nil && r.High != nil {
				e := i * 8 / len(rows)
				n[e]++
				if *r.Low <= r.Seconds && r.Seconds <= *r.High {
					held[e]++
				}
			}
		}
		if median[key] == nil {
			first := r.Seconds
			median[key] = &first
		}
		*median[key] *= 1 + 0.01*float64(cmp.Compare(r.Seconds, *median[key])) // moves to the median
		last[key] = r.Seconds
	}
	for e := range held {
		held[e] /= n[e]
	}
	both := func(x []float64) [2]float64 {
		return [2]float64{stat.Mean(x, nil), stats.Sort(x).Median()}
	}
	return held, both(errors[0]), [2][2]float64{both(errors[1]), both(errors[2])}
}

// However a program ends, its log and its summary hold all its tasks, and the time of its last
// part on one thread.
func TestRealEnds(t *testing.T) {
	needOpenMP(t)
	lib, _ := need(t)
	program := filepath.Join(t.TempDir(), "ends")
	compile(t, "", "clang", "-fopenmp", "-O1", "-g", "-Wall", "-Werror", "-o", program, "testdata/ends.c", "-lm")
	for _, how := range []string{"return", "interrupt", "twice", "hangup", "time", "terminate", "abort", "fault", "pipe", "urgent", "quick", "inside", "large"} {
		t.Run(how, func(t *testing.T) {
			dir := t.TempDir()
			cmd := exec.CommandContext(t.Context(), program, how)
			if how == "large" { // the log is larger than a file may be
				cmd = exec.CommandContext(t.Context(), "sh", "-c", "ulimit -f 20 && exec "+program+" return")
			}
			cmd.Dir, cmd.Env = dir, append(os.Environ(), "OMP_TOOL_LIBRARIES="+lib, "OMP_NUM_THREADS=3", "HOME="+dir, "CHAMTOOL_HOME="+dir)
			out, err := cmd.CombinedOutput()
			if byItself := how == "return" || how == "urgent" || how == "quick" || how == "inside" || how == "large"; (err == nil) != byItself {
				t.Errorf("it ended with %v\n%s", err, out)
			}
			s, err := summary.Read(filepath.Join(dir, "logs", summary.FileName(0)))
			if err != nil || s.Ended < 1000 {
				t.Fatalf("%+v, %v\n%s", s, err, out)
			}
			alone := 0.0
			for _, p := range s.Times {
				if p.Kind == event.Serial.String() {
					alone += p.Seconds - p.Stopped
				}
			}
			if alone < 0.09 {
				t.Errorf("%v s of one thread alone, want 0.1", alone)
			}
			if how == "return" && s.Graph == nil || how == "inside" && s.Graph != nil { // where a task did not end
				t.Errorf("graph %+v", s.Graph)
			}
			log, err := task.Scan(t.Context(), filepath.Join(dir, "logs", "chamtool_rank_0.csv"), task.Options{Format: task.FormatCSV})
			switch {
			case how == "large":
				if s.RowsLost == 0 || !strings.Contains(string(out), "could not be written") {
					t.Errorf("%d rows lost, said %s", s.RowsLost, out)
				}
			case err != nil || len(log.Rows) < 1000:
				t.Errorf("%v: %d rows", err, len(log.Rows))
			}
		})
	}
}

// On a disk that is full before the program's end its log and its summary say so.
func TestRealFullDiskAtTheEnd(t *testing.T) {
	needOpenMP(t)
	lib, _ := need(t)
	program := filepath.Join(t.TempDir(), "ends")
	compile(t, "", "clang", "-fopenmp", "-O1", "-g", "-Wall", "-Werror", "-o", program, "testdata/ends.c", "-lm")
	home := t.TempDir()
	dir := t.TempDir()
	if err := syscall.Mount("none", dir, "tmpfs", 0, "size=32k"); err != nil {
		t.Skipf("no file system without room: %v", err)
	}
	defer func() { _ = syscall.Unmount(dir, 0) }()
	cmd := exec.CommandContext(t.Context(), program, "return")
	cmd.Env = append(os.Environ(), "OMP_TOOL_LIBRARIES="+lib, "OMP_NUM_THREADS=3", "CHAMTOOL_LOG_DIR="+dir, "CHAMTOOL_HOME="+home)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	j, err := job.Load(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	f := j.Figures()
	if s := j.Ranks[0].Summary; !s.Complete || s.RowsLost == 0 || f.Unwritten == 0 || f.Tasks+f.Unwritten != int(s.Ended) {
		t.Errorf("%d tasks and %d unwritten: %v\n%s", f.Tasks, f.Unwritten, j.Reasons, out)
	}
}
