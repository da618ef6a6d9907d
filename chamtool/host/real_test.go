package host_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/foretime/foretime/chamtool/host"
	"github.com/foretime/foretime/chamtool/internal/testkit/mpitest"
)

// TestRealMPI runs ranks over each MPI that hand tasks to each other as the tool says:
// what was created was run once, somewhere, and both sides counted the same.
func TestRealMPI(t *testing.T) { mpitest.ForEachMPI(t, os.Getenv("PATH"), testMPI) }

func testMPI(t *testing.T) {
	tool, _ := need(t)
	p, err := host.Build(t.Context(), t.TempDir(), host.Options{MPI: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, ranks := range []int{2, 4} {
		for _, balance := range []string{"off", "proactive"} {
			t.Run(fmt.Sprintf("ranks=%d/%s", ranks, balance), func(t *testing.T) {
				r := in(t, tool, "--threads", "2", "--tasks", "60", "--iterations", "6", "--skew", "3", "--sizes", "60,80,100", "--nest", "7")
				r.Ranks = ranks
				r.Env = append(r.Env, "CHAMTOOL_BALANCE="+balance, "MAX_TASKS_PER_RANK_TO_MIGRATE_AT_ONCE=1000")
				var created, started, ended, moved, remote uint64
				for rank, did := range run(t, p, r) {
					s := readSummary(t, r, rank)
					balanced(t, did, s, 2)
					if s.Sent != did.Moved {
						t.Errorf("rank %d sent %d tasks, counted %d", rank, did.Moved, s.Sent)
					}
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
	mpitest.ForEachMPI(t, os.Getenv("PATH"), func(t *testing.T) {
		out, err := exec.CommandContext(t.Context(), "mpicc", "-fopenmp", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-I", "testdata/chameleon", "testdata/makespan.c").CombinedOutput()
		if err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	})
}

// TestRealMixedMPI wants an error where mpicc and mpirun belong to different MPIs.
func TestRealMixedMPI(t *testing.T) {
	dir := t.TempDir()
	for program, mpi := range map[string]string{"mpicc": "openmpi", "mpirun": "mpich"} {
		path, err := exec.LookPath(program + "." + mpi)
		if err != nil {
			t.Skip("needs two MPIs: install with apt-get install libopenmpi-dev openmpi-bin mpich libmpich-dev")
		}
		if err := os.WriteFile(filepath.Join(dir, program), []byte("#!/bin/sh\nexec "+path+" \"$@\"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv("OMPI_ALLOW_RUN_AS_ROOT", "1") // as one job of one rank each
	t.Setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
	p, err := host.Build(t.Context(), t.TempDir(), host.Options{MPI: true})
	if err != nil {
		t.Fatal(err)
	}
	r := in(t, "", "--threads", "1", "--tasks", "1", "--iterations", "1")
	r.Ranks = 2
	if _, _, err := p.Output(t.Context(), r); !errors.Is(err, host.ErrMPI) {
		t.Errorf("two jobs of one rank: %v", err)
	}
}

// TestOpenMPI tells launchers apart by what they print: Debian 12's Open MPI and MPICH,
// Open MPI 5 and Intel MPI.
func TestOpenMPI(t *testing.T) {
	for version, want := range map[string]bool{
		"mpirun.openmpi (OpenRTE) 4.1.4\n":                               true,
		"mpirun (Open MPI) 5.0.3\n":                                      true,
		"prterun (PRRTE) 3.0.5\n":                                        true,
		"HYDRA build details:\n    Version:                 4.0.2\n":     false,
		"Intel(R) MPI Library for Linux* OS, Version 2021.11 Build 2023": false,
		"": false,
	} {
		if got := host.OpenMPI(version); got != want {
			t.Errorf("%q: %v", version, got)
		}
	}
}

// TestLauncherFails wants an error that shows what a launcher without --version printed.
func TestLauncherFails(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "mpirun"), []byte("#!/bin/sh\necho no such option >&2\nexit 3\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	if _, err := host.Launch(t.Context(), 2); !errors.Is(err, host.ErrMPI) || !strings.Contains(err.Error(), "no such option") {
		t.Error(err)
	}
}
