package job_test

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/foretime/foretime/chamtool/job"
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
	} {
		lookup := func(name string) (string, bool) { v, ok := tt.environment[name]; return v, ok }
		if got := job.Name(lookup, "here-1"); got != tt.want {
			t.Errorf("%v: %s", tt.environment, got)
		}
	}
}
