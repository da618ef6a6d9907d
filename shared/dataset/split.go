package dataset

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Split divides row numbers, counted from 0, into those to learn from and
// those to judge by. Each side is in ascending order.
type Split struct {
	Train, Test []int
	// Embargoed rows belong to neither side (TimeSplit only).
	Embargoed []int
}

// RandomSplit puts round(share*n) of n rows, at least one, into the test side
// by a draw from the seed. It returns ErrTooFewRows where a side would be
// empty; share is in (0, 1).
func RandomSplit(n int, share float64, seed uint64) (Split, error) {
	test, err := testSize(n, share)
	if err != nil {
		return Split{}, err
	}
	order := draw(n, seed)
	s := Split{Train: order[test:], Test: order[:test]}
	slices.Sort(s.Train)
	slices.Sort(s.Test)
	return s, nil
}

// GroupSplit is RandomSplit that keeps the rows of a group (a job, a user, a
// model) on one side: it draws whole groups until the test side has the share
// of the groups. groups[i] is the group of row i.
func GroupSplit[G cmp.Ordered](groups []G, share float64, seed uint64) (Split, error) {
	distinct := slices.Compact(slices.Sorted(slices.Values(groups)))
	test, err := testSize(len(distinct), share)
	if err != nil {
		return Split{}, fmt.Errorf("groups: %w", err)
	}
	inTest := make(map[G]bool, test)
	for _, i := range draw(len(distinct), seed)[:test] {
		inTest[distinct[i]] = true
	}
	var s Split
	for i, g := range groups {
		if inTest[g] {
			s.Test = append(s.Test, i)
		} else {
			s.Train = append(s.Train, i)
		}
	}
	return s, nil
}

// TimeSplit puts the latest rows into the test side: the share of them, and
// every row of the same moment as the first of those. Rows less than embargo
// before that moment are on neither side, so that nothing that was still
// running then can be learned from. times and embargo have the same unit.
func TimeSplit(times []float64, share, embargo float64) (Split, error) {
	test, err := testSize(len(times), share)
	if err != nil {
		return Split{}, err
	}
	if slices.ContainsFunc(times, func(t float64) bool { return math.IsNaN(t) || math.IsInf(t, 0) }) {
		return Split{}, fmt.Errorf("times: %w", ErrNotFinite)
	}
	if !(embargo >= 0) {
		return Split{}, fmt.Errorf("embargo %v is below 0", embargo)
	}
	sorted := slices.Sorted(slices.Values(times))
	first := sorted[len(sorted)-test]
	var s Split
	for i, t := range times {
		switch {
		case t >= first:
			s.Test = append(s.Test, i)
		case first-t < embargo:
			s.Embargoed = append(s.Embargoed, i)
		default:
			s.Train = append(s.Train, i)
		}
	}
	if len(s.Train) == 0 {
		return Split{}, fmt.Errorf("nothing to learn from before time %v: %w", first, ErrTooFewRows)
	}
	return s, nil
}

func testSize(n int, share float64) (int, error) {
	if !(share > 0 && share < 1) {
		return 0, fmt.Errorf("test share %v is not between 0 and 1", share)
	}
	if n < 2 {
		return 0, fmt.Errorf("%d: %w", n, ErrTooFewRows)
	}
	return min(max(int(math.Round(share*float64(n))), 1), n-1), nil
}

func draw(n int, seed uint64) []int { return rand.New(rand.NewPCG(seed, 0)).Perm(n) }
