package job_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/foretime/foretime/chamtool/internal/job"
)

func touch(t *testing.T, dir, name string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte("a log\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// The first job has the directory with all its ranks; the next job has its own, and so has
// a second program of the same job and rank.
func TestTake(t *testing.T) {
	root := filepath.Join(t.TempDir(), "deep", "logs")
	second, again := filepath.Join(root, "job-2"), filepath.Join(root, "job-1.2")
	for _, tt := range []struct {
		job  string
		rank int
		want string
	}{{"job-1", 0, root}, {"job-1", 1, root}, {"job-2", 0, second}, {"job-2", 1, second}, {"job-1", 2, root}, {"job-1", 0, again}, {"job-1", 1, again}, {"job-1", 0, filepath.Join(root, "job-1.3")}} {
		dir, err := job.Claim(root, tt.job, tt.rank)
		if err != nil || dir != tt.want {
			t.Fatalf("%s: %s (%v), want %s", tt.job, dir, err, tt.want)
		}
		touch(t, dir, fmt.Sprintf("chamtool_rank_%d.csv", tt.rank))
	}
}

// Logs that lie there without a mark are somebody's.
func TestLogsOfEarlierRuns(t *testing.T) {
	root := t.TempDir()
	touch(t, root, "chamtool_rank_0.csv")
	for rank := range 2 {
		if dir, err := job.Claim(root, "job-7", rank); err != nil || dir != filepath.Join(root, "job-7") {
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
				dir, err := job.Claim(root, []string{"job-1", "job-2"}[i%2], i/2)
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
		if _, err := job.Claim(t.TempDir(), name, 0); !errors.Is(err, job.ErrName) {
			t.Errorf("%q: %v", name, err)
		}
	}
}
