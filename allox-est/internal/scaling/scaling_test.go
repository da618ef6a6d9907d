package scaling

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/foretime/foretime/shared/stats"
)

// grid returns cells of a law over threads and batch sizes on two devices.
func grid(law func(threads, batch float64) float64) []Cell {
	var cells []Cell
	for class, factor := range map[string]float64{"a": 1, "b": 3} {
		for _, threads := range []float64{1, 2, 4} {
			for _, batch := range []float64{16, 64} {
				cells = append(cells, Cell{[]float64{threads, batch}, class, factor * law(threads, batch)})
			}
		}
	}
	return cells
}

// A law that is a sum of the terms is found, also where nothing was sampled.
func TestExactLaw(t *testing.T) {
	law := func(threads, batch float64) float64 { return 2 + 100/threads + 640/batch/threads }
	m, err := Fit(grid(law), 0.9)
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range [][]float64{{8, 32}, {3, 16}, {2, 128}} {
		p, err := m.Predict(q, "b")
		if err != nil {
			t.Fatal(err)
		}
		if want := 3 * law(q[0], q[1]); math.Abs(p.Value/want-1) > 0.02 || !p.Contains(p.Value) {
			t.Errorf("%v: %+v, want %v", q, p, want)
		}
	}
}

// The doubt grows away from what was sampled, and with noise.
func TestDoubt(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	noisy := func(sd float64) []Cell {
		return grid(func(threads, batch float64) float64 {
			return (2 + 100/threads + 640/batch) * math.Exp(sd*random.NormFloat64())
		})
	}
	width := func(cells []Cell, threads float64) float64 {
		m, err := Fit(cells, 0.9)
		if err != nil {
			t.Fatal(err)
		}
		p, err := m.Predict([]float64{threads, 64}, "a")
		if err != nil {
			t.Fatal(err)
		}
		return p.Width() / p.Value
	}
	cells := noisy(0.1)
	if near, far := width(cells, 2), width(cells, 256); far < 1.5*near {
		t.Errorf("width %.3f at a sampled configuration, %.3f far away", near, far)
	}
	if calm, loud := width(noisy(0.02), 2), width(noisy(0.2), 2); loud < 2*calm {
		t.Errorf("width %.3f with little noise, %.3f with much", calm, loud)
	}
}

func TestRefused(t *testing.T) {
	cells := grid(func(threads, _ float64) float64 { return threads })
	m, err := Fit(cells, 0.9)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Predict([]float64{1, 16}, "c"); !errors.Is(err, ErrUnknown) {
		t.Errorf("unknown class: %v", err)
	}
	for _, numbers := range [][]float64{{1}, {0, 16}, {math.NaN(), 1}, {1, math.Inf(1)}} {
		if _, err := m.Predict(numbers, "a"); !errors.Is(err, ErrCell) {
			t.Errorf("%v: %v", numbers, err)
		}
	}
	if _, err := Fit(cells[:2], 0.9); !errors.Is(err, ErrTooFew) {
		t.Errorf("two cells: %v", err)
	}
	cells[1].Seconds = -1
	if _, err := Fit(cells, 0.9); !errors.Is(err, ErrCell) {
		t.Errorf("a negative time: %v", err)
	}
}

// TestThroughputs predicts measured throughputs of training jobs, each job's
// batch sizes on three GPUs and one to eight workers, from a part of the cells
// drawn at random: beside the mean of the job's known cells and the nearest one.
func TestThroughputs(t *testing.T) {
	families := throughputs(t)
	random := rand.New(rand.NewPCG(1, 1))
	const level, repeats = 0.9, 10
	t.Logf("%6s %22s %22s %22s %8s %8s", "known", "ours med / mean %", "job's mean", "nearest", "covered", "width")
	for _, share := range []float64{0.1, 0.2, 0.35, 0.5} {
		var ours, average, nearest, widths []float64
		covered := 0.0
		for _, name := range slices.Sorted(maps.Keys(families)) {
			for range repeats {
				cells := slices.Clone(families[name])
				random.Shuffle(len(cells), func(i, j int) { cells[i], cells[j] = cells[j], cells[i] })
				known := cells[:max(6, int(share*float64(len(cells))))]
				m, err := Fit(known, level)
				if err != nil {
					t.Fatal(err)
				}
				for _, c := range cells[len(known):] {
					p, err := m.Predict(c.Numbers, c.Class)
					if errors.Is(err, ErrUnknown) {
						continue
					}
					if err != nil {
						t.Fatal(err)
					}
					off := func(value float64) float64 { return 100 * math.Abs(value/c.Seconds-1) }
					ours, average, nearest = append(ours, off(p.Value)), append(average, off(geometric(known))), append(nearest, off(near(known, c)))
					widths = append(widths, math.Log(p.High/p.Low))
					if p.Contains(c.Seconds) {
						covered++
					}
				}
			}
		}
		covered /= float64(len(ours))
		show := func(xs []float64) string { return fmt.Sprintf("%.1f / %.1f", stats.Median(xs), meanOf(xs)) }
		t.Logf("%5.0f%% %22s %22s %22s %8.3f %8.2f", 100*share, show(ours), show(average), show(nearest), covered, stats.Median(widths))
		if stats.Median(ours) > 0.6*stats.Median(nearest) {
			t.Errorf("%v known: median error %.1f %%, nearest %.1f", share, stats.Median(ours), stats.Median(nearest))
		}
		if covered < 0.85 {
			t.Errorf("%v known: %.3f covered, want %v", share, covered, level)
		}
	}
}

func meanOf(xs []float64) float64 {
	var sum float64
	for _, x := range xs {
		sum += min(500, x)
	}
	return sum / float64(len(xs))
}

func geometric(cells []Cell) float64 {
	var sum float64
	for _, c := range cells {
		sum += math.Log(c.Seconds)
	}
	return math.Exp(sum / float64(len(cells)))
}

// near is the time of the known cell that is fewest doublings away; another
// class is one doubling.
func near(cells []Cell, to Cell) float64 {
	away := func(c Cell) float64 {
		d := 0.0
		for k, x := range c.Numbers {
			d += math.Abs(math.Log2(x / to.Numbers[k]))
		}
		if c.Class != to.Class {
			d++
		}
		return d
	}
	return slices.MinFunc(cells, func(a, b Cell) int {
		if away(a) < away(b) {
			return -1
		}
		return 1
	}).Seconds
}

// throughputs reads seconds an iteration by job, over batch size and workers.
func throughputs(t *testing.T) map[string][]Cell {
	t.Helper()
	root := os.Getenv("FORETIME_DATA")
	if root == "" {
		t.Skip("set FORETIME_DATA to the folder of the measured data")
	}
	f, err := os.Open(filepath.Join(root, "gavel-throughputs", "simulation_throughputs.json.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	zip, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var rates map[string]map[string]map[string]any
	if err := json.NewDecoder(zip).Decode(&rates); err != nil {
		t.Fatal(err)
	}
	name := regexp.MustCompile(`^\('(.*) \(batch size (\d+)\)', (\d+)\)$`)
	families := map[string][]Cell{}
	for _, gpu := range []string{"k80", "p100", "v100"} {
		for _, job := range slices.Sorted(maps.Keys(rates[gpu])) {
			found := name.FindStringSubmatch(job)
			rate, _ := rates[gpu][job]["null"].(float64)
			if found == nil || rate <= 0 {
				continue
			}
			batch, _ := strconv.ParseFloat(found[2], 64)
			workers, _ := strconv.ParseFloat(found[3], 64)
			families[found[1]] = append(families[found[1]], Cell{[]float64{batch, workers}, gpu, 1 / rate})
		}
	}
	if len(families) < 5 {
		t.Fatalf("%d jobs", len(families))
	}
	return families
}
