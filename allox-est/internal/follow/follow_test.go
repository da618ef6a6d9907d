package follow

import (
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"gonum.org/v1/gonum/floats"

	"github.com/foretime/foretime/allox-est/internal/backtest"
	"github.com/foretime/foretime/allox-est/internal/estimate"
	"github.com/foretime/foretime/allox-est/internal/journal"
	"github.com/foretime/foretime/allox-est/internal/progress"
)

// ends are marks of units that end at the given times, in seconds.
func ends(of int, seconds ...float64) []progress.Mark {
	var marks []progress.Mark
	for i, at := range seconds {
		marks = append(marks, progress.Mark{Number: float64(i + 1), Of: float64(of), Seconds: at})
	}
	return marks
}

func TestTracker(t *testing.T) {
	tr := Tracker{Job: estimate.Job{Epochs: 10}}
	var u Update
	for n := 3; n <= 10; n++ {
		var more bool
		var err error
		tr.Ended = n == 10
		marks := ends(10, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10)[2:n]
		if u, more, err = tr.Estimate(marks); err != nil || !more {
			t.Fatal(more, err)
		}
		if (u.Total == nil) != (n < 6) {
			t.Errorf("epoch %v: %+v", u.Done, u)
		}
		if _, more, _ := tr.Estimate(marks); more {
			t.Errorf("epoch %v: news of the same marks", u.Done)
		}
	}
	if u.Done != 10 || u.Total.Value != 10 || u.Left.Value != 0 || u.Total.Low != 10 || u.Drifted {
		t.Errorf("at the end: %+v, %+v", u, u.Total)
	}
	if _, _, err := tr.Estimate([]progress.Mark{{Number: 1, Seconds: 25}, {Number: 11, Seconds: 24}}); !errors.Is(err, estimate.ErrBadRun) {
		t.Errorf("back in time: %v", err)
	}
}

// Within the first unit there is a value, but no interval: an evaluation at its end is not known.
func TestTrackerFirstUnit(t *testing.T) {
	var marks []progress.Mark
	for i := 1; i <= 12; i++ {
		marks = append(marks, progress.Mark{Number: float64(i) / 10, Of: 20, Seconds: float64(i) / 5})
	}
	for n := 5; n <= len(marks); n++ {
		tr := Tracker{Job: estimate.Job{Epochs: 20}}
		u, _, err := tr.Estimate(marks[:n])
		if err != nil || u.Total == nil || (u.Refused == ErrWithinFirst.Error()) != (n < 10) {
			t.Errorf("epoch %v: %+v, %v", u.Done, u, err)
		}
	}
}

// A run that slows down for good leaves the first interval, and says so.
func TestTrackerDrifts(t *testing.T) {
	tr, at := Tracker{Job: estimate.Job{Epochs: 100}}, []float64{0}
	for i := range 60 {
		step := 1.0
		if i > 10 {
			step = 2
		}
		at = append(at, at[i]+step)
		u, _, err := tr.Estimate(ends(100, at[1:]...))
		if err != nil {
			t.Fatal(err)
		}
		if i == 10 && u.Drifted || i == 59 && !u.Drifted {
			t.Errorf("epoch %v: %+v of %+v", u.Done, u.Total, tr.first)
		}
	}
}

func TestLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "train.log")
	if err := os.WriteFile(path, []byte("start\nEpoch 1/5: 0.5\nEpoch 1/5: 0.5\nEpoch 2/5: 0.5\n"), 0o600); err != nil {
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
	log := func() Log { return Log{Path: path, Reader: &progress.Reader{Units: 5}, Every: time.Millisecond} }
	var seen []float64
	err := log().Read(t.Context(), func(s State) error {
		marks := s.Marks
		if s.Old != 2 {
			t.Errorf("%v done before", s.Old)
		}
		if len(marks) == 0 {
			write("Epoch 3/5: 0.5\r\nEpo")
			return nil
		}
		seen = append(seen, marks[len(marks)-1].Number)
		switch len(seen) {
		case 1:
			write("ch 4/5: 0.5\rnothing\n")
		case 2:
			write("Epoch 5/5: 0.5\n")
		case 3:
			return io.EOF
		}
		return nil
	})
	if err != nil || !slices.Equal(seen, []float64{3, 4, 5}) {
		t.Errorf("%v seen: %v", seen, err)
	}
	ctx, stop := context.WithCancel(t.Context())
	if err := log().Read(ctx, func(State) error { stop(); return nil }); !errors.Is(err, context.Canceled) {
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
func (w *onTheWay) take(t *testing.T, at []float64) {
	t.Helper()
	w.n++
	whole, next := at[len(at)-1], 0
	tr := Tracker{Job: estimate.Job{Epochs: len(at)}, Ended: true}
	for i := range at {
		if next == len(w.shares) || float64(i+1) < w.shares[next]*float64(len(at)) {
			continue
		}
		u, _, err := tr.Estimate(ends(len(at), at[:i+1]...))
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
		all, _, err := backtest.Load(filepath.Join(data, filepath.FromSlash(path)), "series", []string{value})
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
		t.Skip("needs journals: run with go test -run TestRunsOnTheWay -v ./allox-est/internal/follow -journals PATTERN")
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
			if r.Kind == journal.Full && !r.HasFailed() && len(r.Laps) == r.Epochs+2 {
				ends := floats.CumSum(make([]float64, r.Epochs+1), r.Laps[:r.Epochs+1])
				floats.AddConst(r.Before, ends)
				w.take(t, ends[1:])
			}
		}
	}
	w.show(t)
}
