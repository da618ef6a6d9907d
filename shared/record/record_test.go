package record

import (
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/foretime/foretime/shared/uncertainty"
)

var (
	rank = Question{"edgeprof", "rank"}
	when = Question{"mirage", "when"}
	at   = time.Date(2026, 11, 23, 6, 0, 0, 0, time.UTC)
)

func book(t *testing.T) *Book {
	return &Book{Path: filepath.Join(t.TempDir(), "state", "record.jsonl")}
}

func predicted(value float64) uncertainty.Prediction {
	return uncertainty.Prediction{Value: value, Low: value - 1, High: value + 1, Level: 0.9}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// quiet checks that a book has no warnings.
func quiet(t *testing.T, b *Book) {
	t.Helper()
	if w := b.Warnings(); len(w) > 0 {
		t.Errorf("warnings %v", w)
	}
}

func TestOutcomeFindsItsPrediction(t *testing.T) {
	b := book(t)
	if err := b.Outcome(at, rank, "a", 1); !errors.Is(err, ErrUnknown) {
		t.Errorf("an outcome of nothing: %v", err)
	}
	for _, step := range []struct {
		key   string
		value float64
	}{{"a", 10}, {"b", 20}, {"a", 11}} {
		if shown := b.Predict(at, rank, step.key, predicted(step.value)); shown != predicted(step.value) {
			t.Errorf("corrected by nothing: %v", shown)
		}
	}
	for name, c := range map[string]struct {
		q    Question
		at   time.Time
		want error
		y    float64
	}{
		"another question":       {when, at, ErrUnknown, 1},
		"before the prediction":  {rank, at.Add(-time.Second), ErrUnknown, 1},
		"a year later":           {rank, at.AddDate(1, 0, 0), ErrUnknown, 1},
		"not a number":           {rank, at, uncertainty.ErrValue, math.NaN()},
		"infinite":               {rank, at, uncertainty.ErrValue, math.Inf(1)},
		"negative":               {rank, at, uncertainty.ErrValue, -1},
		"longer than any time":   {rank, at, uncertainty.ErrValue, 1e300},
		"just above what counts": {rank, at, uncertainty.ErrValue, 1.001e9},
	} {
		if err := b.Outcome(c.at, c.q, "a", c.y); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	must(t, b.Outcome(at, rank, "a", 11.5))
	if err := b.Outcome(at, rank, "a", 12); !errors.Is(err, ErrUnknown) {
		t.Errorf("a second outcome: %v", err)
	}
	if s := b.Standing(rank); s.Outcomes != 1 || s.Held != 1 || s.Open != 2 {
		t.Errorf("%+v", s)
	}
	text, err := os.ReadFile(b.Path)
	must(t, err)
	if strings.Contains(string(text), `"a"`) || strings.Count(string(text), "\n") != 4 {
		t.Errorf("the log names keys, or lacks lines:\n%s", text)
	}
	info, err := os.Stat(filepath.Dir(b.Path))
	if must(t, err); info.Mode().Perm() != 0o700 {
		t.Errorf("the directory can be read by others: %v", info.Mode())
	}
	quiet(t, b)
	if again := (&Book{Path: b.Path}); again.Standing(rank) != b.Standing(rank) {
		t.Errorf("read again: %+v, want %+v", again.Standing(rank), b.Standing(rank))
	}
}

// TestCorrection checks that intervals half as wide as necessary are widened until
// their coverage is right, and that the standing reports it.
func TestCorrection(t *testing.T) {
	b, rng := book(t), rand.New(rand.NewPCG(1, 1))
	shown := uncertainty.Prediction{}
	for i := range 60 {
		shown = b.Predict(at, rank, "job", predicted(10))
		if i < minOutcomes && shown != predicted(10) {
			t.Errorf("moved after %d outcomes: %v", i, shown)
		}
		must(t, b.Outcome(at, rank, "job", 10+1.2*rng.NormFloat64()))
	}
	if shown.Width() < 2.4 {
		t.Errorf("width %v after 60 outcomes, want more than 2.4", shown.Width())
	}
	s := b.Standing(rank)
	if s.Outcomes != 50 || s.Held < 30 || s.Held > 48 || math.Abs(s.Level-0.9) > 1e-9 || s.Factor < 1.2 || s.Open != 0 || s.Miss <= 0 || s.Error <= 0 {
		t.Errorf("%+v", s)
	}
	if want := "of the last 50 outcomes here were in their interval (level 90 %)"; !strings.HasSuffix(s.String(), want) {
		t.Errorf("%q", s)
	}
	if other := b.Standing(when); other.String() != "" || other.Factor != 1 {
		t.Errorf("%+v", other)
	}
}

// TestGrossErrors checks that a gross error widens an interval at most tenfold
// until ten outcomes agree.
func TestGrossErrors(t *testing.T) {
	b := book(t)
	outcome := func(y float64) float64 {
		must(t, b.Add(at, rank, "job", predicted(10), 1, y))
		return b.Standing(rank).Factor
	}
	for range 20 {
		outcome(10.5)
	}
	for i := range 9 {
		if f := outcome(1e6); f > 10 {
			t.Errorf("gross error %d: factor %v", i+1, f)
		}
	}
	for range 10 {
		outcome(1e6)
	}
	if f := outcome(1e6); f < 1000 {
		t.Errorf("20 outcomes agree: factor %v", f)
	}
}

// TestDamagedLog checks that an unreadable line affects no other line and no
// answer.
func TestDamagedLog(t *testing.T) {
	good := `{"foretime":"prediction","tool":"edgeprof","question":"rank","key":"%s","at":"2026-11-23T06:00:00Z","prediction":{"value":1,"low":0.5,"high":2,"level":0.9},"factor":1}` + "\n"
	first, second := fmt.Sprintf(good, "aaaa"), fmt.Sprintf(good, "bbbb")
	later := `{"foretime":"calibration","v":2}` + "\n" + `{"foretime":"prediction","v":2,"key":{"hash":"x"}}` + "\n" +
		strings.Replace(fmt.Sprintf(good, "cccc"), `"prediction",`, `"prediction","v":2,`, 1)
	for _, c := range []struct {
		name, text string
		left, bad  string
	}{
		{"torn in the middle", first + `{"foretime":"pred` + "\n" + second, first + second, `{"foretime":"pred` + "\n"},
		{"torn at the end", first + second + `{"foretime":"outc`, first + second, `{"foretime":"outc` + "\n"},
		{"NUL line", first + second + "\x00\x00\x00\n", first + second, "\x00\x00\x00\n"},
		{"NUL tail", first + second + "\x00\x00\x00", first + second, "\x00\x00\x00\n"},
		{"another file", "my notes\n" + first + second, first + second, "my notes\n"},
		{"no field of ours", `{"a":1}` + "\n" + first + second, first + second, `{"a":1}` + "\n"},
		{"a factor of 0", first + strings.Replace(second, `"factor":1`, `"factor":0`, 1) + second, first + second, strings.Replace(second, `"factor":1`, `"factor":0`, 1)},
		{"an outcome of 1e300", first + second + `{"foretime":"outcome","tool":"edgeprof","question":"rank","key":"aaaa","at":"2026-11-23T06:00:00Z","outcome":1e300}` + "\n", first + second, `{"foretime":"outcome","tool":"edgeprof","question":"rank","key":"aaaa","at":"2026-11-23T06:00:00Z","outcome":1e300}` + "\n"},
		{"a newer version", first + later + second, first + later + second, ""},
		{"a newer version and a torn line", first + later + "{\n" + second, first + later + second, "{\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := &Book{Path: filepath.Join(t.TempDir(), "record.jsonl")}
			must(t, os.WriteFile(b.Path, []byte(c.text), 0o600))
			if s := b.Standing(rank); s.Open != 2 {
				t.Errorf("%d predictions, want 2", s.Open)
			}
			w := b.Warnings()
			if (len(w) == 1) != (c.bad != "") {
				t.Errorf("warnings %v", w)
			}
			text, err := os.ReadFile(b.Path)
			if must(t, err); string(text) != c.left {
				t.Errorf("left\n%q, want\n%q", text, c.left)
			}
			aside, _ := os.ReadFile(b.Path + ".bad")
			if string(aside) != c.bad {
				t.Errorf("aside\n%q, want\n%q", aside, c.bad)
			}
			b.Predict(at, rank, "c", predicted(1))
			must(t, b.Outcome(at, rank, "c", 1))
			quiet(t, b)
			if s := (&Book{Path: b.Path}).Standing(rank); s.Open != 2 || s.Outcomes != 1 {
				t.Errorf("afterwards %+v", s)
			}
		})
	}
}

// TestUnusableFile checks that a book whose file cannot be used works in memory and
// warns once.
func TestUnusableFile(t *testing.T) {
	for name, spoil := range map[string]func(path string) error{
		"a directory in its place": func(path string) error { return os.Mkdir(path, 0o755) },
		"a pipe in its place":      func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"a file in place of its directory": func(path string) error {
			return errors.Join(os.Remove(filepath.Dir(path)), os.WriteFile(filepath.Dir(path), nil, 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := &Book{Path: filepath.Join(t.TempDir(), "state", "record.jsonl")}
			must(t, os.Mkdir(filepath.Dir(b.Path), 0o755))
			must(t, spoil(b.Path))
			var warned []error
			for range 3 {
				b.Predict(at, rank, "a", predicted(1))
				must(t, b.Outcome(at, rank, "a", 1))
				warned = append(warned, b.Warnings()...)
			}
			if len(warned) != 1 || !strings.Contains(warned[0].Error(), b.Path) && !strings.Contains(warned[0].Error(), filepath.Dir(b.Path)) {
				t.Errorf("warnings %v", warned)
			}
			if s := b.Standing(rank); s.Outcomes != 3 {
				t.Errorf("%+v", s)
			}
		})
	}
}

// TestMemoryOnly uses a book without a path.
func TestMemoryOnly(t *testing.T) {
	var b Book
	b.Predict(at, rank, "a", predicted(1))
	must(t, b.Outcome(at, rank, "a", 1))
	b.Check()
	if s := b.Standing(rank); s.Outcomes != 1 {
		t.Errorf("%+v", s)
	}
	if n, err := b.Reset("edgeprof"); n != 0 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	quiet(t, &b)
}

// TestBooksOfOneFile checks that several books of one file, as in several
// processes, lose nothing.
func TestBooksOfOneFile(t *testing.T) {
	one := book(t)
	var all sync.WaitGroup
	for i := range 4 {
		b := &Book{Path: one.Path}
		all.Go(func() {
			for n := range 25 {
				key := fmt.Sprint(i, " ", n)
				b.Predict(at, rank, key, predicted(1))
				if err := b.Outcome(at, rank, key, 1); err != nil {
					t.Error(err)
				}
				if n == 12 && i == 0 {
					f, err := b.lock()
					if err == nil {
						_, err = f.Seek(0, io.SeekEnd)
					}
					if err == nil {
						_, err = f.WriteString("torn\n")
					}
					if err := errors.Join(err, f.Close()); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	all.Wait()
	text, err := os.ReadFile(one.Path)
	must(t, err)
	if n := strings.Count(string(text), "\n"); n != 200 {
		t.Errorf("%d lines, want 200", n)
	}
	if h := one.Standing(rank); h.Outcomes != 50 || h.Open != 0 {
		t.Errorf("%+v", h)
	}
}

// TestReplacedWhileWaiting checks that a book that waited for the lock while
// another replaced the file writes to the new file.
func TestReplacedWhileWaiting(t *testing.T) {
	one := book(t)
	one.Predict(at, rank, "a", predicted(1))
	f, err := one.lock()
	must(t, err)
	text, err := os.ReadFile(one.Path)
	must(t, err)
	var all sync.WaitGroup
	all.Go(func() { (&Book{Path: one.Path}).Predict(at, rank, "b", predicted(1)) })
	time.Sleep(100 * time.Millisecond) // by now it waits; later it has the new file
	must(t, one.replace(text))
	must(t, f.Close())
	all.Wait()
	if s := (&Book{Path: one.Path}).Standing(rank); s.Open != 2 {
		t.Errorf("%+v, want 2 predictions", s)
	}
}

// A book whose file another process keeps locked answers from memory, waits less from then on, and
// waits as before once the file can be used.
func TestHeldLock(t *testing.T) {
	one, other := book(t), book(t)
	other.Path = one.Path
	f, err := other.lock()
	must(t, err)
	usual := one.patience()
	one.warnUnusable(errors.New("a wait in vain"))
	if one.patience() >= usual {
		t.Errorf("waits %v after an error, %v before", one.patience(), usual)
	}
	if p := one.Predict(at, rank, "a", predicted(1)); p.Value != 1 || one.known.questions[rank] == nil {
		t.Errorf("%+v", p)
	}
	must(t, f.Close())
	one.Predict(at, rank, "b", predicted(1))
	if one.patience() != usual {
		t.Errorf("waits %v for a file that can be used", one.patience())
	}
	if w := one.Warnings(); len(w) != 1 {
		t.Errorf("warnings %v", w)
	}
}

func TestForget(t *testing.T) {
	b := book(t)
	for _, key := range []string{"a", "b", "b"} {
		b.Predict(at, rank, key, predicted(1))
		must(t, b.Outcome(at, rank, key, 1))
	}
	b.Predict(at, when, "a", predicted(1))
	if n, err := b.Forget("edgeprof", "c"); n != 0 || err != nil {
		t.Errorf("an unknown key: %d, %v", n, err)
	}
	if n, err := b.Forget("edgeprof", "b"); n != 2 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if s := b.Standing(rank); s.Outcomes != 1 {
		t.Errorf("%+v", s)
	}
	if n, err := b.Forget("edgeprof", "rank"); n != 1 || err != nil {
		t.Errorf("a question: %d, %v", n, err)
	}
	b.Predict(at, rank, "d", predicted(1))
	if n, err := b.Reset("edgeprof"); n != 1 || err != nil {
		t.Errorf("reset: %d, %v", n, err)
	}
	if s := (&Book{Path: b.Path}).Standing(when); s.Open != 1 {
		t.Errorf("another tool's predictions: %+v", s)
	}
	quiet(t, b)
}

// BenchmarkAdd measures recording an outcome after many others, as in a service.
func BenchmarkAdd(b *testing.B) {
	for _, before := range []int{0, 500, 5000} {
		b.Run(fmt.Sprintf("before=%d", before), func(b *testing.B) {
			book := &Book{Path: filepath.Join(b.TempDir(), "record.jsonl")}
			for range before {
				_ = book.Add(at, rank, "a", predicted(1), 1, 1)
			}
			for b.Loop() {
				_ = book.Add(at, rank, "a", predicted(1), 1, 1)
			}
		})
	}
}
