package session

import "slices"

// variedSizes holds the numbers that differ between the tasks of one construct, and the
// distances between neighbours among them, which may be the bounds of a range. A number
// gets its place when it first differs from the first task's, so places never move; it
// counts as 0 in earlier tasks.
type variedSizes struct {
	first  []int64
	places []place
	out    []int64
}

// place is the position of a number among a task's, or of two whose distance counts.
type place struct {
	at   int
	from int // -1 for the number itself
}

// features returns the numbers and distances of a task; the next call overwrites them.
func (v *variedSizes) features(numbers []int64) []int64 {
	if v.first == nil {
		v.first = append([]int64{}, numbers...)
	}
	for i := range max(len(numbers), len(v.first)) {
		if element(numbers, i) != element(v.first, i) && !slices.Contains(v.places, place{at: i, from: -1}) {
			v.add(i)
		}
	}
	v.out = v.out[:0]
	for _, p := range v.places {
		x := element(numbers, p.at)
		if p.from >= 0 {
			x -= element(numbers, p.from)
		}
		v.out = append(v.out, max(x, -x)) // a size has no sign
	}
	return v.out
}

// add adds a number, and its distances from the nearest ones before and behind it.
func (v *variedSizes) add(i int) {
	before, behind := -1, -1
	for _, p := range v.places {
		switch {
		case p.from >= 0:
		case p.at < i:
			before = max(before, p.at)
		case behind < 0 || p.at < behind:
			behind = p.at
		}
	}
	v.places = append(v.places, place{at: i, from: -1})
	if before >= 0 {
		v.places = append(v.places, place{at: i, from: before})
	}
	if behind >= 0 {
		v.places = append(v.places, place{at: behind, from: i})
	}
}

func element(numbers []int64, i int) int64 {
	if i < len(numbers) {
		return numbers[i]
	}
	return 0
}
