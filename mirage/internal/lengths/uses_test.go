package lengths

import (
	"math"
	"testing"
)

// TestUses holds the quantiles against the product-limit estimate by hand, with
// two of five still running: after .1 the share left is 4/5, after .4 (of three)
// 8/15, and .9 is the last and takes the rest.
func TestUses(t *testing.T) {
	u := Uses{{.1, false}, {.2, true}, {.4, false}, {.5, true}, {.9, false}}
	for p, want := range map[float64]float64{0: .1, .19: .1, .21: .4, .46: .4, .47: .9, .99: .9} {
		if got, _, open := u.Quantile(p); open || got != want {
			t.Errorf("quantile %v is %v, open %v, want %v", p, got, open, want)
		}
	}
	// Half ended by .2; of the other half, which exceeds .6, .7 is the quantile .4.
	if got, beyond, open := (Uses{{.2, false}, {.6, true}}).Quantile(.7); !open || got != .6 || math.Abs(beyond-.4) > 1e-12 {
		t.Errorf("beyond the last that ended: %v, %v, %v", got, beyond, open)
	}
	if got := len(u.above(.2)); got != 3 {
		t.Errorf("%d above .2, want 3", got)
	}
	if got, beyond, open := (Uses{}).Quantile(.5); !open || got != 0 || beyond != .5 {
		t.Errorf("of none: %v, %v, %v", got, beyond, open)
	}
}

// TestMean: of a job that used a quarter of its limit, one that used half and one
// that still runs at .5, the product-limit estimate lets 2/3 go beyond .25 and 1/3
// beyond .5, of which the running one is all and goes on to the limit.
func TestMean(t *testing.T) {
	u := Uses{{.25, false}, {.5, false}, {.5, true}}
	if got, want := u.mean(), .25+.25*2/3+.5/3; math.Abs(got-want) > 1e-12 {
		t.Errorf("%v, want %v", got, want)
	}
	if got := (Uses{}).mean(); got != 1 {
		t.Errorf("of none: %v, want the limit", got)
	}
}

// TestKinds: six jobs of a shape are asked before those of the user, five are not,
// and where nobody's are known the mean is the usual one.
func TestKinds(t *testing.T) {
	of := func(n int, share float64) (u Uses) {
		for range n {
			u = append(u, Use{Share: share})
		}
		return u
	}
	for shapes, want := range map[int]float64{6: .1, 5: .2, 0: .2} {
		k := Kinds(func(kind int) Uses { return []Uses{of(shapes, .1), of(9, .2), of(9, .3)}[kind] })
		if got := k.Share(0, .5, .5); got != want {
			t.Errorf("%d of the shape: %v, want %v", shapes, got, want)
		}
		if got := k.Mean(); math.Abs(got-want) > 1e-12 {
			t.Errorf("%d of the shape: mean %v, want %v", shapes, got, want)
		}
		if got := k.Share(.25, .5, .5); got != .3 {
			t.Errorf("beyond a quarter only anybody's: %v", got)
		}
	}
	// Nine of the shape have just started: only wider kinds know what is beyond .01.
	young := make(Uses, 9)
	for i := range young {
		young[i] = Use{Share: .01, Running: true}
	}
	k := Kinds(func(kind int) Uses {
		return []Uses{young, of(4, .001), Uses{{.005, false}, {.3, false}, {.7, false}}}[kind]
	})
	if low, high := k.Share(0, 0, .49), k.Share(0, 0, .51); low != .3 || high != .7 {
		t.Errorf("of jobs that have just started: %v and %v, want .3 and .7", low, high)
	}
	none := Kinds(func(int) Uses { return nil })
	if none.Share(.5, 0, .5) != 1 || none.Mean() != unknownMean {
		t.Errorf("of nobody: %v, %v", none.Share(.5, 0, .5), none.Mean())
	}
	if got := Unknown(.2, 1); got != 1 {
		t.Errorf("at most the limit, got %v", got)
	}
	if Known(0, 0) || !Known(OfKind, 1) || !Known(prior, .49) || Known(prior, .51) {
		t.Error("how many are enough")
	}
}

// TestError: of nobody the usual spread, 1.3 of the mean; of twenty that all used half
// their limit nearly none; of jobs that use all or nothing a standard deviation of
// their mean over the root of their number.
func TestError(t *testing.T) {
	of := func(n int, shares ...float64) (u Uses) {
		for i := range n {
			u = append(u, Use{Share: shares[i%len(shares)]})
		}
		return u
	}
	if got := (Uses{}).StandardError(); math.Abs(got-1.3) > 1e-9 {
		t.Errorf("of nobody: %v", got)
	}
	if even, wide := of(20, .5).StandardError(), of(20, 0, 1).StandardError(); even > .12 || wide < .2 || wide > .25 {
		t.Errorf("all alike %v, all or nothing %v", even, wide)
	}
	if many, more := of(30, 0, 1).StandardError(), of(1000, 0, 1).StandardError(); many < .9*more || many > 1.1*more {
		t.Errorf("%v of as many as tell, %v of more", many, more)
	}
	if got := len(of(9, 0).above(0)); got != 9 {
		t.Errorf("%d of 9 that used nothing tell of one that has not begun", got)
	}
}
