package trial

import (
	"errors"
	"testing"
	"time"

	"github.com/foretime/foretime/deft/experiment"
	"github.com/foretime/foretime/deft/supervisor"
)

func TestVigil(t *testing.T) {
	models := []experiment.Model{{OutputName: "A"}, {OutputName: "B", SleepTime: time.Minute}}
	v := newVigil(models, []string{"a", "b"}, 10*time.Second)
	begin := time.Now()
	look := func(seconds int, totals ...supervisor.Totals) (int, error) {
		return v.look(begin.Add(time.Duration(seconds)*time.Second), totals)
	}
	a := func(launches int) supervisor.Totals { return supervisor.Totals{Name: "a", Launches: launches} }
	b := supervisor.Totals{Name: "b", Jobs: 3}
	steps := []struct {
		at     int
		totals []supervisor.Totals
		quiet  int
	}{
		{0, []supervisor.Totals{a(1), b}, -1},
		{9, []supervisor.Totals{a(1), b}, -1},
		{10, []supervisor.Totals{a(2), b}, -1}, // it goes on
		{20, []supervisor.Totals{a(1), a(1), b}, -1},
		{21, []supervisor.Totals{a(2), b}, 0},
		{22, []supervisor.Totals{b}, -1}, // not seen by the hook
		{69, []supervisor.Totals{b}, -1}, // within its pause
		{71, []supervisor.Totals{b}, 1},
	}
	for _, s := range steps {
		quiet, err := look(s.at, s.totals...)
		if quiet != s.quiet || (quiet >= 0) != errors.Is(err, ErrQuiet) {
			t.Errorf("at %d s: model %d, %v, want %d", s.at, quiet, err, s.quiet)
		}
	}
}
