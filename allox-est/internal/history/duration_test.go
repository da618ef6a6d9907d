package history

import (
	"math"
	"testing"
)

func TestDuration(t *testing.T) {
	past := func(seconds ...float64) *Past {
		p := &Past{}
		for _, s := range seconds {
			p.Runs = append(p.Runs, Run{Seconds: s})
		}
		return p
	}
	if _, ok := past().Duration(0, 0, 0.95); ok {
		t.Error("a past of no runs predicts")
	}
	one, ok := past(100).Duration(0, 0, 0.95)
	if !ok || math.Abs(one.Value-100) > 1e-6 || one.High < 160 || one.High > 220 || math.Abs(one.Low*one.High-1e4) > 1 {
		t.Errorf("after one run %+v", one)
	}
	ten, _ := past(100, 101, 99, 100, 102, 98, 100, 100, 101, 99).Duration(0, 0, 0.95)
	if ten.Width() > one.Width()/2 || !ten.Contains(100) {
		t.Errorf("after ten runs %+v, after one %+v", ten, one)
	}
	late, ok := past(100).Duration(120, 0, 0.95)
	if !ok || late.Low < 120 || late.Value <= 120 || late.High < one.High {
		t.Errorf("after 120 s of about 100: %+v", late)
	}
	longer := past(100)
	longer.Runs[0].Units = 50
	if _, ok := longer.Duration(0, 100, 0.95); ok {
		t.Error("a run of another length predicts")
	}
	elsewhere := past(100)
	elsewhere.Runs[0].OtherMachine = true
	if _, ok := elsewhere.Duration(0, 0, 0.95); ok {
		t.Error("a run on another machine predicts")
	}
	if d, ok := past(100, 100, 100, 100, 100, 100).Duration(1000, 0, 0.95); ok {
		t.Errorf("after ten times the past: %+v", d)
	}
}
