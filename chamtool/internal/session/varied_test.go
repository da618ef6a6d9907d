package session

import (
	"slices"
	"testing"
)

// Numbers that all tasks have alike take no place, and a place once taken stays. The
// distance of a number from the nearest varied ones before and behind it counts too.
func TestVaried(t *testing.T) {
	var v variedSizes
	for _, tt := range []struct{ in, want []int64 }{
		{[]int64{5, 1, 9}, nil},
		{[]int64{5, 1, 9}, nil},
		{[]int64{5, 1, 8}, []int64{8}},
		{[]int64{6, 1, 8}, []int64{8, 6, 2}},
		{[]int64{5, 1}, []int64{0, 5, 5}},
		{[]int64{5, 1, 9, 3}, []int64{9, 5, 4, 3, 6}},
		{[]int64{5, 2, 9, 3}, []int64{9, 5, 4, 3, 6, 2, 3, 7}},
	} {
		if got := v.features(tt.in); !slices.Equal(got, tt.want) {
			t.Errorf("%v: %v, want %v", tt.in, got, tt.want)
		}
	}
}
