package balance

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// One giver of 20 s beside an idle rank: the mean is 10 s, so a quarter of it
// is given, unless the exchange is slow or tasks are long.
func TestHorizon(t *testing.T) {
	for _, tt := range []struct {
		name string
		s    Situation
		want float64
	}{
		{"a quarter of the mean", Situation{TaskSeconds: 0.1, Every: 0.001, Workers: 2}, 2.5},
		{"four tasks and a move", Situation{TaskSeconds: 1, MoveSeconds: 0.5, Every: 0.001, Workers: 2}, 4.5},
		{"two exchanges of every worker", Situation{TaskSeconds: 0.1, MoveSeconds: 0.5, Every: 1, Workers: 3}, 6.5},
		{"no worker counts as one", Situation{TaskSeconds: 0.1, Every: 2}, 4},
		{"at first all of it", Situation{TaskSeconds: 0.1, Every: math.Inf(1), Workers: 1}, 10},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.s.Loads = []float64{20, 0}
			got := tt.s.Transfers()
			want := []Transfer{{From: 0, To: 1, Seconds: 10, AtOnce: tt.want}}
			if len(got) != 1 || !(math.Abs(got[0].AtOnce-tt.want) <= 1e-12) || got[0].Seconds != want[0].Seconds {
				t.Errorf("%+v, want %+v", got, want)
			}
		})
	}
}

// Tasks of .6 of the transfer: one fits, two overshoot.
func TestNoneOvershoots(t *testing.T) {
	if got := Pick([]float64{0.6, 0.6, 1.1}, Transfer{Seconds: 1, AtOnce: 1}, 0); !slices.Equal(got, []int{0}) {
		t.Errorf("%v, want the first alone", got)
	}
	if got := Pick([]float64{0.6, 0.6, 0.4}, Transfer{Seconds: 1, AtOnce: 1}, 0); !slices.Equal(got, []int{0, 2}) {
		t.Errorf("%v, want what fills it", got)
	}
}

func TestMoves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tasks := rapid.SliceOf(rapid.Float64Range(0, 10)).Draw(t, "tasks")
		most := rapid.IntRange(-1, 4).Draw(t, "most")
		transfers := TransfersFrom(0, PlanTransfers([]float64{100, 0, 20, 3}, 0))
		seconds, count, seen := map[int]float64{}, map[int]int{}, map[int]bool{}
		for _, m := range Moves(tasks, transfers, 0.5, most) {
			if seen[m.Task] || tasks[m.Task] <= 0.5 || m.To == 0 {
				t.Fatalf("%+v of %v", m, tasks)
			}
			seen[m.Task] = true
			seconds[m.To] += tasks[m.Task]
			count[m.To]++
		}
		for _, tr := range transfers {
			if seconds[tr.To] > tr.Seconds+1e-9 || most >= 0 && count[tr.To] > most {
				t.Fatalf("%v s in %d tasks for %+v, at most %d", seconds[tr.To], count[tr.To], tr, most)
			}
		}
	})
}

// What was sent counts for its receiver until the receiver's own load shows it.
func TestWay(t *testing.T) {
	var w InTransit
	if !math.IsInf(w.SinceLast(5), 1) || w.SinceLast(7) != 2 {
		t.Error("the time between decisions")
	}
	w.Send(7, 1, 0.25)
	w.Send(7.008, 0, 0.5)
	for _, tt := range []struct {
		now  float64
		want []float64
	}{{7.009, []float64{1.5, 1.25}}, {7.012, []float64{1.5, 1}}, {7.02, []float64{1, 1}}} {
		loads := []float64{1, 1}
		if w.AddTo(loads, tt.now); !slices.Equal(loads, tt.want) {
			t.Errorf("at %v: %v, want %v", tt.now, loads, tt.want)
		}
	}
}
