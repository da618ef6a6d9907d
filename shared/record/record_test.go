package record

import (
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/foretime/foretime/shared/file"
	"github.com/foretime/foretime/shared/uncertainty"
)

var (
	rank = Question{"edgeprof", "rank"}
	when = Question{"mirage", "when"}
	at   = time.Date(2026, 11, 23, 6, 0, 0, 0, time.UTC)
)

func book(t *testing.T) Book { return Book{Path: filepath.Join(t.TempDir(), "state", "record.jsonl")} }

func predicted(value float64) uncertainty.Prediction {
	return uncertainty.Prediction{Value: value, Low: value - 1, High: value + 1, Level: .9}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
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
		told, err := b.Predict(at, rank, step.key, predicted(step.value))
		if must(t, err); told != predicted(step.value) {
			t.Errorf("corrected by nothing: %v", told)
		}
	}
	if err := b.Outcome(at, when, "a", 1); !errors.Is(err, ErrUnknown) {
		t.Errorf("an outcome of another question: %v", err)
	}
	must(t, b.Outcome(at, rank, "a", 11.5))
	if err := b.Outcome(at, rank, "a", 12); !errors.Is(err, ErrUnknown) {
		t.Errorf("a second outcome: %v", err)
	}
	if err := b.Outcome(at, rank, "b", math.NaN()); !errors.Is(err, uncertainty.ErrValue) {
		t.Errorf("NaN: %v", err)
	}
	entries, err := b.Entries()
	must(t, err)
	if len(entries) != 3 || entries[0].Outcome != nil || entries[1].Outcome != nil || entries[2].Outcome == nil || *entries[2].Outcome != 11.5 {
		t.Errorf("%+v", entries)
	}
	text, err := os.ReadFile(b.Path)
	must(t, err)
	if strings.Contains(string(text), `"a"`) || strings.Count(string(text), "\n") != 4 {
		t.Errorf("the log names keys, or lacks lines:\n%s", text)
	}
	info, err := os.Stat(filepath.Dir(b.Path))
	if must(t, err); info.Mode().Perm() != 0o700 {
		t.Errorf("the folder can be read by others: %v", info.Mode())
	}
}

// Intervals half as wide as they should be are widened until as many hold as
// they promise, and the standing says how it went.
func TestCorrection(t *testing.T) {
	b, rng := book(t), rand.New(rand.NewPCG(1, 1))
	told := uncertainty.Prediction{}
	for i := range 60 {
		var err error
		told, err = b.Predict(at, rank, "job", predicted(10))
		must(t, err)
		if i <= 10 && told != predicted(10) && i < fewest {
			t.Errorf("moved after %d outcomes: %v", i, told)
		}
		must(t, b.Outcome(at, rank, "job", 10+1.2*rng.NormFloat64()))
	}
	if told.Width() < 2.4 {
		t.Errorf("width %v after 60 outcomes, want more than 2.4", told.Width())
	}
	s, err := b.Standing(rank)
	must(t, err)
	if s.Outcomes != 50 || s.Held < 30 || s.Held > 48 || math.Abs(s.Level-.9) > 1e-9 || s.Factor < 1.2 || s.Open != 0 || s.Miss <= 0 || s.Error <= 0 {
		t.Errorf("%+v", s)
	}
	if want := "of the last 50 here (90 % promised)"; !strings.HasSuffix(s.String(), want) {
		t.Errorf("%q", s)
	}
	other, err := b.Standing(when)
	if must(t, err); other.String() != "" || other.Factor != 1 {
		t.Errorf("%+v", other)
	}
}

func TestForeignAndTornLogs(t *testing.T) {
	b := Book{Path: filepath.Join(t.TempDir(), "notes.txt")}
	must(t, os.WriteFile(b.Path, []byte("my notes\n"), 0o600))
	if _, err := b.Predict(at, rank, "a", predicted(1)); !errors.Is(err, file.ErrForeign) {
		t.Errorf("somebody's notes: %v", err)
	}
	b = book(t)
	_, err := b.Predict(at, rank, "a", predicted(1))
	must(t, err)
	f, err := os.OpenFile(b.Path, os.O_APPEND|os.O_WRONLY, 0)
	must(t, err)
	_, err = f.WriteString(`{"foretime":"outc`)
	must(t, err)
	must(t, f.Close())
	must(t, b.Outcome(at, rank, "a", 1))
	if s, err := b.Standing(rank); err != nil || s.Outcomes != 1 || s.Held != 1 {
		t.Errorf("%+v, %v", s, err)
	}
	if _, err := (Book{Path: filepath.Join(t.TempDir(), "none")}).Entries(); err != nil {
		t.Errorf("no log: %v", err)
	}
}
