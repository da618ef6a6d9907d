package follow

import (
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"gonum.org/v1/gonum/floats"

	"github.com/foretime/foretime/allox-est/backtest"
	"github.com/foretime/foretime/allox-est/journal"
)

func TestTracker(t *testing.T) {
	tr := New(10, 2)
	var u Update
	for i := range 8 {
		var err error
		if u, err = tr.Mark(time.Duration(3+i) * time.Second); err != nil {
			t.Fatal(err)
		}
		if (u.Total == nil) != (i < 3) {
			t.Errorf("epoch %d: %+v", u.Done, u)
		}
	}
	if u.Done != 10 || u.Total.Value != 10 || u.Left.Value != 0 || u.Total.Low != 10 || u.Drifted {
		t.Errorf("at the end: %+v, %+v", u, u.Total)
	}
	if _, err := tr.Mark(time.Minute); !errors.Is(err, ErrOrder) {
		t.Errorf("an epoch too many: %v", err)
	}
	tr = New(10, 0)
	_, _ = tr.Mark(time.Second)
	if _, err := tr.Mark(0); !errors.Is(err, ErrOrder) {
		t.Errorf("back in time: %v", err)
	}
}

// A run that slows down for good leaves the first interval, and says so.
func TestTrackerDrifts(t *testing.T) {
	tr, at := New(100, 0), time.Duration(0)
	for i := range 60 {
		step := time.Second
		if i > 10 {
			step = 2 * time.Second
		}
		at += step
		u, err := tr.Mark(at)
		if err != nil {
			t.Fatal(err)
		}
		if i == 10 && u.Drifted || i == 59 && !u.Drifted {
			t.Errorf("epoch %d: %+v of %+v", u.Done, u.Total, tr.first)
		}
	}
}

func TestLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "train.log")
	if err := os.WriteFile(path, []byte("start\nEpoch 1/5\nEpoch 1/5 again\nEpoch 2/5\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	write := func(text string) {
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString(text); err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	seen, before := 0, -1
	err := (Log{path, regexp.MustCompile(`Epoch (\d+)`), 5, time.Millisecond}).Read(t.Context(), func(n int) error {
		before = n
		write("Epoch 3/5\r\nEpo")
		return nil
	}, func(time.Duration) error {
		switch seen++; seen {
		case 1:
			write("ch 4/5\rnothing\n")
		case 2:
			write("Epoch 5/5\n")
		case 3:
			return io.EOF
		}
		return nil
	})
	if err != nil || before != 2 || seen != 3 {
		t.Errorf("%d before, %d seen: %v", before, seen, err)
	}
	cut := func(int) error { return os.Truncate(path, 3) }
	if err := (Log{path, regexp.MustCompile("x"), 5, time.Millisecond}).Read(t.Context(), cut, nil); !errors.Is(err, ErrEnded) {
		t.Errorf("a log that was cut: %v", err)
	}
	ctx, stop := context.WithCancel(t.Context())
	if err := (Log{path, regexp.MustCompile("x"), 5, time.Millisecond}).Read(ctx, func(int) error { stop(); return nil }, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
}

// onTheWay counts how often intervals held the whole, by the share of it done.
type onTheWay struct {
	shares, held, widths []float64
	n                    float64
}

func newOnTheWay() *onTheWay {
	shares := []float64{0.05, 0.1, 0.25, 0.5, 0.75}
	return &onTheWay{shares: shares, held: make([]float64, len(shares)), widths: make([]float64, len(shares))}
}

// take follows one run, of which the ends of all epochs are known, in seconds.
func (w *onTheWay) take(t *testing.T, ends []float64) {
	t.Helper()
	w.n++
	whole, next := ends[len(ends)-1], 0
	tr := New(len(ends), 0)
	for i, end := range ends {
		if err := tr.add(end); err != nil {
			t.Fatal(err)
		}
		if next == len(w.shares) || float64(i+1) < w.shares[next]*float64(len(ends)) {
			continue
		}
		u, err := tr.now()
		if err != nil {
			t.Fatal(err)
		}
		if u.Total.Contains(whole) {
			w.held[next]++
		}
		w.widths[next] += u.Total.Width() / whole
		next++
	}
}

func (w *onTheWay) show(t *testing.T) {
	t.Helper()
	for i, share := range w.shares {
		t.Logf("%2.0f %% done: %.0f %% of %.0f held, mean width %.0f %%", 100*share, 100*w.held[i]/w.n, w.n, 100*w.widths[i]/w.n)
	}
}

// On measured series the interval holds the whole at every share of the way, and
// narrows.
func TestCoverageOnTheWay(t *testing.T) {
	data := os.Getenv("FORETIME_DATA")
	if data == "" {
		t.Skip("needs the data that FORETIME_DATA names")
	}
	w := newOnTheWay()
	for path, value := range map[string]string{"steps-pai/minibatch.csv": "batch_time_norm", "steps-azure/values.csv.gz": "value"} {
		all, _, err := backtest.Load(filepath.Join(data, filepath.FromSlash(path)), "series", value, "")
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range all {
			w.take(t, floats.CumSum(make([]float64, len(s.Values)), s.Values))
		}
	}
	w.show(t)
	for i, share := range w.shares {
		if w.held[i]/w.n < 0.9 || i > 0 && w.widths[i] > w.widths[i-1] {
			t.Errorf("%v done: %.2f held, width %.2f", share, w.held[i]/w.n, w.widths[i]/w.n)
		}
	}
}

var journals = flag.String("journals", "", "journals with whole runs that TestRunsOnTheWay follows, a pattern")

// TestRunsOnTheWay shows the same of the whole runs in journals, and asserts
// nothing.
func TestRunsOnTheWay(t *testing.T) {
	if *journals == "" {
		t.Skip("needs journals: run with go test -run TestRunsOnTheWay -v ./allox-est/follow -journals PATTERN")
	}
	paths, err := filepath.Glob(*journals)
	if err != nil {
		t.Fatal(err)
	}
	w := newOnTheWay()
	for _, path := range paths {
		j, err := journal.Read(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range j.Runs {
			if r.Kind == journal.Full && !r.Failed() && len(r.Laps) == r.Epochs+2 {
				ends := floats.CumSum(make([]float64, r.Epochs+1), r.Laps[:r.Epochs+1])
				floats.AddConst(r.Before, ends)
				w.take(t, ends[1:])
			}
		}
	}
	w.show(t)
}

// A run that goes on from a sample knows the sample's epochs from its first one.
func TestResume(t *testing.T) {
	tr := Resume(20, 5, []float64{1, 1, 1, 1, 1})
	u, err := tr.Mark(3 * time.Second) // two of them set-up
	if err != nil || u.Done != 6 || u.Total == nil || u.Total.Value != 17 || u.Left.Value != 14 {
		t.Errorf("%+v, total %+v, left %+v, %v", u, u.Total, u.Left, err)
	}
}

// Reports mark the epochs that are new in each, whenever they are printed; the
// set-up and the teardown are none.
func TestReports(t *testing.T) {
	var r Reports
	at := func(seconds float64) time.Duration { return time.Duration(seconds * float64(time.Second)) }
	for _, tt := range []struct {
		at   float64
		laps []float64
		want []time.Duration
	}{
		{5, []float64{5}, nil},
		{6, []float64{5, 1}, []time.Duration{at(6)}},
		{6.5, []float64{5, 1}, nil},
		{9, []float64{5, 1, 2, 1}, []time.Duration{at(8), at(9)}},
		{13, []float64{5, 1, 2, 1, 3, 1}, []time.Duration{at(12)}},
	} {
		if got := r.Ended(at(tt.at), tt.laps, 4); !slices.Equal(got, tt.want) {
			t.Errorf("%v at %v: %v, want %v", tt.laps, tt.at, got, tt.want)
		}
	}
}
