package host_test

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/foretime/foretime/chamtool/host"
	"github.com/foretime/foretime/chamtool/internal/job"
	"github.com/foretime/foretime/chamtool/internal/testkit/mpitest"
)

// TestRealHybrid compares the balance of loops, tasks and work before the first region over one to four ranks with the CPU time
// that the program's own threads measure, whichever MPI runs it.
func TestRealHybrid(t *testing.T) {
	needOpenMP(t)
	tool, _ := need(t)
	mpitest.ForEachMPI(t, os.Getenv("PATH"), func(t *testing.T) {
		program := filepath.Join(t.TempDir(), "hybrid")
		for _, variable := range []string{"OMPI_CC", "MPICH_CC"} {
			t.Setenv(variable, "clang")
		}
		compile(t, "", "mpicc", "-fopenmp", "-O2", "-g", "-o", program, "testdata/hybrid.c")
		for _, form := range []string{"loop", "tasks", "late"} {
			for _, ranks := range []int{1, 2, 4} {
				t.Run(fmt.Sprintf("%s/%d", form, ranks), func(t *testing.T) { testHybrid(t, tool, program, form, ranks) })
			}
		}
	})
}

func testHybrid(t *testing.T, tool, program, form string, ranks int) {
	logs := t.TempDir()
	mpirun, err := host.Launch(t.Context(), ranks)
	if err != nil {
		t.Fatal(err)
	}
	argv := append(mpirun, program, form)
	cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), "LD_PRELOAD="+tool, "OMP_TOOL_LIBRARIES="+tool, "OMP_NUM_THREADS=2", "CHAMTOOL_LOG_DIR="+logs, "CHAMTOOL_HOME="+logs)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v", argv, err)
	}
	loads, all, most := map[[2]int]float64{}, 0.0, 0.0
	for line := range strings.Lines(string(out)) {
		var rank, thread int
		var seconds float64
		if _, err := fmt.Sscan(line, &rank, &thread, &seconds); err == nil {
			loads[[2]int{rank, thread}] = seconds
			all += seconds
			most = max(most, seconds)
		}
	}
	j, err := job.Load(t.Context(), logs, nil)
	if err != nil {
		t.Fatal(err)
	}
	f := j.Figures()
	if f.Times == nil || len(f.Times.Threads) != 2*ranks || len(loads) != 2*ranks {
		t.Fatalf("%d loads printed; %s; %+v", len(loads), f.Unknown, f.Times)
	}
	if want := all / float64(2*ranks) / most; math.Abs(f.Times.LoadBalance/want-1) > 0.05 {
		t.Errorf("load balance %.3f, by the program %.3f: %+v", f.Times.LoadBalance, want, f.Times.Threads)
	}
	for _, r := range f.Times.Ranks {
		if got, want := r.Computing, loads[[2]int{r.Rank, 0}]+loads[[2]int{r.Rank, 1}]; form != "late" && math.Abs(got/want-1) > 0.05 {
			t.Errorf("rank %d computed %.3f s, by the program %.3f", r.Rank, got, want)
		}
		if !(r.MPI > 0) {
			t.Errorf("rank %d was %v s in MPI", r.Rank, r.MPI)
		}
	}
}
