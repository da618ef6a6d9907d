package perfmodel_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/foretime/foretime/chamtool/internal/perfmodel"
)

// clock is a clock that only sleeping moves.
type clock struct{ at time.Time }

func (c *clock) now() time.Time        { return c.at }
func (c *clock) sleep(d time.Duration) { c.at = c.at.Add(d) }

func fileAt(t *testing.T) (perfmodel.SharedStore, *clock) {
	c := &clock{time.Unix(1_700_000_000, 0)}
	return perfmodel.SharedStore{Path: filepath.Join(t.TempDir(), "models", "here.runs"), Now: c.now}, c
}

func learned(key string, runs int, at time.Time) *perfmodel.Store {
	s := &perfmodel.Store{}
	s.Set(key, at.Unix(), slices.Repeat([]perfmodel.StoredRun{{Sizes: []int64{8}, Seconds: 0.001}}, runs))
	return s
}

func add(t *testing.T, f perfmodel.SharedStore, s *perfmodel.Store, since time.Time) {
	t.Helper()
	if err := f.Add(s, since); err != nil {
		t.Fatal(err)
	}
}

func count(t *testing.T, f perfmodel.SharedStore, key string) int {
	t.Helper()
	s, err := perfmodel.ReadStore(f.Path)
	if err != nil {
		t.Fatal(err)
	}
	return len(s.Runs(key))
}

// A lock that somebody holds is not waited for; what was to be kept is taken in by
// the next who gets it.
func TestHeldLock(t *testing.T) {
	f, c := fileAt(t)
	add(t, f, learned("f", 3, c.at), time.Time{})
	lock, err := os.Open(f.Path + ".lock")
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		add(t, f, learned("f", 5, c.at), time.Time{})
	}
	if n := count(t, f, "f"); n != 3 {
		t.Errorf("%d runs kept while another process has the lock", n)
	}
	lock.Close()
	add(t, f, learned("f", 1, c.at), time.Time{})
	if n := count(t, f, "f"); n != 3+5+5+1 {
		t.Errorf("%d runs kept", n)
	}
	if left, _ := filepath.Glob(f.Path + ".private.*"); len(left) != 0 {
		t.Errorf("%v is left", left)
	}
}

// Processes that end together lose nothing and leave nothing behind.
func TestTogether(t *testing.T) {
	f, c := fileAt(t)
	if path := os.Getenv("ADD_TO"); path != "" {
		f.Path = path
		add(t, f, learned("f", 10, c.at), time.Time{})
		return
	}
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestTogether$")
			cmd.Env = append(cmd.Environ(), "ADD_TO="+f.Path)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	all.Wait()
	if n := count(t, f, "f"); n != 60 {
		t.Errorf("%d runs kept of 60", n)
	}
	if left, _ := filepath.Glob(f.Path + ".private.*"); len(left) != 0 {
		t.Errorf("%v is left", left)
	}
}

// Ranks that start anew drop what was there before their run, on every host,
// and not what the others of their run have added.
func TestStartAnew(t *testing.T) {
	f, c := fileAt(t)
	add(t, f, learned("f", 100, c.at), time.Time{})
	c.sleep(time.Hour)
	began := c.at
	for range 3 {
		c.sleep(time.Second)
		add(t, f, learned("f", 10, c.at), began)
	}
	if n := count(t, f, "f"); n != 30 {
		t.Errorf("%d runs kept, want those of three ranks", n)
	}
}

func TestTornFile(t *testing.T) {
	f, c := fileAt(t)
	add(t, f, learned("f", 1, c.at), time.Time{})
	if err := os.WriteFile(f.Path, []byte("chamtool runs 2\n\x01\x05"), 0o600); err != nil {
		t.Fatal(err)
	}
	add(t, f, learned("f", 2, c.at), time.Time{})
	if n := count(t, f, "f"); n != 2 {
		t.Errorf("%d runs", n)
	}
	if _, err := os.Stat(f.Path + ".bad"); err != nil {
		t.Error(err)
	}
}

// A listing has the functions with the most runs first, and of each kind of sizes, by their
// total, the least, the median and the most time. A size that is unknown adds nothing.
func TestList(t *testing.T) {
	s := &perfmodel.Store{}
	run := func(seconds float64, sizes ...int64) perfmodel.StoredRun {
		return perfmodel.StoredRun{Sizes: sizes, Seconds: seconds}
	}
	s.Set(perfmodel.Key("few", "1"), 60, []perfmodel.StoredRun{run(1, 8)})
	s.Set(perfmodel.Key("many", "2"), 0, []perfmodel.StoredRun{run(3, 100, -9), run(7, 95), run(5, 100, -9), run(9, 50, 60), run(4, 100, -9)})
	want := []perfmodel.KeptFunction{
		{Name: "many", Build: "2", Last: time.Unix(0, 0).UTC(), Runs: 5, Sizes: []perfmodel.KeptSizes{
			{Sizes: []int64{95}, Runs: 1, Least: 7, Median: 7, Most: 7},
			{Sizes: []int64{100, -9}, Runs: 3, Least: 3, Median: 4, Most: 5},
			{Sizes: []int64{50, 60}, Runs: 1, Least: 9, Median: 9, Most: 9},
		}},
		{Name: "few", Build: "1", Last: time.Unix(60, 0).UTC(), Runs: 1, Sizes: []perfmodel.KeptSizes{{Sizes: []int64{8}, Runs: 1, Least: 1, Median: 1, Most: 1}}},
	}
	if diff := cmp.Diff(want, s.List()); diff != "" {
		t.Error(diff)
	}
}

// Of many builds of a function the last three are kept, and none for ever.
func TestBuilds(t *testing.T) {
	f, c := fileAt(t)
	for _, build := range []string{"a", "b", "c", "d", "e"} {
		c.sleep(time.Hour)
		add(t, f, learned(perfmodel.Key("f", build), 1, c.at), time.Time{})
	}
	for build, want := range map[string]int{"a": 0, "b": 0, "c": 1, "d": 1, "e": 1} {
		if n := count(t, f, perfmodel.Key("f", build)); n != want {
			t.Errorf("build %s: %d runs", build, n)
		}
	}
	c.sleep(365 * 24 * time.Hour)
	add(t, f, learned("g", 1, c.at), time.Time{})
	if n := count(t, f, perfmodel.Key("f", "e")); n != 0 {
		t.Errorf("%d runs of a year ago", n)
	}
}
