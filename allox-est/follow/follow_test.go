package follow

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/foretime/foretime/allox-est/backtest"
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
	err := Log(t.Context(), path, regexp.MustCompile(`Epoch (\d+)`), 5, time.Millisecond, func(n int) error {
		before = n
		write("Epoch 3/5\r\nEpo")
		return nil
	}, func(time.Duration) error {
		switch seen++; seen {
		case 1:
			write("ch 4/5\nnothing\n")
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
	if err := Log(t.Context(), path, regexp.MustCompile("x"), 5, time.Millisecond, cut, nil); !errors.Is(err, ErrEnded) {
		t.Errorf("a log that was cut: %v", err)
	}
	ctx, stop := context.WithCancel(t.Context())
	if err := Log(ctx, path, regexp.MustCompile("x"), 5, time.Millisecond, func(int) error { stop(); return nil }, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
}

// On measured series the interval holds the whole at every share of the way, and
// narrows.
func TestCoverageOnTheWay(t *testing.T) {
	data := os.Getenv("FORETIME_DATA")
	if data == "" {
		t.Skip("needs the data that FORETIME_DATA names")
	}
	shares := []float64{0.05, 0.1, 0.25, 0.5, 0.75}
	held, widths, n := make([]float64, len(shares)), make([]float64, len(shares)), 0.0
	for path, value := range map[string]string{"steps-pai/minibatch.csv": "batch_time_norm", "steps-azure/values.csv.gz": "value"} {
		all, _, err := backtest.Load(filepath.Join(data, filepath.FromSlash(path)), "series", value)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range all {
			n++
			whole, at := 0.0, time.Duration(0)
			for _, x := range s.Values {
				whole += x
			}
			tr, next := New(len(s.Values), 0), 0
			for i, x := range s.Values {
				at += time.Duration(x * float64(time.Millisecond))
				if err := tr.add(at.Seconds()); err != nil {
					t.Fatal(err)
				}
				if next < len(shares) && float64(i+1) >= shares[next]*float64(len(s.Values)) {
					u, err := tr.now()
					if err != nil {
						t.Fatal(err)
					}
					if u.Total.Contains(whole / 1000) {
						held[next]++
					}
					widths[next] += u.Total.Width() / (whole / 1000)
					next++
				}
			}
		}
	}
	for i, share := range shares {
		t.Logf("%2.0f %% done: %.0f %% held, mean width %.0f %%", 100*share, 100*held[i]/n, 100*widths[i]/n)
		if held[i]/n < 0.9 || i > 0 && widths[i] > widths[i-1] {
			t.Errorf("%v done: %.2f held, width %.2f", share, held[i]/n, widths[i]/n)
		}
	}
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
