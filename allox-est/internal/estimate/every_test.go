package estimate

import (
	"errors"
	"math"
	"testing"

	"github.com/foretime/foretime/allox-est/internal/journal"
)

// evaluated are runs of a job whose epochs take 1 s, those that its named costs
// fall on as much more as they cost.
func evaluated(lengths []int, cost func(number int) float64) []journal.Run {
	var runs []journal.Run
	for _, n := range lengths {
		r := journal.Run{Job: "j", Name: "j", Kind: journal.Sample, Device: "cpu", Threads: 1, Epochs: n, CPUs: 2}
		r.Laps = append(r.Laps, 0.5)
		for k := 1; k <= n; k++ {
			r.Laps = append(r.Laps, 1+cost(k))
		}
		r.Laps = append(r.Laps, 0.1)
		for _, lap := range r.Laps {
			r.Wall += lap
		}
		r.CPU = r.Wall
		runs = append(runs, r)
	}
	return runs
}

// Costs with a known period are counted as often as they come, met once or
// together with another, in jobs that count from 0 and from 1.
func TestEvery(t *testing.T) {
	every := map[string]int{"evaluate": 5, "checkpoint": 20}
	const epochs = 400
	for _, from := range []int{0, 1} {
		cost := func(number int) float64 {
			c := 0.0
			if number%5 == from {
				c += 2
			}
			if number%20 == from {
				c += 7
			}
			return c
		}
		want := 0.6
		for k := 1; k <= epochs; k++ {
			want += 1 + cost(k)
		}
		runs := evaluated([]int{4, 21}, cost)
		e, err := New(runs, Job{Epochs: epochs, Device: "cpu", Every: every}, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(e.Wall.Value/want-1) > 0.02 || !e.Wall.Contains(want) {
			t.Errorf("counting from %d: %+v, want %v", from, e.Wall, want)
		}
		costs := e.Segments.Costs
		if len(costs) != 2 || math.Abs(*costs[1].Seconds-7) > 0.1 || math.Abs(*costs[0].Seconds-2) > 0.1 {
			t.Errorf("counting from %d: costs %+v", from, costs)
		}
		guessed, err := New(runs, Job{Epochs: epochs, Device: "cpu"}, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		if guessed.Wall.Width() < 1.3*e.Wall.Width() {
			t.Errorf("counting from %d: known costs leave %v, unknown ones %v", from, e.Wall.Width(), guessed.Wall.Width())
		}
	}
}

// A cost that no sample has met is told first, and the upper end allows for it.
func TestUnmet(t *testing.T) {
	runs := evaluated([]int{2, 5}, func(int) float64 { return 0 })
	e, err := New(runs, Job{Epochs: 400, Device: "cpu", Every: map[string]int{"evaluate": 50}}, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if len(e.Warnings) == 0 || !errors.Is(e.Warnings[0], ErrUnsure) || !errors.Is(e.Warnings[0], ErrUnmet) {
		t.Errorf("warnings %v", e.Warnings)
	}
	if e.Wall.High < 400.6+8 || e.Segments.Costs[0].Seconds != nil {
		t.Errorf("%+v, costs %+v", e.Wall, e.Segments.Costs)
	}
}

// Two costs of one period are one.
func TestEveryTogether(t *testing.T) {
	cost := func(number int) float64 { return map[bool]float64{true: 3}[number%5 == 0] }
	e, err := New(evaluated([]int{2, 11}, cost), Job{Epochs: 100, Device: "cpu", Every: map[string]int{"a": 5, "b": 5}}, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if want := 0.6 + 100 + 60; math.Abs(e.Wall.Value/want-1) > 0.02 || len(e.Segments.Costs) != 1 || e.Segments.Costs[0].Name != "a+b" {
		t.Errorf("%+v, want %v; costs %+v", e.Wall, want, e.Segments.Costs)
	}
}
