package balance

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestTable(t *testing.T) {
	for _, tt := range []struct {
		name  string
		loads []float64
		want  []Transfer
	}{
		{"none", nil, nil},
		{"one", []float64{5}, nil},
		{"equal", []float64{2, 2, 2}, nil},
		{"idle", []float64{0, 0}, nil},
		{"two", []float64{1, 5}, []Transfer{{From: 1, To: 0, Seconds: 2}}},
		{"one gives to two", []float64{9, 0, 0}, []Transfer{{From: 0, To: 2, Seconds: 3}, {From: 0, To: 1, Seconds: 3}}},
		{"absurd loads count as none", []float64{math.NaN(), 4, -3, math.Inf(1)}, []Transfer{{From: 1, To: 3, Seconds: 1}, {From: 1, To: 2, Seconds: 1}, {From: 1, To: 0, Seconds: 1}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := PlanTransfers(tt.loads, 0)
			if len(got) != len(tt.want) {
				t.Fatalf("%v, want %v", got, tt.want)
			}
			for i := range got {
				if got[i].From != tt.want[i].From || got[i].To != tt.want[i].To || !(math.Abs(got[i].Seconds-tt.want[i].Seconds) <= 1e-12) {
					t.Errorf("%v, want %v", got, tt.want)
				}
			}
		})
	}
}

// After the transfers every rank is at the mean, and there are fewer
// transfers than ranks.
func TestTableLevels(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		loads := rapid.SliceOfN(rapid.Float64Range(0, 1e3), 2, 40).Draw(t, "loads")
		after := append([]float64{}, loads...)
		mean := 0.0
		for _, l := range loads {
			mean += l / float64(len(loads))
		}
		table := PlanTransfers(loads, 0)
		for _, tr := range table {
			if !(tr.Seconds > 0) || tr.From == tr.To {
				t.Fatalf("%+v", tr)
			}
			after[tr.From] -= tr.Seconds
			after[tr.To] += tr.Seconds
		}
		if len(table) >= len(loads) {
			t.Fatalf("%d transfers of %d ranks", len(table), len(loads))
		}
		for _, a := range after {
			if !(math.Abs(a-mean) <= 1e-6) {
				t.Fatalf("%v after %v", after, loads)
			}
		}
	})
}

func TestTableLeavesSmallTransfersOut(t *testing.T) {
	if got := PlanTransfers([]float64{1, 1.5}, 0.3); got != nil {
		t.Errorf("%v", got)
	}
}

func TestPick(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tasks := rapid.SliceOf(rapid.Float64Range(0, 10)).Draw(t, "tasks")
		amount := rapid.Float64Range(0, 40).Draw(t, "amount")
		now := rapid.Float64Range(0, amount).Draw(t, "now")
		picked := map[int]bool{}
		sum := 0.0
		for _, i := range Pick(tasks, Transfer{Seconds: amount, AtOnce: now}, 0.5) {
			if picked[i] || tasks[i] <= 0.5 {
				t.Fatalf("task %d of %v", i, tasks)
			}
			picked[i] = true
			sum += tasks[i]
		}
		if sum > amount+1e-9 {
			t.Fatalf("%v picked of %v", sum, amount)
		}
		for i, s := range tasks { // nothing that still fits is left while more is to move
			if sum < now && !picked[i] && s > 0.5 && s <= amount-sum-1e-9 {
				t.Fatalf("task of %v left with %v to go", s, amount-sum)
			}
		}
	})
}

func TestImbalance(t *testing.T) {
	for _, tt := range []struct {
		loads []float64
		want  float64
	}{{nil, 0}, {[]float64{0, 0}, 0}, {[]float64{1, 1}, 0}, {[]float64{3, 1}, 0.5}, {[]float64{4, 0, 0, 0}, 3}, {[]float64{0.375, 0.125}, 0.5}} {
		if got := Imbalance(tt.loads); !(math.Abs(got-tt.want) <= 1e-12) {
			t.Errorf("%v: %v, want %v", tt.loads, got, tt.want)
		}
	}
}

// No receiver is filled beyond the horizon, and nothing is added to a table.
func TestStock(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		loads := rapid.SliceOfN(rapid.Float64Range(0, 100), 2, 20).Draw(t, "loads")
		horizon := rapid.Float64Range(0, 100).Draw(t, "horizon")
		table := PlanTransfers(loads, 0)
		filled := append([]float64{}, loads...)
		for _, tr := range Stock(table, loads, horizon) {
			if !(tr.AtOnce > 0) || tr.AtOnce > tr.Seconds {
				t.Fatalf("%+v", tr)
			}
			if filled[tr.To] += tr.AtOnce; filled[tr.To] > horizon+1e-9 {
				t.Fatalf("rank %d filled to %v of %v", tr.To, filled[tr.To], horizon)
			}
		}
	})
}
