package host_test

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/foretime/foretime/chamtool/internal/job"
)

// library is an MPI whose MPI_Init takes INIT_SECONDS, and which never receives anything.
const library = `
#include <stdlib.h>
#include <unistd.h>
int MPI_Init(int *argc, char ***argv) { const char *seconds = getenv("INIT_SECONDS"); return seconds ? (int)sleep((unsigned)atoi(seconds)) : 0; }
int MPI_Recv(void) { return (int)sleep(100); }
int MPI_Test(void *request, int *flag, void *status) { *flag = 0; return 0; }
int MPI_Abort(void *communicator, int code) { _exit(code); }
`

// states compiles testdata/states.c.
func states(t *testing.T) string {
	t.Helper()
	needOpenMP(t)
	dir := t.TempDir()
	compile(t, library, "gcc", "-shared", "-fPIC", "-Wl,-soname,libmpi.so", "-x", "c", "-o", filepath.Join(dir, "libmpi.so"), "-")
	program := filepath.Join(dir, "states")
	compile(t, "", "clang", "-fopenmp", "-O1", "-g", "-Wall", "-Werror", "-o", program, "testdata/states.c", "-L"+dir, "-lmpi", "-Wl,-rpath,"+dir)
	return program
}

// timesOf runs a program to its end, and returns what its threads did.
func timesOf(t *testing.T, program string, args ...string) *job.Times {
	t.Helper()
	times, err := readTimes(t, program, args...)
	if err != nil {
		t.Fatal(err)
	}
	return times
}

// readTimes is timesOf for a test that tries again.
func readTimes(t *testing.T, program string, args ...string) (*job.Times, error) {
	t.Helper()
	lib, _ := need(t)
	logs := t.TempDir()
	cmd := exec.CommandContext(t.Context(), program, append(args, filepath.Join(logs, "chamtool_summary_rank_0.json"))...)
	cmd.Env = append(os.Environ(), "LD_PRELOAD="+lib, "OMP_TOOL_LIBRARIES="+lib, "OMP_NUM_THREADS=3", "OMP_WAIT_POLICY=passive", "CHAMTOOL_LOG_DIR="+logs, "CHAMTOOL_HOME="+logs)
	out, ended := cmd.CombinedOutput()
	j, err := job.Load(t.Context(), logs, nil)
	if err != nil {
		return nil, fmt.Errorf("%w; the program: %v\n%s", err, ended, out)
	}
	f := j.Figures()
	if f.Times == nil {
		return nil, fmt.Errorf("%s; the program: %v\n%s", f.Unknown, ended, out)
	}
	slices.SortFunc(f.Times.Threads, func(a, b job.ThreadTime) int { return cmp.Compare(a.Thread, b.Thread) })
	return f.Times, nil
}

// wantWorkers runs a program that computes on its first thread for half a second, until the workers
// have had about as much of a kind of time. On a busy machine a worker may come to it late; what is
// not counted is missing in each run.
func wantWorkers(t *testing.T, program string, args []string, kind func(job.ThreadTime) float64) {
	t.Helper()
	var times *job.Times
	for range 5 {
		var err error
		if times, err = readTimes(t, program, args...); err != nil {
			t.Log(err)
			continue
		}
		if len(times.Threads) != 3 {
			t.Fatalf("%+v", times.Threads)
		}
		if min(kind(times.Threads[1]), kind(times.Threads[2])) > 0.45 {
			return
		}
	}
	t.Errorf("%v: want 0.5 s: %+v", args, times)
}

// The state of each thread counts up to the end, however the process ends.
func TestRealStateAtTheEnd(t *testing.T) {
	program := states(t)
	kinds := map[string]func(job.ThreadTime) float64{
		"waiting":   func(one job.ThreadTime) float64 { return one.Waiting },
		"lock":      func(one job.ThreadTime) float64 { return one.Waiting },
		"MPI":       func(one job.ThreadTime) float64 { return one.MPI },
		"stopped":   func(one job.ThreadTime) float64 { return one.Stopped },
		"computing": func(one job.ThreadTime) float64 { return one.Computing + one.Stopped },
	}
	for how, kind := range kinds {
		for _, end := range []string{"exit", "abort", "fault", "terminate", "kill", "MPI_Abort"} {
			t.Run(how+"/"+end, func(t *testing.T) {
				wantWorkers(t, program, []string{how, end}, kind)
			})
		}
	}
}

// Where one thread computes alone the others are outside of regions, also if the process ends then.
func TestRealWorkersOutside(t *testing.T) {
	program := states(t)
	for _, end := range []string{"exit", "terminate", "MPI_Abort"} {
		wantWorkers(t, program, []string{"serial", end}, func(one job.ThreadTime) float64 { return one.Outside })
	}
}

// A thread that has ended is not outside of regions.
func TestRealEndedThread(t *testing.T) {
	times := timesOf(t, states(t), "pthread", "return")
	last := times.Threads[len(times.Threads)-1]
	if len(times.Threads) != 4 || last.Computing+last.Stopped < 0.09 || last.Computing+last.Stopped+last.Waiting+last.Outside > times.Wall-0.45 {
		t.Errorf("of %v s: %+v", times.Wall, times.Threads)
	}
}

// Polls that find nothing are time in MPI, as is the short time between them.
func TestRealPolls(t *testing.T) {
	times := timesOf(t, states(t), "poll", "return")
	if one := times.Threads[0]; one.MPI < 0.2 {
		t.Errorf("%+v", one)
	}
}

// MPI_Init is no time of the program, before the first use of OpenMP or after it.
func TestRealInit(t *testing.T) {
	t.Setenv("INIT_SECONDS", "2")
	program := states(t)
	for _, when := range []string{"early", "late"} {
		begin := time.Now()
		times := timesOf(t, program, when, "return")
		most := time.Since(begin).Seconds() - 1.9 // however long the machine lets it wait
		if times.Wall > most || times.Threads[0].Useful > most || times.Wall < 0.1 {
			t.Errorf("%s: %v s, want at most %v: %+v", when, times.Wall, most, times.Threads)
		}
	}
}
