package host_test

import (
	"fmt"
	"os/exec"
	"testing"

	"github.com/foretime/foretime/chamtool/host"
)

// Ranks over MPI that hand tasks to each other as the tool says: what was
// created was run once, somewhere, and both sides counted the same.
func TestRealMPI(t *testing.T) {
	needMPI(t)
	tool, _ := need(t)
	p, err := host.Build(t.Context(), t.TempDir(), host.Options{MPI: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, ranks := range []int{2, 4} {
		for _, balance := range []string{"off", "reactive", "proactive"} {
			t.Run(fmt.Sprintf("ranks=%d/%s", ranks, balance), func(t *testing.T) {
				r := in(t, tool, "--threads", "2", "--tasks", "60", "--iterations", "6", "--skew", "3", "--sizes", "60,80,100", "--nest", "7")
				r.Ranks = ranks
				r.Env = append(r.Env, "CHAMTOOL_BALANCE="+balance, "MAX_TASKS_PER_RANK_TO_MIGRATE_AT_ONCE=1000", "CHAMTOOL_MIGRATION_SECONDS=0.000001",
					"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
				var created, started, ended, moved, remote uint64
				for rank, did := range run(t, p, r) {
					s := summary(t, r, rank)
					balanced(t, did, s, 2)
					if s.Dropped != 0 || s.Ranks != ranks || s.Rank != rank || s.Remote != did.Remote {
						t.Errorf("rank %d: %+v", rank, s)
					}
					created, started, ended = created+s.Created, started+s.Started, ended+s.Ended
					moved, remote = moved+did.Moved, remote+s.Remote
				}
				if created != started || started != ended || moved != remote {
					t.Errorf("%d created, %d started, %d ended; %d moved, %d arrived", created, started, ended, moved, remote)
				}
				if (moved > 0) != (balance != "off") {
					t.Errorf("%d tasks moved", moved)
				}
			})
		}
	}
}

// The program of the measured makespans compiles against what it stands on.
func TestRealMakespanCompiles(t *testing.T) {
	needMPI(t)
	out, err := exec.CommandContext(t.Context(), "mpicc", "-fopenmp", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-I", "testdata/chameleon", "../examples/makespan.c").CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func needMPI(t *testing.T) {
	t.Helper()
	for _, name := range []string{"mpicc", "mpirun"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skip("needs MPI: install with apt-get install openmpi-bin libopenmpi-dev")
		}
	}
}
