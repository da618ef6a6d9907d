package forecast

import (
	"strings"
	"testing"
	"time"

	"github.com/foretime/foretime/mirage/internal/wait"
	"github.com/foretime/foretime/shared/stats"
)

// TestCompare: a shape is printed if it gains ten minutes and a tenth of the wait in four
// of five futures, with the gain that four of five reach.
func TestCompare(t *testing.T) {
	hours := func(all ...float64) (seconds []float64) {
		for _, h := range all {
			seconds = append(seconds, h*3600)
		}
		return seconds
	}
	for name, tt := range map[string]struct {
		job, other []float64
		want       float64 // hours; 0 is no line
	}{
		"all futures":         {hours(5, 5, 5, 5, 5), hours(1, 2, 3, 3, 3), 2},
		"four of five":        {hours(5, 5, 5, 5, 5), hours(1, 1, 1, 1, 9), 4},
		"three of five":       {hours(5, 5, 5, 5, 5), hours(1, 1, 1, 5, 5), 0},
		"under a tenth":       {hours(9, 9, 9, 9, 9), hours(8.2, 8.2, 8.2, 8.2, 8.2), 0},
		"under ten minutes":   {hours(.2, .2, .2, .2, .2), hours(.1, .1, .1, .1, .1), 0},
		"never starts":        {hours(5, 5, 5, 5, 5), nil, 0},
		"no wait":             {hours(0, 0, 0, 0, 0), hours(0, 0, 0, 0, 0), 0},
		"gain of ten minutes": {hours(.5, .5, .5, .5, .5), hours(.25, .25, .25, .25, .25), .25},
	} {
		a := &Answer{}
		if err := a.compare(tt.job, []shape{{name: name}}, func(shape) ([]float64, error) { return tt.other, nil }); err != nil {
			t.Fatal(err)
		}
		got := 0.
		if len(a.Alternatives) > 0 {
			got = a.Alternatives[0].EarlierHours
		}
		if got < tt.want-.01 || got > tt.want+.01 {
			t.Errorf("%s: %v h earlier, want %v", name, got, tt.want)
		}
	}
}

// TestStatedChances: with an open end, neither a probability nor a curve and lead is stated.
func TestStatedChances(t *testing.T) {
	samples := wait.FromSamples(0.8, stats.Sort([]float64{0, 60, 600}))
	for name, tt := range map[string]struct {
		d      wait.Distribution
		unread []string
		states bool
		note   string
	}{
		"all is read":     {samples, nil, true, ""},
		"open end":        {samples, []string{"reservations"}, false, "no upper end"},
		"only the median": {wait.Distribution{Value: 60, Level: 0.8}, nil, false, ""},
	} {
		a := &Answer{Unread: tt.unread}
		if err := a.addQuantiles(Question{By: "now+1hour", Overlap: 1}, tt.d, time.UTC, 1772452800); err != nil {
			t.Fatal(err)
		}
		notes := strings.Join(a.Notes, "; ")
		if (a.Chance != nil) != tt.states || (a.Handover != nil) != tt.states || (notes != "") != (tt.note != "") || !strings.Contains(notes, tt.note) {
			t.Errorf("%s: chance %v, handover %v, notes %q", name, a.Chance, a.Handover, notes)
		}
	}
}
