package forecast

import "testing"

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
