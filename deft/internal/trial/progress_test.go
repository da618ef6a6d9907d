package trial

import (
	"errors"
	"testing"
	"time"

	"github.com/foretime/foretime/deft/internal/experiment"
	"github.com/foretime/foretime/deft/internal/observer"
)

func TestVigil(t *testing.T) {
	models := []experiment.Model{{OutputName: "A"}, {OutputName: "B", SleepTime: time.Minute}}
	v := newProgressMonitor(models, []string{"a", "b"}, 10*time.Second)
	begin := time.Now()
	b := map[string]observer.Totals{"b": {Jobs: 3}}
	both := func(launches int) map[string]observer.Totals {
		return map[string]observer.Totals{"a": {Launches: launches}, "b": b["b"]}
	}
	steps := []struct {
		at     int
		totals map[string]observer.Totals
		quiet  int
	}{
		{0, both(1), -1},
		{9, both(1), -1},
		{10, both(2), -1}, // it goes on
		{20, both(2), -1},
		{21, both(2), 0},
		{22, b, -1}, // not seen by the hook
		{69, b, -1}, // within its pause
		{71, b, 1},
	}
	for _, s := range steps {
		quiet, err := v.findStalled(begin.Add(time.Duration(s.at)*time.Second), s.totals, func(int) bool { return true })
		if quiet != s.quiet || (quiet >= 0) != errors.Is(err, ErrQuiet) {
			t.Errorf("at %d s: model %d, %v, want %d", s.at, quiet, err, s.quiet)
		}
	}
}
