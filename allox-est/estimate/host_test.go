package estimate

import (
	"math"
	"testing"

	"github.com/foretime/foretime/allox-est/journal"
	"github.com/foretime/foretime/allox-est/yardstick"
)

// A short past tells nothing of a virtual machine, a long one counts beside the
// belief, by as many runs as those that follow each other are worth; a machine that
// is none is believed nothing of.
func TestHostOf(t *testing.T) {
	past := func(runs int, lasting float64) *yardstick.Past {
		return &yardstick.Past{Runs: runs, Seconds: 1, SD: 0.3, Lasting: lasting}
	}
	for name, c := range map[string]struct {
		run  journal.Run
		want prior
	}{
		"bare, new":      {journal.Run{}, prior{}},
		"bare, short":    {journal.Run{Past: past(7, 0)}, prior{}},
		"bare, long":     {journal.Run{Past: past(8, 0)}, prior{sd: 0.3, df: 7}},
		"virtual, new":   {journal.Run{Virtual: true}, virtualMachine},
		"virtual, short": {journal.Run{Virtual: true, Past: past(7, 0)}, virtualMachine},
		"virtual, long":  {journal.Run{Virtual: true, Past: past(8, 0)}, prior{sd: math.Sqrt((3*0.0225 + 7*0.09) / 10), df: 10}},
		"virtual, slow":  {journal.Run{Virtual: true, Past: past(8, 0.75)}, prior{sd: math.Sqrt((3*0.0225 + 0.09) / 4), df: 4}},
	} {
		if got := hostOf([]journal.Run{c.run}).spread; math.Abs(got.sd-c.want.sd) > 1e-12 || math.Abs(got.df-c.want.df) > 1e-12 {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

func TestFollows(t *testing.T) {
	for _, c := range []struct {
		p       response
		virtual bool
		want    float64
	}{
		{response{sensitivity: 0.8, doubt: 0.6}, false, 0.8},
		{response{sensitivity: 0.8, doubt: 0.6}, true, 1},
		{response{sensitivity: 0.1, doubt: 0.1}, true, sensitivityPrior},
		{response{useless: true}, true, sensitivityPrior},
		{response{useless: true}, false, 0},
		{olderResponse, true, 0},
	} {
		if got := c.p.follows(host{virtual: c.virtual}); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%+v, virtual %v: %v, want %v", c.p, c.virtual, got, c.want)
		}
	}
}
