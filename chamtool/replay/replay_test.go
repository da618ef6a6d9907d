package replay_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/foretime/foretime/chamtool/replay"
	"github.com/foretime/foretime/chamtool/tasklog"
)

func log(t *testing.T, text string) *tasklog.Log {
	t.Helper()
	l, err := tasklog.Read(strings.NewReader(text), "log", tasklog.FormatMXM)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// A log of two sizes is predicted from the tenth run on, and each log is a
// rank that learns by itself.
func TestRun(t *testing.T) {
	var b strings.Builder
	for i := range 500 {
		fmt.Fprintf(&b, "%d\t%d\t0\t%.6f\t0\n", i, 1000*(1+i%2), 0.001*float64(1+i%2))
	}
	l := log(t, b.String())
	now := time.Unix(0, 0)
	clock := func() time.Time { now = now.Add(1500 * time.Microsecond); return now }
	r, err := replay.Run(t.Context(), []*tasklog.Log{l, l}, replay.Options{Now: clock})
	if err != nil {
		t.Fatal(err)
	}
	if r.Tasks != 1000 || r.Test != 980 || r.Train != 20 || *r.MAPE > 0.5 || r.Unseen.Test != 0 {
		t.Errorf("%+v", r)
	}
	if r.NsPerEvent != 1500 { // 1.5 ms for 1000 events
		t.Errorf("%v ns an event", r.NsPerEvent)
	}
	if last := r.Curve[len(r.Curve)-1]; last.To != 500 || r.Curve[0].Test != 80 {
		t.Errorf("curve %+v", r.Curve)
	}
}

func TestNoRuns(t *testing.T) {
	l := log(t, "1.5\t0\n")
	if _, err := replay.Run(t.Context(), []*tasklog.Log{l}, replay.Options{Now: time.Now}); !errors.Is(err, replay.ErrNoRuns) {
		t.Error(err)
	}
}
