package host_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/foretime/foretime/chamtool/internal/job"
	"github.com/foretime/foretime/chamtool/internal/summary"
)

// harmful compiles testdata/harm.c.
func harmful(t *testing.T) string {
	t.Helper()
	needOpenMP(t)
	path := filepath.Join(t.TempDir(), "harm")
	compile(t, "", "clang", "-fopenmp", "-O1", "-g", "-Wall", "-Werror", "-o", path, "testdata/harm.c", "-lm", "-ldl")
	return path
}

// traced runs a program under the tool, and returns the directory that it ran in.
func traced(t *testing.T, env []string, program string, args ...string) (dir, output string) {
	t.Helper()
	lib, _ := need(t)
	dir = t.TempDir()
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Dir = dir
	cmd.Env = append(append(cmd.Environ(), "OMP_TOOL_LIBRARIES="+lib, "OMP_NUM_THREADS=3", "HOME="+dir, "CHAMTOOL_HOME="+dir), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", filepath.Base(program), strings.Join(args, " "), err, out)
	}
	return dir, string(out)
}

// A program may close or reuse all its descriptors. The log keeps all tasks, the tool writes
// nothing into the program's files, opens no descriptor there and keeps none open.
func TestRealDescriptors(t *testing.T) {
	program := harmful(t)
	for how, tasks := range map[string]uint64{"close": 3400, "close-standard": 3400, "pipe": 200, "descriptors": 100} {
		t.Run(how, func(t *testing.T) {
			dir, out := traced(t, nil, program, how)
			r := rankOf(t, filepath.Join(dir, "logs"))
			if s := r.Summary; !s.Complete || s.Ended != tasks || uint64(len(r.Log.Rows)) != tasks {
				t.Errorf("%d of %d tasks, %d rows, complete %v", s.Ended, tasks, len(r.Log.Rows), s.Complete)
			}
			if told := strings.Contains(out, "logs in"); told != (how != "close-standard") {
				t.Errorf("it printed %q", out)
			}
		})
	}
}

func TestRealForkedChild(t *testing.T) {
	dir, out := traced(t, nil, harmful(t), "fork")
	if s := rankOf(t, filepath.Join(dir, "logs")).Summary; s.Ended != 200 || !strings.Contains(out, "is a forked child: its tasks are not recorded") {
		t.Errorf("%d tasks; %s", s.Ended, out)
	}
}

func TestRealDeepNesting(t *testing.T) {
	dir, _ := traced(t, nil, harmful(t), "nest")
	r := rankOf(t, filepath.Join(dir, "logs"))
	if s := r.Summary; s.Ended != 1000 || s.Incomplete != 0 || len(r.Log.Rows) != 1000 {
		t.Errorf("%d ended, %d incomplete, %d rows", s.Ended, s.Incomplete, len(r.Log.Rows))
	}
}

// Two plug-ins are loaded in turn, as a rule at the same address. Each task has the function
// of its own plug-in, also if the OpenMP runtime comes and goes with them.
func TestRealPlugins(t *testing.T) {
	program := harmful(t)
	lib, _ := need(t)
	dir := t.TempDir()
	var plugins []string
	for _, name := range []string{"alpha", "beta"} {
		path := filepath.Join(dir, name+".so")
		compile(t, fmt.Sprintf(`
#include <math.h>
static volatile double sink;
static void %s(int i) { double x = 0; for (int k = 0; k < 3000; k++) x += sqrt(k * i); sink = x; }
void run(void) {
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 50; i++) {
#pragma omp task
        %s(i);
    }
}`, name, name), "clang", "-fopenmp", "-O1", "-g", "-fPIC", "-shared", "-x", "c", "-o", path, "-", "-lm")
		plugins = append(plugins, path)
	}
	plain := filepath.Join(dir, "plain")
	compile(t, "", "gcc", "-O1", "-w", "-o", plain, "testdata/harm.c", "-lm", "-ldl")
	for name, program := range map[string]string{"runtime stays": program, "runtime is unloaded": plain} {
		t.Run(name, func(t *testing.T) {
			at := t.TempDir()
			cmd := exec.CommandContext(t.Context(), program, append([]string{"plugins"}, plugins...)...)
			cmd.Dir, cmd.Env = at, append(os.Environ(), "OMP_TOOL_LIBRARIES="+lib, "OMP_NUM_THREADS=2", "HOME="+at, "CHAMTOOL_HOME="+at)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			runs, err := job.Runs(filepath.Join(at, "logs"))
			if err != nil {
				t.Fatal(err)
			}
			count := map[string]int{}
			for _, run := range runs {
				for _, f := range rankOf(t, run.Dir).Log.Rows {
					count[strings.SplitN(f.Entry, ":", 2)[0]]++
				}
			}
			if count["alpha.so"] != 200 || count["beta.so"] != 200 || len(count) != 2 {
				t.Errorf("tasks by plug-in: %v in %d runs", count, len(runs))
			}
		})
	}
}

// _exit and exec end a program without the tool. What was flushed can be read, and the report
// says that more is missing, also where nothing was flushed.
func TestRealUnseenEnd(t *testing.T) {
	program := harmful(t)
	for _, how := range []string{"_exit", "exec"} {
		for _, flushed := range []string{"0", "1000"} {
			t.Run(how+"/"+flushed, func(t *testing.T) {
				dir, _ := traced(t, nil, program, how, flushed)
				j, err := job.Load(t.Context(), filepath.Join(dir, "logs"), nil)
				reasons := fmt.Sprint(err)
				if err == nil {
					reasons = fmt.Sprint(j.Reasons)
					if rows := len(j.Ranks[0].Log.Rows); flushed != "0" && rows < 1000 || len(j.Torn) != 1 {
						t.Errorf("%d rows, torn %v", rows, j.Torn)
					}
				} else if flushed != "0" {
					t.Error(err)
				}
				if !strings.Contains(reasons, "did not see the program's end") {
					t.Errorf("it says %s", reasons)
				}
			})
		}
	}
}

// Beyond its limit a log grows no more, and every count holds all tasks.
func TestRealLogLimit(t *testing.T) {
	dir, out := traced(t, []string{"CHAMTOOL_LOG_MEGABYTES=1", "CHAMTOOL_RING_SLOTS=1048576"}, harmful(t), "flood")
	logs := filepath.Join(dir, "logs")
	info, err := os.Stat(filepath.Join(logs, "chamtool_rank_0.csv"))
	if err != nil || info.Size() > 1_001_000 {
		t.Fatalf("%v, %v", info, err)
	}
	r := rankOf(t, logs)
	s := r.Summary
	if s.Ended != 200_000 || s.Unlogged == nil || s.Unlogged.Count+len(r.Log.Rows) != 200_000 || !strings.Contains(out, "only counted by function") {
		t.Fatalf("%d ended, beyond %+v, %d rows; %s", s.Ended, s.Unlogged, len(r.Log.Rows), out)
	}
	j, err := job.Load(t.Context(), logs, nil)
	if err != nil {
		t.Fatal(err)
	}
	f := j.Figures()
	if f.Tasks != 200_000 || f.Functions[0].Tasks != 200_000 || f.Lost.Rounds[0].Executed != 200_000 || f.Lost.Rounds[0].Sent != 0 {
		t.Errorf("tasks %d, of the function %d, of the iteration %+v", f.Tasks, f.Functions[0].Tasks, f.Lost.Rounds[0])
	}
}

// twoMPIRuns starts two jobs of Open MPI at once. Each has a directory for its session: jobs that
// share one sometimes do not start.
const twoMPIRuns = `a=$(mktemp -d); b=$(mktemp -d); run="mpirun.openmpi --oversubscribe --bind-to none -n 1"
TMPDIR=$a $run $P fork & TMPDIR=$b $run $P fork && wait $!; status=$?; rm -rf $a $b; exit $status`

// A rank, its number of ranks and the directory of its job, under each launcher, for programs
// that run in sequence and at once in one script.
func TestRealLaunchers(t *testing.T) {
	program := harmful(t)
	lib, _ := need(t)
	t.Setenv("OMPI_ALLOW_RUN_AS_ROOT", "1")
	t.Setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
	for _, tt := range []struct {
		launcher, script string
		ranks, runs      int
	}{
		{"sh", "$P fork; $P fork", 1, 2},
		{"sh", "$P fork & a=$!; $P fork & b=$!; $P fork && wait $a && wait $b", 1, 3},
		{"sh", "export SLURM_JOB_ID=4711 SLURM_PROCID=0 SLURM_NTASKS=8 SLURM_LOCALID=0 SLURM_NODEID=0; $P fork; $P fork & $P fork; wait", 1, 3},
		{"mpiexec.mpich", "mpiexec.mpich -n 3 $P fork", 3, 1},
		{"mpiexec.mpich", "mpiexec.mpich -n 2 $P fork; mpiexec.mpich -n 2 $P fork", 2, 2},
		{"mpiexec.mpich", "mpiexec.mpich -n 2 sh -c '$P fork; $P fork'", 2, 2},
		{"mpirun.openmpi", "mpirun.openmpi --oversubscribe --bind-to none -n 3 $P fork", 3, 1},
		{"mpirun.openmpi", "mpirun.openmpi --oversubscribe --bind-to none -n 2 sh -c '$P fork; $P fork'", 2, 2},
		{"mpirun.openmpi", twoMPIRuns, 1, 2},
	} {
		t.Run(tt.script, func(t *testing.T) {
			if _, err := exec.LookPath(tt.launcher); err != nil {
				t.Skipf("needs %s: install with apt-get install mpich openmpi-bin", tt.launcher)
			}
			dir := t.TempDir()
			cmd := exec.CommandContext(t.Context(), "sh", "-c", tt.script)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "P="+program, "OMP_TOOL_LIBRARIES="+lib, "OMP_NUM_THREADS=2", "HOME="+dir, "CHAMTOOL_HOME="+dir)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			runs, err := job.Runs(filepath.Join(dir, "logs"))
			if err != nil || len(runs) != tt.runs {
				t.Fatalf("%d runs, want %d: %+v (%v)", len(runs), tt.runs, runs, err)
			}
			for _, run := range runs {
				if run.Ranks != tt.ranks || run.Tasks != uint64(200*tt.ranks) || !run.Complete || run.Program != "harm" {
					t.Errorf("%+v", run)
				}
				for rank := range tt.ranks {
					s, err := summary.Read(filepath.Join(run.Dir, summary.FileName(rank)))
					if err != nil || s.Rank != rank || s.Ranks != tt.ranks {
						t.Errorf("%v: %+v", err, s)
					}
				}
			}
		})
	}
}
