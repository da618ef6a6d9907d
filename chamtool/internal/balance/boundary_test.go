package balance

import (
	"math"
	"slices"
	"testing"
)

// TestLeastTransfer leaves out a transfer of exactly the least seconds, and none above it.
func TestLeastTransfer(t *testing.T) {
	for _, tt := range []struct {
		loads []float64
		least float64
		want  []Transfer
	}{
		{[]float64{3, 1}, 1, nil},
		{[]float64{3, 1}, 0.999, []Transfer{{0, 1, 1, 1}}},
		{[]float64{3, 1}, -5, []Transfer{{0, 1, 1, 1}}},
		{[]float64{2, 2}, -5, nil},
		{[]float64{2, 0, 4}, 0, []Transfer{{2, 1, 2, 2}}},
		{[]float64{9, 1, 8, 2}, 0, []Transfer{{0, 1, 4, 4}, {2, 3, 3, 3}}},
		{[]float64{1, 7, 7, 1}, 0, []Transfer{{1, 3, 3, 3}, {2, 0, 3, 3}}}, // equal loads: the lower rank gives first
		{[]float64{10, 3, 3, 0}, 0, []Transfer{{0, 3, 4, 4}, {0, 2, 1, 1}, {0, 1, 1, 1}}},
	} {
		if got := PlanTransfers(tt.loads, tt.least); !slices.Equal(got, tt.want) {
			t.Errorf("%v, least %v: %v, want %v", tt.loads, tt.least, got, tt.want)
		}
	}
}

// TestStockTable fills receivers up to the horizon, whichever transfers reach them.
func TestStockTable(t *testing.T) {
	for _, tt := range []struct {
		name    string
		table   []Transfer
		loads   []float64
		horizon float64
		want    []Transfer
	}{
		{"room for all", []Transfer{{0, 1, 2, 2}}, []float64{9, 1}, 3, []Transfer{{0, 1, 2, 2}}},
		{"room for a part", []Transfer{{0, 1, 2, 2}}, []float64{9, 1}, 2.5, []Transfer{{0, 1, 2, 1.5}}},
		{"no room", []Transfer{{0, 1, 2, 2}}, []float64{9, 1}, 1, nil},
		{"a negative load counts as none", []Transfer{{0, 1, 9, 9}}, []float64{9, -4}, 3, []Transfer{{0, 1, 9, 3}}},
		{"two to one receiver", []Transfer{{0, 2, 2, 2}, {1, 2, 2, 2}, {1, 2, 2, 2}}, []float64{9, 9, 1}, 4,
			[]Transfer{{0, 2, 2, 2}, {1, 2, 2, 1}}},
		{"another receiver has its own room", []Transfer{{0, 1, 3, 3}, {0, 2, 3, 3}}, []float64{9, 0, 0}, 2,
			[]Transfer{{0, 1, 3, 2}, {0, 2, 3, 2}}},
		{"a transfer of nothing makes no room", []Transfer{{0, 1, 3, -2}, {0, 1, 3, 3}}, []float64{9, 0}, 1,
			[]Transfer{{0, 1, 3, 1}}},
	} {
		if got := Stock(tt.table, tt.loads, tt.horizon); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// TestPickTable names tasks at and beside each limit.
func TestPickTable(t *testing.T) {
	for _, tt := range []struct {
		name     string
		tasks    []float64
		transfer Transfer
		least    float64
		want     []int
	}{
		{"as long as the transfer", []float64{2}, Transfer{Seconds: 2, AtOnce: 2}, 0, []int{0}},
		{"longer than the transfer", []float64{2.001}, Transfer{Seconds: 2, AtOnce: 2}, 0, nil},
		{"as short as the least", []float64{0.5, 0.501}, Transfer{Seconds: 2, AtOnce: 2}, 0.5, []int{1}},
		{"no time at all", []float64{0, 1}, Transfer{Seconds: 2, AtOnce: 2}, -1, []int{1}},
		{"what moves at once is reached", []float64{1, 1, 1}, Transfer{Seconds: 3, AtOnce: 2}, 0, []int{0, 1}},
		{"what moves at once is not reached", []float64{1, 1, 1}, Transfer{Seconds: 3, AtOnce: 2.001}, 0, []int{0, 1, 2}},
		{"it ends exactly full", []float64{1, 2}, Transfer{Seconds: 3, AtOnce: 3}, 0, []int{1, 0}},
		{"a shorter one fits after a longer one does not", []float64{3, 2, 1}, Transfer{Seconds: 4, AtOnce: 4}, 0, []int{0, 2}},
		{"equal tasks in their order", []float64{1, 1}, Transfer{Seconds: 1, AtOnce: 1}, 0, []int{0}},
	} {
		if got := Pick(tt.tasks, tt.transfer, tt.least); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// TestMovesTable limits the tasks to one rank and moves none twice.
func TestMovesTable(t *testing.T) {
	tasks := []float64{3, 2, 1}
	for _, tt := range []struct {
		most int
		want []Move
	}{
		{0, nil},
		{1, []Move{{0, 1}, {1, 2}}},
		{2, []Move{{0, 1}, {1, 1}, {2, 2}}},
		{3, []Move{{0, 1}, {1, 1}, {2, 1}}},
		{-1, []Move{{0, 1}, {1, 1}, {2, 1}}},
	} {
		got := Moves(tasks, []Transfer{{0, 1, 6, 6}, {0, 2, 6, 6}}, 0, tt.most)
		if !slices.Equal(got, tt.want) {
			t.Errorf("at most %d: %v, want %v", tt.most, got, tt.want)
		}
	}
}

// TestArrival counts a task for its receiver for 10 ms.
func TestArrival(t *testing.T) {
	for now, want := range map[float64]float64{0: 3, math.Nextafter(0.010, 0): 3, 0.010: 1} {
		var w InTransit
		w.Send(0, 0, 2)
		loads := []float64{1}
		if w.AddTo(loads, now); loads[0] != want {
			t.Errorf("after %v s: %v, want %v", now, loads[0], want)
		}
	}
}
