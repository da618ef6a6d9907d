package perfmodel

import (
	"cmp"
	"slices"
	"time"

	"github.com/foretime/foretime/shared/stats"
)

// KeptFunction lists the kept runs of one function of one build of a program.
type KeptFunction struct {
	Name  string      `json:"function"`
	Build string      `json:"build"`
	Last  time.Time   `json:"last"` // when runs were last added
	Runs  int         `json:"runs"`
	Sizes []KeptSizes `json:"sizes"` // by total size
}

// KeptSizes summarises the kept runs of equal sizes, in seconds.
type KeptSizes struct {
	Sizes  []int64 `json:"sizes"` // bytes of each argument
	Runs   int     `json:"runs"`
	Least  float64 `json:"least"`
	Median float64 `json:"median"`
	Most   float64 `json:"most"`
}

// List returns the kept functions, those with the most runs first.
func (s *Store) List() []KeptFunction {
	var all []KeptFunction
	for _, key := range s.Names() {
		name, build := SplitKey(key)
		runs := s.Runs(key)
		all = append(all, KeptFunction{Name: name, Build: build, Last: time.Unix(s.entries[key].Last, 0).UTC(), Runs: len(runs), Sizes: listSizes(runs)})
	}
	slices.SortStableFunc(all, func(a, b KeptFunction) int { return cmp.Compare(b.Runs, a.Runs) })
	return all
}

// listSizes groups runs by their sizes.
func listSizes(runs []StoredRun) []KeptSizes {
	groups := map[uint64][]float64{}
	var all []KeptSizes
	for _, run := range runs {
		key := hash(run.Sizes)
		if groups[key] == nil {
			all = append(all, KeptSizes{Sizes: run.Sizes})
		}
		groups[key] = append(groups[key], run.Seconds)
	}
	for i := range all {
		one := &all[i]
		seconds := stats.Sort(groups[hash(one.Sizes)])
		one.Runs = len(seconds)
		one.Least = seconds[0]
		one.Median = seconds.Median()
		one.Most = seconds[len(seconds)-1]
	}
	slices.SortFunc(all, func(a, b KeptSizes) int {
		return cmp.Or(cmp.Compare(a.Total(), b.Total()), slices.Compare(a.Sizes, b.Sizes))
	})
	return all
}

// Total returns the sum of the sizes in bytes.
func (k KeptSizes) Total() float64 {
	sum := 0.0
	for _, s := range k.Sizes {
		sum += max(float64(s), 0)
	}
	return sum
}
