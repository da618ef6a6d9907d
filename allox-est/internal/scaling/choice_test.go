package scaling

import (
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/foretime/foretime/allox-est/internal/journal"
	"github.com/foretime/foretime/shared/stats"
)

var (
	choices = flag.Bool("choices", false, "compare rules of what to sample next: minutes")
	cells   = flag.String("cells", "", "journal of TestCells")
)

// rules say which of the rest, by its index, to sample after the known cells.
var rules = map[string]func(known, rest []Cell, random *rand.Rand) int{
	"at random": func(_, rest []Cell, random *rand.Rand) int { return random.IntN(len(rest)) },
	"widest interval": func(known, rest []Cell, _ *rand.Rand) int {
		return widest(known, rest)
	},
	"A-optimal": func(known, rest []Cell, _ *rand.Rand) int { return aOptimal(known, rest, false) },
	"V-optimal": func(known, rest []Cell, _ *rand.Rand) int { return aOptimal(known, rest, true) },
}

func widest(known, rest []Cell) int {
	m, err := Fit(known, 0.9)
	if err != nil {
		panic(err)
	}
	best, most := 0, -1.0
	for i, c := range rest {
		p, err := m.Predict(c.Numbers, c.Class)
		width := math.Inf(1) // a class of which nothing is known
		if err == nil {
			width = p.High / p.Low
		}
		if width > most {
			best, most = i, width
		}
	}
	return best
}

// aOptimal is the cell that leaves least variance in the coefficients of
// Ernest's terms, with the relative errors of all cells alike, or, V-optimal, in
// the mean prediction of all the rest (Pukelsheim 1993, chapters 6 and 9). The
// classes are terms of their own.
func aOptimal(known, rest []Cell, predictions bool) int {
	all := slices.Concat(known, rest)
	l := law{least: slices.Clone(all[0].Numbers)}
	classes := map[string]int{}
	for _, c := range all {
		for k, x := range c.Numbers {
			l.least[k] = min(l.least[k], x)
		}
		classes[c.Class] = 0
	}
	for i, name := range slices.Sorted(maps.Keys(classes)) {
		classes[name] = i
	}
	row := func(c Cell) *mat.VecDense {
		terms := l.terms(c.Numbers)
		sum := 0.0
		for _, x := range terms {
			sum += x
		}
		for k := range terms {
			terms[k] /= sum
		}
		dummies := make([]float64, len(classes))
		dummies[classes[c.Class]] = 1
		xs := append(terms, dummies...)
		return mat.NewVecDense(len(xs), xs)
	}
	n := row(all[0]).Len()
	information := mat.NewSymDense(n, nil)
	for k := range n {
		information.SetSym(k, k, 1e-3)
	}
	for _, c := range known {
		information.SymRankOne(information, 1, row(c))
	}
	best, least := 0, math.Inf(1)
	for i, c := range rest {
		var with mat.SymDense
		with.SymRankOne(information, 1, row(c))
		var inverse mat.Dense
		if inverse.Inverse(&with) != nil {
			continue
		}
		v := mat.Trace(&inverse)
		if predictions {
			v = 0
			for _, other := range all {
				x := row(other)
				v += mat.Inner(x, &inverse, x)
			}
		}
		if v < least {
			best, least = i, v
		}
	}
	return best
}

// TestChoices compares rules of what to sample next on measured throughputs: from
// six cells drawn at random, the same for all rules, each adds its choices up to
// a share of a job's cells, and the rest is predicted.
func TestChoices(t *testing.T) {
	if !*choices {
		t.Skip("takes minutes: run with go test -run TestChoices -v ./allox-est/internal/scaling -choices")
	}
	families := throughputs(t)
	const repeats = 6
	for _, share := range []float64{0.2, 0.35, 0.5} {
		for _, name := range slices.Sorted(maps.Keys(rules)) {
			var medians []float64
			for _, family := range slices.Sorted(maps.Keys(families)) {
				var misses []float64
				for seed := range repeats {
					random := rand.New(rand.NewPCG(uint64(seed), 7))
					rest := slices.Clone(families[family])
					random.Shuffle(len(rest), func(i, j int) { rest[i], rest[j] = rest[j], rest[i] })
					known := slices.Clone(rest[:6])
					rest = rest[6:]
					for len(known) < int(share*float64(len(families[family]))) {
						i := rules[name](known, rest, random)
						known, rest = append(known, rest[i]), slices.Delete(rest, i, i+1)
					}
					misses = append(misses, missed(t, known, rest)...)
				}
				medians = append(medians, stats.Median(misses))
			}
			t.Logf("%3.0f %% known, %-15s: median error of the jobs %s, mean %.1f %%", 100*share, name, fmt.Sprintf("%.1f", medians), meanOf(medians))
		}
	}
}

// missed are the errors of predictions, in percent.
func missed(t *testing.T, known, rest []Cell) []float64 {
	t.Helper()
	m, err := Fit(known, 0.9)
	if err != nil {
		t.Fatal(err)
	}
	var off []float64
	for _, c := range rest {
		if p, err := m.Predict(c.Numbers, c.Class); err == nil {
			off = append(off, 100*math.Abs(p.Value/c.Seconds-1))
		}
	}
	return off
}

// TestCells predicts configurations of a job from half of those in a journal, all
// halves in turn, and holds the predictions against the others' own samples,
// beside the mean and the nearest of the half.
func TestCells(t *testing.T) {
	if *cells == "" {
		t.Skip("needs a journal: run with go test -run TestCells -v ./allox-est/internal/scaling -cells FILE")
	}
	j, err := journal.Read(*cells)
	if err != nil {
		t.Fatal(err)
	}
	table, err := NewTable(j.Runs, 300)
	if err != nil {
		t.Fatal(err)
	}
	var all []Cell
	for _, e := range table.Estimates {
		c := table.cell(e.Configuration, e.Wall.Value)
		all = append(all, c)
		t.Logf("%s: %.4g s, %.4g to %.4g", table.Of(e.Configuration), e.Wall.Value, e.Wall.Low, e.Wall.High)
	}
	for _, size := range []int{4, 5, 6} {
		var ours, average, nearest []float64
		covered := 0.0
		for mask := range 1 << len(all) {
			var known, rest []Cell
			for i, c := range all {
				if mask>>i&1 == 1 {
					known = append(known, c)
				} else {
					rest = append(rest, c)
				}
			}
			if len(known) != size {
				continue
			}
			m, err := Fit(known, 0.9)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range rest {
				p, err := m.Predict(c.Numbers, c.Class)
				if err != nil {
					t.Fatal(err)
				}
				off := func(x float64) float64 { return 100 * math.Abs(x/c.Seconds-1) }
				ours, average, nearest = append(ours, off(p.Value)), append(average, off(geometric(known))), append(nearest, off(near(known, c)))
				if p.Contains(c.Seconds) {
					covered++
				}
			}
		}
		t.Logf("%d of %d known: median error %.1f %%, mean of the known %.1f, nearest %.1f; %.3f of the 90 %% intervals held",
			size, len(all), stats.Median(ours), stats.Median(average), stats.Median(nearest), covered/float64(len(ours)))
	}
}
