package forecast

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"syscall"
	"testing"
	"time"

	"github.com/foretime/foretime/mirage/internal/trace"
	"github.com/foretime/foretime/mirage/internal/wait"
)

// busyLog has enough jobs for trees; the waits depend on the user and the size.
func busyLog(jobs int64) *trace.Trace {
	log := &trace.Trace{Zone: time.UTC, Unit: "nodes"}
	for i := range jobs {
		j := trace.Job{User: string(rune('a' + i%3)), Partition: "p", Nodes: 1 + int(i%2), Limit: 3600 * (1 + i%4), Submit: i * 300}
		j.Start = j.Submit + 600*(1+i%7)
		j.End = j.Start + 300*(1+i%5)
		log.Jobs = append(log.Jobs, j)
	}
	return log
}

// TestCache: the answer from a cached forecaster is the same; another time, level, log or
// program is another forecaster, and so is a damaged file.
func TestCache(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	var warned []error
	cache := func(program string) *Cache {
		return &Cache{Dir: dir, Program: program, Warn: func(err error) { warned = append(warned, err) }}
	}
	answer := func(log *trace.Trace, at int64, level float64, c *Cache) *Answer {
		t.Helper()
		l, err := NewLog(t.Context(), log, at, wait.Settings{Size: 8, Level: level, Seed: 1, From: at}, nil, c)
		if err != nil {
			t.Fatal(err)
		}
		a, err := l.Answer(Question{Nodes: 2, Limit: 7200, User: "a", By: "1970-01-03", Overlap: 1})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	files := func() []string { paths, _ := filepath.Glob(filepath.Join(dir, "*")); return paths }
	log, at := busyLog(150), int64(150*300)
	want := answer(log, at, 0.8, nil)
	if len(files()) > 0 {
		t.Errorf("without a cache there are %v", files())
	}
	for range 3 {
		if got := answer(log, at, 0.8, cache("1")); !reflect.DeepEqual(got, want) {
			t.Errorf("cached: %+v\nwant %+v", got, want)
		}
	}
	if len(files()) != 1 {
		t.Fatalf("%v after three equal questions", files())
	}
	b, err := os.ReadFile(files()[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, damaged := range []string{"", "{}", string(b[:len(b)/2])} {
		if err := os.WriteFile(files()[0], []byte(damaged), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := answer(log, at, 0.8, cache("1")); !reflect.DeepEqual(got, want) || len(warned) > 0 {
			t.Errorf("after damage: %+v, %v", got, warned)
		}
	}
	answer(log, at-600, 0.8, cache("1"))
	answer(log, at, 0.9, cache("1"))
	answer(log, at, 0.8, cache("2"))
	log.Jobs[100].Nodes++
	answer(log, at, 0.8, cache("1"))
	if len(files()) != 5 {
		t.Errorf("%d files after five different questions", len(files()))
	}
}

// TestCacheIsUsed: a cached forecaster that was changed answers differently.
func TestCacheIsUsed(t *testing.T) {
	log, at, c := busyLog(200), int64(200*300), &Cache{Dir: t.TempDir(), Warn: func(error) {}}
	s := wait.Settings{Size: 8, Level: 0.8, From: at}
	f, err := fitForecaster(t.Context(), log.Jobs, at, s, c)
	if err != nil {
		t.Fatal(err)
	}
	state, err := f.State()
	if err != nil || len(state.Trees) == 0 {
		t.Fatalf("%d trees, %v", len(state.Trees), err)
	}
	f, err = wait.NewForecaster(log.Jobs, s)
	if err != nil {
		t.Fatal(err)
	}
	state.Trees = nil
	if err := f.Restore(t.Context(), state); err != nil {
		t.Fatal(err)
	}
	if err := c.store(c.path(log.Jobs, at, s), f); err != nil {
		t.Fatal(err)
	}
	again, err := fitForecaster(t.Context(), log.Jobs, at, s, c)
	if err != nil {
		t.Fatal(err)
	}
	if state, err := again.State(); err != nil || len(state.Trees) > 0 {
		t.Errorf("%d trees, %v: the cached forecaster was not used", len(state.Trees), err)
	}
}

// TestCacheOfOthers: a link at the name of a forecaster keeps its target, and a FIFO does not
// block.
func TestCacheOfOthers(t *testing.T) {
	log, at := busyLog(30), int64(30*300)
	s := wait.Settings{Size: 8, Level: 0.8, From: at}
	for name, place := range map[string]func(path, target string) error{
		"link": func(path, target string) error { return os.Symlink(target, path) },
		"FIFO": func(path, _ string) error { return syscall.Mkfifo(path, 0o600) },
	} {
		warned := 0
		c := &Cache{Dir: t.TempDir(), Warn: func(error) { warned++ }}
		path, target := c.path(log.Jobs, at, s), filepath.Join(t.TempDir(), "thesis.txt")
		if err := errors.Join(os.WriteFile(target, []byte("text"), 0o600), place(path, target)); err != nil {
			t.Fatal(err)
		}
		if _, err := fitForecaster(t.Context(), log.Jobs, at, s, c); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		text, err := os.ReadFile(target)
		if string(text) != "text" || err != nil || warned > 0 {
			t.Errorf("%s: the target is %q, %v; %d warnings", name, text, err, warned)
		}
	}
}

// TestCachePruned: the oldest files go first; a file of another name stays.
func TestCachePruned(t *testing.T) {
	c := &Cache{Dir: t.TempDir(), Warn: func(error) {}}
	for i := range cachedFiles + 3 {
		path := filepath.Join(c.Dir, string(rune('A'+i))+suffix)
		at := time.Unix(int64(1000+i), 0)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	other := filepath.Join(c.Dir, "notes.txt")
	if err := os.WriteFile(other, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := c.prune(); err != nil {
		t.Fatal(err)
	}
	paths, _ := filepath.Glob(filepath.Join(c.Dir, "*"+suffix))
	_, err := os.Stat(other)
	_, oldest := os.Stat(filepath.Join(c.Dir, "C"+suffix))
	if len(paths) != cachedFiles || err != nil || oldest == nil {
		t.Errorf("%d files, the other %v, the oldest %v", len(paths), err, oldest)
	}
}
