package lengths

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// spreadMass returns the probability of each use by giving what a running one would have to
// those behind it in equal parts (Efron, 1967), and what is left behind the last.
func spreadMass(u Uses) (mass []float64, left float64) {
	mass = make([]float64, len(u))
	for i := range mass {
		mass[i] = 1 / float64(len(u))
	}
	for i, o := range u {
		if !o.Running {
			continue
		}
		for k := i + 1; k < len(u); k++ {
			mass[k] += mass[i] / float64(len(u)-i-1)
		}
		if i == len(u)-1 {
			left = mass[i]
		}
		mass[i] = 0
	}
	return mass, left
}

// drawUses returns sorted uses with equal shares and shares beyond the limit.
func drawUses(rng *rand.Rand, n int) Uses {
	u := make(Uses, n)
	for i := range u {
		u[i] = Use{float64(rng.IntN(9)) / 6, rng.IntN(3) == 0}
	}
	u.Sort()
	return u
}

// Quantiles and means of random uses follow from their probabilities.
func TestUsesAgainstMass(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		u := drawUses(rng, rng.IntN(9))
		for i := 1; i < len(u); i++ {
			if a, b := u[i-1], u[i]; a.Share > b.Share || a.Share == b.Share && a.Running && !b.Running {
				t.Fatalf("out of order: %v", u)
			}
		}
		mass, left := spreadMass(u)
		if len(u) == 0 {
			left = 1
		}
		p := rng.Float64()
		sum, want, last := 0.0, -1.0, 0.0
		for i, o := range u {
			last = o.Share
			if sum += mass[i]; want < 0 && mass[i] > 0 && sum > p {
				want = o.Share
			}
		}
		share, beyond, open := u.Quantile(p)
		switch {
		case want >= 0 && (open || share != want || beyond != 0):
			t.Fatalf("quantile %v of %v: %v, %v, %v; want %v", p, u, share, beyond, open, want)
		case want < 0 && (!open || share != last || math.Abs(beyond-(p-(1-left))/left) > 1e-9):
			t.Fatalf("quantile %v of %v: %v, %v, %v; want beyond %v", p, u, share, beyond, open, last)
		}
		mean := left
		for i, o := range u {
			mean += mass[i] * min(o.Share, 1)
		}
		if got := u.mean(); math.Abs(got-mean) > 1e-12 {
			t.Fatalf("mean of %v: %v, want %v", u, got, mean)
		}
		n, sums, squares, ended := 5.0, 5*.3, 5*(.39*.39+.3*.3), 0
		for _, o := range u {
			n++
			sums += min(o.Share, 1)
			squares += math.Pow(min(o.Share, 1), 2)
			if !o.Running {
				ended++
			}
		}
		average := sums / n
		se := math.Sqrt((squares/n-average*average)/float64(1+ended)) / average
		if got := u.StandardError(); math.Abs(got-se) > 1e-12 {
			t.Fatalf("standard error of %v: %v, want %v", u, got, se)
		}
	}
	many := make(Uses, 40) // more than 30 that ended count as 30
	if got, want := many.StandardError(), 45./1.5*math.Sqrt((5*(.39*.39+.09)/45-math.Pow(1.5/45, 2))/31); math.Abs(got-want) > 1e-12 {
		t.Errorf("standard error of 40: %v, want %v", got, want)
	}
}

// Merged lists are those sorted together, and places in them are the first
// at a share or behind it.
func TestListsInOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 1000 {
		a, b := drawUses(rng, rng.IntN(5)), drawUses(rng, rng.IntN(5))
		want := slices.Concat(a, b)
		want.Sort()
		if got := Merge(nil, a, b); !slices.Equal(got, want) {
			t.Fatalf("%v and %v: %v", a, b, got)
		}
		share := float64(rng.IntN(9)) / 6
		at, above := 0, 0
		for _, o := range want {
			if o.Share < share {
				at++
			}
			if share == 0 || o.Share > share {
				above++
			}
		}
		if got := want.Find(share); got != at {
			t.Fatalf("%v in %v at %d, want %d", share, want, got, at)
		}
		if got := want.above(share); len(got) != above || above > 0 && got[above-1] != want[len(want)-1] {
			t.Fatalf("%v above %v: %v", want, share, got)
		}
	}
}

// With five of a kind a draw from one half up asks for the next wider one; the
// widest is asked at last.
func TestKindsByHand(t *testing.T) {
	equal := func(n int, share float64) Uses {
		u := make(Uses, n)
		for i := range u {
			u[i].Share = share
		}
		return u
	}
	of := func(shape, user, all int) Kinds {
		return func(kind int) Uses {
			return []Uses{equal(shape, .1), equal(user, .2), equal(all, .3)}[kind]
		}
	}
	for _, tt := range []struct {
		k           Kinds
		which, want float64
	}{
		{of(5, 5, 5), .4999, .1}, {of(5, 5, 5), .5, .3}, {of(5, 6, 5), .5, .2}, {of(6, 6, 5), .5, .1},
		{of(0, 0, 5), 0, .3}, {of(0, 1, 5), 0, .2}, {of(0, 1, 5), 1. / 6, .3}, {of(15, 0, 1), .7499, .1}, {of(15, 0, 1), .75, .3},
		{of(0, 0, 0), 0, 1},
	} {
		if got := tt.k.Share(0, tt.which, .5); got != tt.want {
			t.Errorf("which %v: %v, want %v", tt.which, got, tt.want)
		}
		if got := tt.k.among(0, tt.which); len(got) > 0 && got[0].Share != tt.want {
			t.Errorf("which %v: among %v, want %v", tt.which, got, tt.want)
		}
	}
	if got := of(6, 0, 0).Mean(); math.Abs(got-.1) > 1e-12 {
		t.Errorf("mean %v, want 0.1", got)
	}
	if got := of(5, 5, 1).Mean(); math.Abs(got-.3) > 1e-12 {
		t.Errorf("mean %v, want 0.3", got)
	}
	if got := of(0, 0, 0).Mean(); got != .4 {
		t.Errorf("mean of none %v, want 0.4", got)
	}
	zero := Kinds(func(int) Uses { return equal(6, 0) })
	if got := zero.Mean(); got != 0 {
		t.Errorf("the mean of jobs that ended at once is %v", got)
	}
	// Of two one ended by 0.1 and one runs since 0.2: the quantile 0.75 is the median of the
	// next kind's beyond 0.2.
	k := Kinds(func(kind int) Uses {
		return []Uses{{{.1, false}, {.2, true}}, {{.15, false}, {.5, false}, {.6, false}}, nil}[kind]
	})
	if got := k.Share(0, 0, .75); got != .6 {
		t.Errorf("share %v, want 0.6", got)
	}
}

// The share of the remaining time at quantile q is q to the power 3/2; its mean is two fifths.
func TestUsualDistribution(t *testing.T) {
	sum := 0.0
	for i := range 1000 {
		u := (float64(i) + .5) / 1000
		sum += Unknown(0, u) / 1000
		if got, want := Unknown(.25, u), .25+.75*u*math.Sqrt(u); math.Abs(got-want) > 1e-12 {
			t.Fatalf("quantile %v: %v, want %v", u, got, want)
		}
	}
	if math.Abs(sum-.4) > 1e-6 {
		t.Errorf("mean %v, want 0.4", sum)
	}
	for _, tt := range []struct {
		ended int
		which float64
		want  bool
	}{
		{0, 0, false}, {1, 0, true}, {1, 1. / 6, false}, {1, .1666, true}, {5, .4999, true}, {5, .5, false}, {29, .852, true}, {29, .853, false}, {30, .9999, true},
	} {
		if got := Known(tt.ended, tt.which); got != tt.want {
			t.Errorf("%d ended, %v: %v", tt.ended, tt.which, got)
		}
	}
}
