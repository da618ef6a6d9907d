package provision

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/foretime/foretime/mirage/internal/policy"
	"github.com/foretime/foretime/mirage/internal/slurmview"
	"github.com/foretime/foretime/shared/testkit/slurmtest"
)

// byAge orders the queue by age alone: 100 points a second.
func byAge(c *slurmtest.Cluster) {
	c.Configure("PriorityType=priority/multifactor\nPriorityWeightAge=60000\nPriorityMaxAge=00:10:00\nPriorityCalcPeriod=1\n")
}

// TestRealAge compares what jobs gain by age while they wait for another one: a task of an
// array of which one may run at once gains if the array has waited before, and a job with
// a dependency only if the controller has ACCRUE_ALWAYS.
func TestRealAge(t *testing.T) {
	t.Parallel()
	slurmtest.Need(t)
	for _, always := range []bool{false, true} {
		t.Run(fmt.Sprintf("always=%v", always), func(t *testing.T) {
			t.Parallel()
			c := slurmtest.Start(t, slurmtest.KeepAccounts, byAge, func(c *slurmtest.Cluster) {
				if always {
					c.Configure("PriorityFlags=ACCRUE_ALWAYS\n")
				}
			})
			submit := func(options ...string) string {
				id, err := c.Run(append([]string{"sbatch", "--parsable", "--time=10", "--output=/dev/null", "--wrap=sleep 600"}, options...)...)
				if err != nil {
					t.Fatal(err)
				}
				return strings.TrimSpace(id)
			}
			first := submit("--nodes=4")
			array := submit("--array=1-2%1")
			dependent := submit("--dependency=afterany:" + array)
			time.Sleep(5 * time.Second) // at least one pass of the scheduler sees the array wait
			if _, err := c.Run("scancel", first); err != nil {
				t.Fatal(err)
			}
			priority := func(id string) (n int) {
				out, err := c.Run("squeue", "--noheader", "--states=PD", "--jobs="+id, "--format=%Q")
				if err == nil {
					n, _ = strconv.Atoi(strings.TrimSpace(out))
				}
				return n
			}
			const second = 100 // points
			for end := time.Now().Add(3 * time.Minute); priority(array) < 20*second && time.Now().Before(end); {
				time.Sleep(time.Second)
			}
			task, other := priority(array), priority(dependent)
			if task < 20*second || always != (other > second) {
				t.Errorf("a task of an array has a priority of %d, a job with a dependency %d", task, other)
			}
			k, err := (&slurmview.Client{Runner: runner{c}}).Controller(t.Context())
			if err != nil || k.DependentsAge() != always {
				t.Errorf("%v: DependentsAge is %v, want %v", err, k.DependentsAge(), always)
			}
		})
	}
}

// runner runs commands of a test's cluster.
type runner struct{ c *slurmtest.Cluster }

func (r runner) Run(_ context.Context, argv []string, _ *os.File) ([]byte, error) {
	out, err := r.c.Run(argv...)
	return []byte(out), err
}

// TestRealNoOverlap keeps a chain going in which two services never run at once: each waits in
// the queue from the start of the one before.
func TestRealNoOverlap(t *testing.T) {
	t.Parallel()
	slurmtest.Need(t)
	c := slurmtest.Start(t, byAge)
	mirage := filepath.Join(c.Dir, "mirage")
	run(t, nil, "go", "build", "-o", mirage, "../../cmd/mirage")
	script := filepath.Join(c.Dir, "service.sh")
	if err := os.WriteFile(script, []byte("#!/bin/sh\nexec sleep 6\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	out := run(t, c.Env(), mirage, "provision", "--state-dir", filepath.Join(c.Dir, "chain"), "--no-overlap", "--set", "service.limit=1m", "--set", "service.time=6s",
		"--set", "decide.interval=1s", "--services", "4", "--json", "--slurm-option=--output=/dev/null", script)
	var sum Summary
	if err := json.Unmarshal([]byte(out), &sum); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Logf("%+v", sum)
	if sum.HandOvers != 3 || sum.Submissions != 4 || sum.Overlap > 0 {
		t.Errorf("%+v: want three hand-overs, four submissions and no overlap", sum)
	}
	journal, err := os.ReadFile(filepath.Join(c.Dir, "chain", "journal.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	// The second service is accepted before the first one has ended.
	text := string(journal)
	second, ended := strings.Index(text, `"kind":"intent","link":1`), strings.Index(text, `"kind":"ended"`)
	if second < 0 || ended < second {
		t.Errorf("the first successor is submitted after the end of its predecessor:\n%s", text)
	}
}

// TestNoOverlapSettings: what contradicts --no-overlap is refused.
func TestNoOverlapSettings(t *testing.T) {
	for name, change := range map[string]func(*Settings){
		"--release":         func(s *Settings) { s.Release = true },
		"dependency":        func(s *Settings) { s.Request.Options = []string{"--dependency=singleton"} },
		"dependency, short": func(s *Settings) { s.Request.Options = []string{"-d", "singleton"} },
	} {
		s := newWorld(1).settings(policy.Fixed{}, 0)
		s.NoOverlap = true
		if err := s.complete(); err != nil {
			t.Fatal(err)
		}
		change(&s)
		if err := s.complete(); !errors.Is(err, ErrSettings) {
			t.Errorf("%s: %v, want ErrSettings", name, err)
		}
	}
}
