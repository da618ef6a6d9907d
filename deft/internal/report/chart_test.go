package report

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foretime/foretime/shared/chart"
)

func logs() []*Log {
	a := &Log{Name: "A", Jobs: []Job{{StartNs: 2e9, EndNs: 3e9, Ms: 1000}, {StartNs: 3e9, EndNs: 5e9, Ms: 2000}}}
	b := &Log{Name: "B", Jobs: []Job{{StartNs: 1e9, EndNs: 1.5e9, Ms: 500}}}
	return []*Log{a, b}
}

// The points are those of Deft's figure: end since the first start, and JCT.
func TestTimeSeries(t *testing.T) {
	want := []chart.Series{{Name: "A", X: []float64{2, 4}, Y: []float64{1000, 2000}}, {Name: "B", X: []float64{0.5}, Y: []float64{500}}}
	if diff := cmp.Diff(want, TimeSeries(logs()).Series); diff != "" {
		t.Error(diff)
	}
}

func TestDrawn(t *testing.T) {
	var b bytes.Buffer
	if err := chart.SVG(&b, TimeSeries(logs())); err != nil || b.Len() == 0 {
		t.Error(err)
	}
	if err := chart.SVG(&bytes.Buffer{}, TimeSeries(nil)); !errors.Is(err, chart.ErrEmpty) {
		t.Error(err)
	}
}
