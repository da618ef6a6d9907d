package journal

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foretime/foretime/allox-est/internal/progress"
)

// A line gives the units done and when, in seconds since the start.
func TestTimeline(t *testing.T) {
	m := func(number, of, at float64) progress.Mark { return progress.Mark{Number: number, Of: of, Seconds: at} }
	for _, tt := range []struct {
		name string
		line string
		want []progress.Mark
	}{
		{"report", `{"job":"a","epochs":2,"before_seconds":0.5,"laps":[1,2,3,0.25]}`, []progress.Mark{m(0, 2, 1.5), m(1, 2, 3.5), m(2, 2, 6.5)}},
		{"lines at the starts", `{"job":"a","epochs":2,"laps":[1,2,3]}`, []progress.Mark{m(0, 2, 1), m(1, 2, 3)}},
		{"marks", `{"job":"a","epochs":4,"laps":[1,2,0.5],"marks":[{"number":1.5,"of":4,"seconds":1},{"number":4,"of":4,"seconds":3}]}`,
			[]progress.Mark{m(1.5, 4, 1), {Number: 4, Of: 4, Seconds: 3}}},
		{"nothing told", `{"job":"a","epochs":4}`, nil},
	} {
		run, err := parse([]byte(tt.line))
		if err != nil {
			t.Fatal(err)
		}
		got := run.Timeline()
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s: %s", tt.name, d)
		}
		if len(run.Laps) > 0 && len(got)+1 != len(run.Laps) {
			t.Errorf("%s: %d marks of %d laps", tt.name, len(got), len(run.Laps))
		}
	}
	if laps := progress.Laps([]progress.Mark{m(1, 4, 1), m(2, 4, 3.5), m(3, 4, 9)}, 4); !cmp.Equal(laps, []float64{1, 2.5, 0.5, 0}) {
		t.Error(laps)
	}
}
