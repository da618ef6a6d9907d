package balance

import (
	"cmp"
	"math"
	"slices"
)

// Transfer is an amount of predicted work from one rank to another.
type Transfer struct {
	From, To int
	Seconds  float64 // in all
	AtOnce   float64 // of it, what is to move at once
}

// PlanTransfers returns the transfers that bring every load to the mean, as near as pairs
// of ranks can: the most loaded rank gives to the least loaded one until either
// is at the mean. Transfers of least seconds or less are left out. The same
// loads give the same table on every rank.
func PlanTransfers(loads []float64, least float64) []Transfer {
	n := len(loads)
	if n < 2 {
		return nil
	}
	excess := make([]float64, n) // above the mean, or below it
	mean := 0.0
	for i, l := range loads {
		if !(l > 0) || math.IsInf(l, 0) {
			l = 0
		}
		excess[i] = l
		mean += l / float64(n)
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
		excess[i] -= mean
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(excess[b], excess[a]), cmp.Compare(a, b)) })
	var out []Transfer
	for giver, taker := 0, n-1; giver < taker; {
		from, to := order[giver], order[taker]
		amount := min(excess[from], -excess[to])
		if amount > max(least, 0) {
			out = append(out, Transfer{from, to, amount, amount})
		}
		excess[from] -= amount
		excess[to] += amount
		if -excess[to] <= excess[from] {
			taker--
		} else {
			giver++
		}
	}
	return out
}

// Stock cuts what moves at once down to what keeps the receivers busy for a
// while: horizon seconds of work. Predictions are wrong by some share, and a
// task that has moved cannot move again: what is not needed yet stays where it
// can still be sent elsewhere. Transfers to receivers that have enough are
// left out.
func Stock(table []Transfer, loads []float64, horizon float64) []Transfer {
	room := make(map[int]float64, len(table))
	var out []Transfer
	for _, t := range table {
		left, known := room[t.To]
		if !known {
			left = horizon - max(loads[t.To], 0)
		}
		t.AtOnce = min(t.AtOnce, left)
		room[t.To] = left - max(t.AtOnce, 0)
		if t.AtOnce > 0 {
			out = append(out, t)
		}
	}
	return out
}

// Pick returns the indexes of the tasks, given in predicted seconds, that make up a transfer,
// longest first: the longest that fit into it, until the part that is to move at once is
// reached. None overshoots the whole transfer. Long tasks go first: few move, and a long one
// that stays until the end ends late. Tasks of least seconds or less are not worth moving.
func Pick(tasks []float64, t Transfer, least float64) []int {
	order := make([]int, 0, len(tasks))
	for i, seconds := range tasks {
		if seconds > least && seconds > 0 && seconds <= t.Seconds {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(tasks[b], tasks[a]), cmp.Compare(a, b)) })
	var out []int
	moved := 0.0
	for _, i := range order {
		if moved >= t.AtOnce {
			break
		}
		if moved+tasks[i] <= t.Seconds {
			out = append(out, i)
			moved += tasks[i]
		}
	}
	return out
}

// Imbalance returns max/mean - 1 of the loads; 0 without a load.
func Imbalance(loads []float64) float64 {
	most, sum := 0.0, 0.0
	for _, l := range loads {
		most = max(most, l)
		sum += l
	}
	if sum <= 0 {
		return 0
	}
	return most*float64(len(loads))/sum - 1
}
