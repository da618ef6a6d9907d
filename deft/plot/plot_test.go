package plot

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foretime/foretime/deft/jct"
	"github.com/foretime/foretime/deft/report"
	"github.com/foretime/foretime/deft/sweep"
	"github.com/foretime/foretime/deft/trial"
	"github.com/foretime/foretime/shared/chart"
)

func logs() []Named {
	a := &jct.Log{Jobs: []jct.Job{{StartNs: 2e9, EndNs: 3e9, Ms: 1000}, {StartNs: 3e9, EndNs: 5e9, Ms: 2000}}}
	b := &jct.Log{Jobs: []jct.Job{{StartNs: 1e9, EndNs: 1.5e9, Ms: 500}}}
	return []Named{{"A", a}, {"B", b}}
}

// The points are those of Deft's figure: end since the first start, and JCT.
func TestTimeSeries(t *testing.T) {
	want := []chart.Series{{Name: "A", X: []float64{2, 4}, Y: []float64{1000, 2000}}, {Name: "B", X: []float64{0.5}, Y: []float64{500}}}
	if diff := cmp.Diff(want, TimeSeries("jobs", logs()).Series); diff != "" {
		t.Error(diff)
	}
}

func points() *sweep.Sweep {
	m := func(mean float64) report.Model { return report.Model{Output: "x", JCT: jct.Summary{Mean: mean}} }
	return &sweep.Sweep{
		Alone: []report.Model{m(40), m(5)},
		Points: []sweep.Point{
			{Sync: 1, Models: []report.Model{m(60), m(5)}},
			{Sync: 1000000, Models: []report.Model{m(40), m(35)}},
		},
	}
}

func TestIntervals(t *testing.T) {
	if diff := cmp.Diff([]float64{60, 40}, Intervals(points(), JCT).Series[0].Y); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]float64{0, 6}, Intervals(points(), Inflation).Series[1].Y); diff != "" {
		t.Error(diff)
	}
	c, err := Scatter(points(), 0, 1, Inflation)
	if err != nil || c.Series[0].X[0] != 0.5 || c.Series[0].Y[0] != 0 || c.Series[1].Y[0] != 6 {
		t.Errorf("%+v %v", c, err)
	}
	if _, err := Scatter(points(), 0, 2, JCT); err == nil {
		t.Error("no error")
	}
}

func TestQueue(t *testing.T) {
	c := Queue([]trial.Depth{{AtMS: 1, Model: "A", InFlight: 5}, {AtMS: 2, Model: "B", InFlight: 1}, {AtMS: 1500, Model: "A", InFlight: 6}})
	want := []chart.Series{{Name: "A", X: []float64{0.001, 1.5}, Y: []float64{5, 6}}, {Name: "B", X: []float64{0.002}, Y: []float64{1}}}
	if diff := cmp.Diff(want, c.Series); diff != "" {
		t.Error(diff)
	}
}

func TestDrawn(t *testing.T) {
	scatter, err := Scatter(points(), 0, 1, JCT)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]chart.Chart{
		"series": TimeSeries("jobs", logs()), "cdf": CDF("jobs", logs()), "jct": Intervals(points(), JCT),
		"inflation": Intervals(points(), Inflation), "scatter": scatter,
		"queue": Queue([]trial.Depth{{AtMS: 1, Model: "A", InFlight: 5}}),
	} {
		var b bytes.Buffer
		if err := chart.SVG(&b, c); err != nil || b.Len() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, c := range map[string]chart.Chart{"series": TimeSeries("none", nil), "cdf": CDF("none", nil), "queue": Queue(nil)} {
		if err := chart.SVG(&bytes.Buffer{}, c); !errors.Is(err, chart.ErrEmpty) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
