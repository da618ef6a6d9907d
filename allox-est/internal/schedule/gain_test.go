package schedule

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/foretime/foretime/shared/uncertainty"
)

// Matching gains where devices suit jobs differently, by as much more as the
// estimates are exact; where all jobs gain alike the shortest first is better.
func TestGain(t *testing.T) {
	gain := func(g Generator) uncertainty.Prediction {
		t.Helper()
		w, err := g.Generate()
		if err != nil {
			t.Fatal(err)
		}
		p, err := Gain(context.Background(), w.Jobs, Cluster{CPUNodes: 3, GPUNodes: 6}, Settings{Alpha: 1}, rand.New(rand.NewPCG(1, 1)))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	different := Generator{Seed: 1, Users: 3, Jobs: 80, Spread: 0.8, ErrorSD: 0.1}
	p := gain(different)
	if !(p.Low > 0 && p.Low < p.Value && p.Value < p.High) {
		t.Errorf("different gains: %+v", p)
	}
	different.ErrorSD = 0.6
	if worse := gain(different); worse.Value >= p.Value || worse.Width() <= p.Width() {
		t.Errorf("with errors of 60 %%: %+v, with 10 %% %+v", worse, p)
	}
	alike := gain(Generator{Seed: 1, Users: 3, Jobs: 80, ErrorSD: 0.1})
	if alike.High > 0.02 {
		t.Errorf("equal gains: %+v", alike)
	}
	_, err := Gain(context.Background(), []Record{{On: [Devices]Demand{{Seconds: 1}}}}, Cluster{CPUNodes: 1}, Settings{Alpha: 1}, rand.New(rand.NewPCG(1, 1)))
	if !errors.Is(err, ErrNoDoubt) {
		t.Error(err)
	}
	if _, err := Gain(context.Background(), make([]Record, mostDrawn+1), Cluster{}, Settings{}, nil); !errors.Is(err, ErrManyJobs) {
		t.Error(err)
	}
}

// The doubt of a job is its interval's, of reports, of predicted configurations that
// name one job, and of tables.
func TestDoubt(t *testing.T) {
	want := math.Log(121./100) / 2 / 1.959964
	for name, text := range map[string]string{
		"report": `{"job":"a","devices":{"cpu":{"wall_seconds":{"value":110,"low":100,"high":121,"level":0.95}},"gpu":{"wall_seconds":{"value":11,"low":10,"high":12.1,"level":0.95}}}}`,
		"predictions": `{"job":"a","configuration":{"device":"cpu"},"wall_seconds":{"value":110,"low":100,"high":121,"level":0.95}}
			{"job":"a","configuration":{"device":"gpu"},"wall_seconds":{"value":11,"low":10,"high":12.1,"level":0.95}}`,
		"table": "job,cpu,cpu_low,cpu_high,gpu,gpu_low,gpu_high\na,110,100,121,11,10,12.1\n",
	} {
		w, err := From(strings.NewReader(text), name)
		if err != nil || len(w.Jobs) != 1 || w.Counts.Dropped > 0 {
			t.Errorf("%s: %+v, %v", name, w, err)
			continue
		}
		for d, seconds := range []float64{110, 11} {
			if on := w.Jobs[0].On[d]; math.Abs(on.Doubt-want) > 1e-6 || on.Seconds != seconds {
				t.Errorf("%s: %+v, want a doubt of %v", name, on, want)
			}
		}
	}
}
