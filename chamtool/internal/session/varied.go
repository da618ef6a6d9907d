package session

// varied keeps of a task's integers those that tell tasks of one construct apart.
// A number takes a place when it is first seen to differ from the first task's, so
// that places never move: what came before counts as 0 there.
type varied struct {
	first  []int64
	places []int // in the integers, by place
	out    []int64
}

// features returns the places' numbers; the slice is used again.
func (v *varied) features(numbers []int64) []int64 {
	if v.first == nil {
		v.first = append([]int64{}, numbers...)
	}
	for i := range max(len(numbers), len(v.first)) {
		if at(numbers, i) != at(v.first, i) && !v.has(i) {
			v.places = append(v.places, i)
		}
	}
	v.out = v.out[:0]
	for _, i := range v.places {
		v.out = append(v.out, at(numbers, i))
	}
	return v.out
}

func (v *varied) has(place int) bool {
	for _, i := range v.places {
		if i == place {
			return true
		}
	}
	return false
}

func at(numbers []int64, i int) int64 {
	if i < len(numbers) {
		return numbers[i]
	}
	return 0
}
