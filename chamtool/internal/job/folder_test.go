package job_test

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/foretime/foretime/chamtool/internal/job"
)

func touch(t *testing.T, dir, name string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte("a log\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// The first job has the folder, all its ranks with it; the next one has its own.
func TestTake(t *testing.T) {
	root := filepath.Join(t.TempDir(), "deep", "logs")
	for _, tt := range []struct{ job, want string }{{"job-1", root}, {"job-1", root}, {"job-2", filepath.Join(root, "job-2")}, {"job-2", filepath.Join(root, "job-2")}, {"job-1", root}} {
		dir, err := job.TakeFolder(root, tt.job)
		if err != nil || dir != tt.want {
			t.Fatalf("%s: %s (%v), want %s", tt.job, dir, err, tt.want)
		}
		touch(t, dir, "chamtool_rank_0.csv")
	}
}

// Logs that lie there without a mark are somebody's.
func TestLogsOfEarlierRuns(t *testing.T) {
	root := t.TempDir()
	touch(t, root, "chamtool_rank_0.csv")
	for range 2 {
		if dir, err := job.TakeFolder(root, "job-7"); err != nil || dir != filepath.Join(root, "job-7") {
			t.Errorf("%s (%v)", dir, err)
		}
	}
}

// Ranks of two jobs at once: each job has one folder, and one of them the root.
func TestRanksAtOnce(t *testing.T) {
	for range 20 {
		root := t.TempDir()
		dirs := make([]string, 16)
		var ranks sync.WaitGroup
		for i := range dirs {
			ranks.Go(func() {
				dir, err := job.TakeFolder(root, []string{"job-1", "job-2"}[i%2])
				if err != nil {
					t.Error(err)
				}
				dirs[i] = dir
				touch(t, dir, "chamtool_rank_0.csv")
			})
		}
		ranks.Wait()
		for i := range dirs {
			if dirs[i] != dirs[i%2] || dirs[0] == dirs[1] || dirs[0] != root && dirs[1] != root {
				t.Fatalf("%q", dirs)
			}
		}
	}
}

func TestNames(t *testing.T) {
	for _, name := range []string{"", "..", "a/b", ".x"} {
		if _, err := job.TakeFolder(t.TempDir(), name); !errors.Is(err, job.ErrName) {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, tt := range []struct {
		environment map[string]string
		want        string
	}{
		{nil, "job-here-1"},
		{map[string]string{"SLURM_JOB_ID": "42", "SLURM_STEP_ID": "3"}, "job-42-3"},
		{map[string]string{"SLURM_JOB_ID": "42", "PMIX_NAMESPACE": "prterun-a@1"}, "job-42-prterun-a_1"},
		{map[string]string{"PMIX_NAMESPACE": "17"}, "job-17"},
		{map[string]string{"PMI_RANK": "1"}, "job-node_7"},
		{map[string]string{"PMI_RANK": "1", "SLURM_JOB_ID": "42", "SLURM_STEP_ID": "3"}, "job-42-3"},
	} {
		lookup := func(name string) (string, bool) { v, ok := tt.environment[name]; return v, ok }
		if got := job.Name(lookup, func() string { return "node:7" }, "here-1"); got != tt.want {
			t.Errorf("%v: %s", tt.environment, got)
		}
	}
}

// TestControlPort finds the port of the mpiexec that started a rank, through a shell in
// between, and none for a process that Open MPI or a shell started.
func TestControlPort(t *testing.T) {
	file := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	proc := fstest.MapFS{
		"12/stat": file("12 (a) b) S 11 1 1"), "12/cmdline": file("./a\x00"),
		"11/stat": file("11 (sh) S 10 1 1"), "11/cmdline": file("sh\x00-c\x00./a\x00"),
		"10/stat": file("10 (hydra_pmi_proxy) S 9 1 1"), "10/cmdline": file("/usr/bin/hydra_pmi_proxy\x00--control-port\x00node:34661\x00--rmk\x00user\x00"),
		"9/stat": file("9 (mpiexec) S 1 1 1"), "9/cmdline": file("mpiexec\x00"),
		"7/stat": file("7 (x) S 9"), "6/stat": file("6 (x"), "5/stat": file("5 (x) S 4 "), "3/stat": file("3 (x) S 10"), "2/stat": file("2 (x) S 2"), "2/cmdline": file("loop"),
	}
	for pid, want := range map[int]string{12: "node:34661", 11: "node:34661", 10: "", 9: "", 7: "", 6: "", 5: "", 3: "node:34661", 2: "", 1: ""} {
		if got := job.ControlPort(proc, pid); got != want {
			t.Errorf("process %d: %q, want %q", pid, got, want)
		}
	}
}
