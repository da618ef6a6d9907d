package transfer

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func isNear(a, b float64) bool {
	return math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) <= 1e-9*max(1, math.Abs(b))
}

// TestPairsByHand checks configurations with all anchors and the model, relative to the anchors' mean.
func TestPairsByHand(t *testing.T) {
	nan := math.NaN()
	table := &Table{Models: []string{"a", "b", "c"}, Configs: []Config{{Log: []float64{1, 3, 7}}, {Log: []float64{nan, 3, 7}}, {Log: []float64{1, 3, nan}}, {Log: []float64{2, 8, 4}}}}
	got := table.pairs([]int{0, 1}, 2)
	if len(got) != 2 || !slices.Equal(got[0].pattern, []float64{-1, 1}) || got[0].log != 5 || !slices.Equal(got[1].pattern, []float64{-3, 3}) || got[1].log != -1 {
		t.Errorf("%+v", got)
	}
	if got := table.logs(2, nil); !slices.Equal(got, []float64{7, 7, 4}) {
		t.Errorf("%v", got)
	}
	if got := table.logs(2, []int{0, 1}); !slices.Equal(got, []float64{5, -1}) {
		t.Errorf("%v", got)
	}
	if got := (&Config{Log: []float64{1, nan, 3}}).rest([]int{2}); !slices.Equal(got, []int{0}) {
		t.Errorf("%v", got)
	}
}

// On one anchor the slope is the covariance over the variance and a tenth more.
func TestRidgeByHand(t *testing.T) {
	known := []pair{{[]float64{1}, 10}, {[]float64{2}, 12}, {[]float64{6}, 20}}
	// Means 3 and 14; sums of squares 4+1+9 and of products 8+2+18.
	if got, want := ridgeEstimate(known, []float64{5}, 100), 100+14+2*28/14.1; !isNear(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := ridgeEstimate(known[:2], []float64{5}, 100); !math.IsNaN(got) {
		t.Errorf("of two: %v", got)
	}
	two := []pair{{[]float64{1, -1}, 4}, {[]float64{-1, 1}, 2}, {[]float64{0, 0}, 3}}
	// Both anchors share the slope: 2 a = 2 products over 4 squares and the penalty.
	if got, want := ridgeEstimate(two, []float64{2, -2}, 0), 3+4*2/4.1; !isNear(got, want) {
		t.Errorf("of two anchors: %v, want %v", got, want)
	}
}

// TestNearestByHand checks the mean of the configurations that are nearest, by distance.
func TestNearestByHand(t *testing.T) {
	known := []pair{{[]float64{0, 0}, 1}, {[]float64{3, 4}, 2}, {[]float64{6, 0}, 4}, {[]float64{0, 4.9}, 8}}
	for count, want := range map[int]float64{1: 1, 2: 4.5, 3: 11. / 3, 9: 15. / 4} {
		if got := nearestEstimate(known, []float64{0, 0}, 100, count); !isNear(got, 100+want) {
			t.Errorf("%d nearest: %v, want %v", count, got, 100+want)
		}
	}
	if got := nearestEstimate(nil, []float64{0}, 1, 3); !math.IsNaN(got) {
		t.Errorf("of none: %v", got)
	}
}

// TestPosteriorByHand checks one factor of variance 1 after measurements, by Gauss's formulas.
func TestPosteriorByHand(t *testing.T) {
	f := &factorModel{mean: []float64{5, 7, 9}, loadings: [][]float64{{2}, {1}, {-3}}, noise: []float64{1, .5, 2}}
	p := f.prior()
	if p.value(0) != 5 || p.variance(0) != 5 || p.variance(2) != 11 {
		t.Errorf("before: %v, %v, %v", p.value(0), p.variance(0), p.variance(2))
	}
	// A measurement of 10 is 5 off: the precision of the factor is 1+4/1, its mean 2*5/5.
	p = f.given([]float64{10, math.NaN(), math.NaN()}, []int{0})
	if !isNear(p.factors[0], 2) || !isNear(p.covariance[0][0], .2) || !isNear(p.value(1), 9) || !isNear(p.variance(1), .7) || !isNear(p.value(2), 3) || !isNear(p.variance(2), 3.8) {
		t.Errorf("after one: %v of %v", p.factors, p.covariance)
	}
	// Another of 8, 1 off its mean: the precision is 1+4+1/0.5, the mean (2*5+1/0.5)/7.
	p = f.given([]float64{10, 8, math.NaN()}, []int{0, 1})
	if !isNear(p.factors[0], 12./7) || !isNear(p.covariance[0][0], 1./7) {
		t.Errorf("after two: %v of %v", p.factors, p.covariance)
	}
	// About the third, the gain of a model is its covariance with it, squared, over its variance:
	// 36/5 and 9/1.5.
	if got := f.prior().chooseNext([]int{0, 1}, []int{2}); got != 0 {
		t.Errorf("model %d says most, want 0", got)
	}
	f.noise[0] = 2.01 // 36/6.01
	if got := f.prior().chooseNext([]int{0, 1}, []int{2}); got != 1 {
		t.Errorf("model %d says most, want 1", got)
	}
	if got := f.prior().chooseNext(nil, []int{2}); got != -1 {
		t.Errorf("of none: %d", got)
	}
	f.loadings[0], f.loadings[1] = []float64{0}, []float64{0}
	if got := f.prior().chooseNext([]int{0, 1}, []int{2}); got != -1 {
		t.Errorf("models without a factor: %d", got)
	}
}

// A table of one factor has no noise but the least, and gaps are filled by it.
func TestFactorsOfProducts(t *testing.T) {
	table := &Table{Models: []string{"a", "b", "c"}}
	for i := range 8 {
		x := float64(i) - 3.5
		table.Configs = append(table.Configs, Config{Log: []float64{5 + x, 7 + 2*x, 9 - x}})
	}
	table.Configs[2].Log[1] = math.NaN()
	f, err := fitFactors(t.Context(), table, 1)
	if err != nil {
		t.Fatal(err)
	}
	p := f.given(table.Configs[2].Log, table.Configs[2].known())
	if got := p.value(1); math.Abs(got-4) > .01 {
		t.Errorf("the gap is %v, want 4", got)
	}
	for k := range 3 {
		if f.noise[k] > .01 || f.noise[k] < 3e-7 { // four of twelve parts of a millionth
			t.Errorf("noise of %d: %v", k, f.noise[k])
		}
	}
	if r := f.loadings[1][0] / f.loadings[0][0]; math.Abs(r-2) > .01 {
		t.Errorf("loadings %v", f.loadings)
	}
	for n, good := range map[int]bool{4: false, 5: true} {
		part := &Table{Models: table.Models, Configs: table.Configs[3 : 3+n]}
		if _, err := fitFactors(t.Context(), part, 1); (err == nil) != good || err != nil && !errors.Is(err, ErrTooFew) {
			t.Errorf("%d configurations: %v", n, err)
		}
	}
	for factors, want := range map[int]int{1: 1, 2: 2, 3: 3, 9: 3} {
		g, err := fitFactors(t.Context(), table, factors)
		if err != nil || len(g.loadings[0]) != want {
			t.Errorf("%d factors: %d, %v; want %d", factors, len(g.loadings[0]), err, want)
		}
	}
	if g, err := fitFactors(t.Context(), &Table{Models: table.Models, Configs: table.Configs[3:]}, 9); err != nil || len(g.loadings[0]) != 2 {
		t.Errorf("five configurations allow two factors: %v", err)
	}
}

// The noise of a model is drawn to the common one by four configurations.
func TestNoiseByHand(t *testing.T) {
	// Two models; the second is the first one's opposite but for alternate errors that no one
	// factor along their axis holds.
	table := &Table{Models: []string{"a", "b"}}
	for _, x := range [][2]float64{{4, 1}, {-4, 1}, {4, -1}, {-4, -1}, {4, 1}, {-4, 1}, {4, -1}, {-4, -1}} {
		table.Configs = append(table.Configs, Config{Log: []float64{x[0], x[1]}})
	}
	f, err := fitFactors(t.Context(), table, 1)
	if err != nil {
		t.Fatal(err)
	}
	// The factor is a; squares are 0 and 8 of 16 values: common is 8/16 * 8/(8-1-1).
	common := .5 * 8 / 6
	if !isNear(f.noise[0], 4*common/12) || !isNear(f.noise[1], (8+4*common)/12) || math.Abs(math.Abs(f.loadings[0][0])-4) > 1e-9 || math.Abs(f.loadings[1][0]) > 1e-9 {
		t.Errorf("noise %v, loadings %v", f.noise, f.loadings)
	}
}

// A latency ten times beyond all devices is in another unit; twice deserves
// a look.
func TestUnitsAtTheirEdge(t *testing.T) {
	for _, tt := range []struct {
		value float64
		known []float64
		want  float64
	}{
		{5, nil, 0}, {5, []float64{1, 9}, 0}, {1, []float64{1, 9}, 0}, {9, []float64{1, 9}, 0}, {.5, []float64{1, 9}, -.5}, {11, []float64{1, 9}, 2},
	} {
		if got := excess(tt.value, tt.known); got != tt.want {
			t.Errorf("%v of %v: %v, want %v", tt.value, tt.known, got, tt.want)
		}
	}
	table := &Table{Models: []string{"a", "b"}, Configs: []Config{{Log: []float64{0, 1}}, {Log: []float64{1, 2}}}}
	both := []int{0, 1}
	for _, tt := range []struct {
		log  [2]float64
		good bool
	}{
		{[2]float64{0, 1}, true}, {[2]float64{1 + math.Log(9.9), 2 + math.Log(9.9)}, true}, {[2]float64{1 + math.Log(10.1), 2 + math.Log(10.1)}, false}, {[2]float64{-math.Log(9.9), 1 - math.Log(9.9)}, true}, {[2]float64{-math.Log(10.1), 1 - math.Log(10.1)}, false},
		{[2]float64{0, 1 + 2*math.Log(9.9)}, true}, {[2]float64{0, 1 + 2*math.Log(10.1)}, false}, {[2]float64{0, 1 - 2*math.Log(9.9)}, true}, {[2]float64{0, 1 - 2*math.Log(10.1)}, false},
	} {
		if err := table.checkUnits(&Config{Log: tt.log[:]}, both); (err == nil) != tt.good {
			t.Errorf("%v: %v", tt.log, err)
		}
	}
	for off, want := range map[float64]bool{2 * math.Log(1.99): false, 2 * math.Log(2.01): true} {
		if got := table.FindUnusual(&Config{Log: []float64{0, 1 + off}}, both); (got != "") != want {
			t.Errorf("%v beyond: %q", off, got)
		}
	}
}

// TestReadMeasuredRows reads each kind of row, those that are refused too.
func TestReadMeasuredRows(t *testing.T) {
	table := &Table{Models: []string{"a", "b"}, Configs: []Config{{Log: []float64{0, 1}}, {Log: []float64{1, 2}}}}
	read := func(rows string) (*Config, []int, error) {
		path := filepath.Join(t.TempDir(), "m.csv")
		if err := os.WriteFile(path, []byte("model,avg_ms,threads\n"+rows), 0o600); err != nil {
			t.Fatal(err)
		}
		return ReadMeasured(path, "d", table)
	}
	c, anchors, err := read("b,2,4\na,1,4\n")
	if err != nil || !slices.Equal(anchors, []int{1, 0}) || c.Log[0] != 0 || !isNear(c.Log[1], math.Ln2) || c.Threads != 4 || c.GPU != -1 || c.Board != "d" {
		t.Errorf("%+v, %v, %v", c, anchors, err)
	}
	for rows, want := range map[string]string{
		"": "no measurement", "x,1,1\n": "row 1", "a,1,1\nx,1,1\n": "row 2", "a,0,1\n": "row 1", "a,-1,1\n": "row 1", "a,+Inf,1\n": "not a finite number", "a,1,1\na,1,1\n": "row 2", "a,1,1\nb,2,2\n": "row 2",
	} {
		if _, _, err := read(rows); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", rows, err, want)
		}
	}
	if c, _, err := read("a,1,\n"); err != nil || c.Threads != 1 {
		t.Errorf("%+v, %v", c, err)
	}
}

// Rows make configurations by board, run, threads and processor.
func TestTableOfRows(t *testing.T) {
	one, two, gpu, none := 1, 2, 0, -7
	t1 := &Table{Models: []string{"a", "b"}}
	t1.addRows([]Row{
		{Board: "x", Model: "a", Average: 0}, {Board: "x", Model: "a", Average: math.E}, {Board: "x", Model: "b", Average: 1, Threads: &one}, {Board: "x", Model: "b", Average: 1, Threads: &two}, {Board: "x", Chip: "y", Model: "b", Average: 1, GPU: &gpu}, {Board: "z", Model: "b", Average: math.Inf(1)}, {Board: "z", Model: "a", Average: 1e-9, GPU: &none},
	})
	if t1.Dropped != 2 || len(t1.Configs) != 4 {
		t.Fatalf("%+v", t1)
	}
	c := t1.Configs
	if c[0].Log[0] != 1 || c[0].Log[1] != 0 || c[0].Threads != 1 || c[0].GPU != -1 || c[0].Chip != "x" || c[0].PowerSave != 0 || c[1].Threads != 2 || !math.IsNaN(c[1].Log[0]) || c[2].GPU != 0 || c[2].Chip != "y" || c[3].GPU != -1 {
		t.Errorf("%+v", c)
	}
	if got := t1.Chips(); !slices.Equal(got, []string{"x", "y", "z"}) {
		t.Errorf("%v", got)
	}
	if got := t1.WithoutChips("x"); len(got.Configs) != 2 || got.Configs[0].Chip != "y" {
		t.Errorf("%+v", got)
	}
	for name, want := range map[string]bool{"a_int8": true, "a-int8": true, "int8": false, "a_int8_b": false} {
		if IsInt8(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}
