package httpapi

import (
	"fmt"
	"testing"
	"time"

	"github.com/foretime/foretime/edgeprof/internal/placement"
	"github.com/foretime/foretime/shared/uncertainty"
)

// A prediction has one outcome, within a day; the oldest go when there are too many.
func TestLedger(t *testing.T) {
	now := time.Date(2026, 11, 23, 6, 0, 0, 0, time.UTC)
	one := func(node string, value float64) placement.Candidate {
		return placement.Candidate{Node: node, Seconds: uncertainty.Prediction{Value: value, Low: value / 2, High: value * 2, Level: 0.9}, Width: 3}
	}
	var l ledger
	a, b := one("a", 1), one("b", 1)
	open := one("open", 1)
	open.Seconds = uncertainty.Point(1)
	l.add(now, []placement.Candidate{a, b, open})
	l.add(now, []placement.Candidate{a})
	for i, c := range []struct {
		of    placement.Candidate
		after time.Duration
		want  bool
	}{{a, 0, true}, {a, openFor, true}, {a, 0, false}, {b, openFor + 1, false}, {b, 0, false}, {open, 0, false}, {one("a", 2), 0, false}, {placement.Candidate{}, 0, false}} {
		factor, ok := l.settle(now.Add(c.after), madeOf(&c.of))
		if ok != c.want || ok && factor != 3 {
			t.Errorf("%d: %v %v, want %v", i, ok, factor, c.want)
		}
	}
	l.add(now, []placement.Candidate{a})
	l.add(now.Add(openFor), []placement.Candidate{a})
	if _, ok := l.settle(now.Add(openFor), madeOf(&a)); !ok {
		t.Error("the newer of two has no outcome")
	}
	if _, ok := l.settle(now.Add(openFor+1), madeOf(&a)); ok {
		t.Error("the older of two has one, a day later")
	}
	l = ledger{}
	for i := range maxOpen + 10 {
		l.add(now, []placement.Candidate{one(fmt.Sprint(i), 1)})
	}
	for i, want := range map[int]bool{9: false, 10: true, maxOpen: true, maxOpen + 9: true} {
		c := one(fmt.Sprint(i), 1)
		if _, ok := l.settle(now, madeOf(&c)); ok != want {
			t.Errorf("the prediction number %d is open: %v, want %v", i, ok, want)
		}
	}
	if len(l.order) != maxOpen || len(l.open) != maxOpen-3 {
		t.Errorf("%d in order, %d open", len(l.order), len(l.open))
	}
}
