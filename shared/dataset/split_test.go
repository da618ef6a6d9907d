package dataset

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// checkSplit recomputes what every split promises from its rows alone.
func checkSplit(t *rapid.T, s Split, n int) {
	all := slices.Concat(s.Train, s.Test, s.Embargoed)
	slices.Sort(all)
	for i := range all {
		if all[i] != i {
			t.Fatalf("rows are not each on one side: %v", s)
		}
	}
	if len(all) != n || len(s.Train) == 0 || len(s.Test) == 0 || !slices.IsSorted(s.Train) || !slices.IsSorted(s.Test) {
		t.Fatalf("%d rows: %v", n, s)
	}
}

func TestRandomSplit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, share, seed := rapid.IntRange(2, 50).Draw(t, "n"), rapid.Float64Range(0.01, 0.99).Draw(t, "share"), rapid.Uint64().Draw(t, "seed")
		s, err := RandomSplit(n, share, seed)
		if err != nil {
			t.Fatal(err)
		}
		checkSplit(t, s, n)
		if want := min(max(int(math.Round(share*float64(n))), 1), n-1); len(s.Test) != want {
			t.Fatalf("%d test rows, want %d", len(s.Test), want)
		}
		if again, _ := RandomSplit(n, share, seed); !cmp.Equal(s, again) {
			t.Fatal("the same seed gave another split")
		}
	})
	a, _ := RandomSplit(100, 0.5, 1)
	b, _ := RandomSplit(100, 0.5, 2)
	if cmp.Equal(a, b) {
		t.Error("two seeds gave one split")
	}
}

func TestGroupSplit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		groups := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "d"}), 1, 40).Draw(t, "groups")
		s, err := GroupSplit(groups, rapid.Float64Range(0.01, 0.99).Draw(t, "share"), rapid.Uint64().Draw(t, "seed"))
		if one := len(slices.Compact(slices.Sorted(slices.Values(groups)))) == 1; one || err != nil {
			if !one || !errors.Is(err, ErrTooFewRows) {
				t.Fatalf("%v: %v", groups, err)
			}
			return
		}
		checkSplit(t, s, len(groups))
		for _, i := range s.Train {
			for _, j := range s.Test {
				if groups[i] == groups[j] {
					t.Fatalf("group %s is on both sides", groups[i])
				}
			}
		}
	})
}

func TestTimeSplit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		times := rapid.SliceOfN(rapid.Float64Range(0, 10), 2, 40).Draw(t, "times")
		embargo := rapid.Float64Range(0, 5).Draw(t, "embargo")
		s, err := TimeSplit(times, rapid.Float64Range(0.01, 0.99).Draw(t, "share"), embargo)
		if errors.Is(err, ErrTooFewRows) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		checkSplit(t, s, len(times))
		first := math.Inf(1)
		for _, i := range s.Test {
			first = min(first, times[i])
		}
		for _, i := range s.Train {
			if times[i] >= first || first-times[i] < embargo {
				t.Fatalf("row at %v is learned from, test begins at %v, embargo %v", times[i], first, embargo)
			}
		}
		for _, i := range s.Embargoed {
			if times[i] >= first || first-times[i] >= embargo {
				t.Fatalf("row at %v is embargoed, test begins at %v, embargo %v", times[i], first, embargo)
			}
		}
	})
	s, err := TimeSplit([]float64{5, 1, 4, 2, 3, 0}, 0.3, 1.5)
	if want := (Split{Train: []int{1, 3, 5}, Test: []int{0, 2}, Embargoed: []int{4}}); err != nil || !cmp.Equal(s, want) {
		t.Errorf("got %v, %v, want %v", s, err, want)
	}
}

func TestSplitErrors(t *testing.T) {
	for name, f := range map[string]func() error{
		"no rows":          func() error { _, err := RandomSplit(0, 0.5, 1); return err },
		"one row":          func() error { _, err := RandomSplit(1, 0.5, 1); return err },
		"one group":        func() error { _, err := GroupSplit([]int{7, 7, 7}, 0.5, 1); return err },
		"one moment":       func() error { _, err := TimeSplit([]float64{1, 1, 1}, 0.5, 0); return err },
		"all is embargoed": func() error { _, err := TimeSplit([]float64{1, 2, 3}, 0.5, 9); return err },
	} {
		if err := f(); !errors.Is(err, ErrTooFewRows) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, f := range map[string]func() error{
		"share 0":          func() error { _, err := RandomSplit(9, 0, 1); return err },
		"share 1":          func() error { _, err := RandomSplit(9, 1, 1); return err },
		"share NaN":        func() error { _, err := RandomSplit(9, math.NaN(), 1); return err },
		"negative embargo": func() error { _, err := TimeSplit([]float64{1, 2}, 0.5, -1); return err },
		"NaN embargo":      func() error { _, err := TimeSplit([]float64{1, 2}, 0.5, math.NaN()); return err },
		"NaN time":         func() error { _, err := TimeSplit([]float64{1, math.NaN()}, 0.5, 0); return err },
	} {
		if f() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
