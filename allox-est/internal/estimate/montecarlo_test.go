package estimate

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/foretime/foretime/allox-est/internal/jobspec"
	"github.com/foretime/foretime/allox-est/internal/journal"
	"github.com/foretime/foretime/allox-est/internal/progress"
	"github.com/foretime/foretime/shared/stats"
)

// A simulated job of 500 epochs: set-up 14 s +- 5 %, epoch 1 s +- 3 %,
// teardown 2 s, sampled once with 5 and once with 10 epochs, the defaults.
const (
	simEpochs = 500
	simSetup  = 14.0
	simEpoch  = 1.0
	simDown   = 2.0
)

// scenario is a kind of noise. cost is what the job itself adds to epoch i of
// its course; burst says that other work slows some samples, never the job.
type scenario struct {
	name  string
	cost  func(i int, rng *rand.Rand) float64
	burst bool
	// same says that every job has the same costs in the same epochs: an
	// interval holds them always or never.
	same bool
	// persist is the correlation of an epoch's noise with that of the next,
	// stall the share of the epochs in which the job waits three times as
	// long without computing.
	persist, sd, stall float64
	// lengths are those of the samples; 5 and 10 where it is nil.
	lengths []int
	// lines says that a line at the end of each epoch is all that tells of it: the
	// first one lies in the set-up.
	lines bool
	// stages are those of the job; each has samples of its own.
	stages jobspec.Stages
}

func plain(int, *rand.Rand) float64 { return 1 }

func warming(i int, _ *rand.Rand) float64 {
	switch i {
	case 1:
		return 3
	case 2:
		return 1.5
	}
	return 1
}

// firstKinds is how many of the scenarios are of the first round; every other of all
// is one that the beliefs were chosen on, from the first.
const firstKinds = 13

var scenarios = []scenario{
	{name: "clean", cost: plain},
	{name: "warm-up", cost: warming},
	{name: "burst", cost: plain, burst: true},
	{name: "warm-up + burst", cost: warming, burst: true},
	{name: "checkpoint", same: true, cost: func(i int, _ *rand.Rand) float64 {
		if i%10 == 0 {
			return 2
		}
		return 1
	}},
	{name: "rare x5", cost: func(_ int, rng *rand.Rand) float64 {
		if rng.Float64() < 0.03 {
			return 5
		}
		return 1
	}},
	{name: "evaluation x1.5 at 1, 11, ...", same: true, cost: func(i int, _ *rand.Rand) float64 {
		if i%10 == 1 {
			return 1.5
		}
		return 1
	}},
	{name: "evaluation x3 at 1, 6, ...", same: true, cost: func(i int, _ *rand.Rand) float64 {
		if i%5 == 1 {
			return 3
		}
		return 1
	}},
	{name: "lognormal 15 %", cost: func(_ int, rng *rand.Rand) float64 { return math.Exp(0.15 * rng.NormFloat64()) }},
	{name: "AR(1) of 0.7, 10 %", cost: plain, persist: 0.7, sd: 0.1},
	{name: "AR(1) of 0.9, 10 %", cost: plain, persist: 0.9, sd: 0.1},
	{name: "stalls in 20 %", cost: plain, stall: 0.2},
	{name: "drift", cost: func(i int, _ *rand.Rand) float64 { return 1 + 0.2*float64(i-1)/(simEpochs-1) }},
	{name: "5 epochs", cost: plain, lengths: []int{5}},
	{name: "5, warm-up", cost: warming, lengths: []int{5}},
	{name: "lines, 5, warm-up", cost: warming, lengths: []int{5}, lines: true},
	{name: "lines", cost: plain, lines: true},
	{name: "lines, evaluation x3 at 0, 10, ...", same: true, lines: true, cost: func(i int, _ *rand.Rand) float64 {
		if i%10 == 1 {
			return 3
		}
		return 1
	}},
	{name: "falling", cost: func(i int, _ *rand.Rand) float64 { return 1 - 0.2*float64(i-1)/(simEpochs-1) }},
	{name: "growing by a quarter", cost: func(i int, _ *rand.Rand) float64 { return 1 + 0.25*float64(i-1)/(simEpochs-1) }, lengths: []int{40}},
	{name: "three stages", lengths: []int{5}, stages: jobspec.Stages{{Name: "a", From: 0, To: 200}, {Name: "b", From: 200, To: 350}, {Name: "c", From: 350, To: simEpochs}}, cost: func(i int, _ *rand.Rand) float64 {
		switch {
		case i <= 200:
			return 1
		case i <= 350:
			return 1.8
		}
		return 2.6
	}},
}

// run simulates one run from its beginning.
func (s scenario) run(epochs int, sample bool, rng *rand.Rand) journal.Run {
	return s.part(0, epochs, sample, rng)
}

// part simulates so many epochs after the first ones; a sample may suffer a burst:
// in 40 % of the samples, three times the wall time for 30 % of the epochs in a row.
// Processor time is the undisturbed time but for 1 % of measurement noise.
func (s scenario) part(after, epochs int, sample bool, rng *rand.Rand) journal.Run {
	r := journal.Run{Epochs: epochs, Threads: 1, CPUs: 2}
	lap := func(own, slowed float64) {
		cpu := own * 0.98 * (1 + 0.01*rng.NormFloat64())
		r.Laps = append(r.Laps, own*slowed)
		r.LapCPU = append(r.LapCPU, cpu)
		r.Wall += own * slowed
		r.CPU += cpu
		r.Marks = append(r.Marks, progress.Mark{Number: float64(after + len(r.Laps) - 1), Seconds: r.Wall})
	}
	length, from := 0, 0
	if s.burst && sample && rng.Float64() < 0.4 {
		length = max(1, int(math.Round(0.3*float64(epochs))))
		from = 1 + rng.IntN(epochs-length+1)
	}
	lap(simSetup*(1+0.05*rng.NormFloat64()), 1)
	wander := rng.NormFloat64()
	for i := 1; i <= epochs; i++ {
		wander = s.persist*wander + math.Sqrt(1-s.persist*s.persist)*rng.NormFloat64()
		slowed := 1.0
		if i >= from && i < from+length {
			slowed = 3
		}
		if rng.Float64() < s.stall {
			slowed = 3
		}
		lap(simEpoch*(1+0.03*rng.NormFloat64())*math.Exp(s.sd*wander)*s.cost(after+i, rng), slowed)
	}
	lap(simDown, 1)
	r.Marks = r.Marks[:len(r.Marks)-1]
	if s.lines {
		r.Marks = r.Marks[1:]
		r.Laps = append([]float64{r.Laps[0] + r.Laps[1]}, r.Laps[2:]...)
		r.LapCPU = append([]float64{r.LapCPU[0] + r.LapCPU[1]}, r.LapCPU[2:]...)
	}
	return r
}

// outcome is how estimates of one scenario fared.
type outcome struct {
	errors, widths, scores []float64
	covered, cpuCovered    int
	cpuErrors              []float64
	warned                 map[error]int
	n                      int
}

// sampled are the samples of a job, of the scenario's lengths or 10 epochs.
func (s scenario) sampled(rng *rand.Rand) []journal.Run {
	lengths := s.lengths
	if lengths == nil {
		lengths = []int{10}
	}
	var runs []journal.Run
	for _, n := range lengths {
		if s.stages == nil {
			runs = append(runs, s.run(n, true, rng))
			continue
		}
		for _, stage := range s.stages { // started at it
			runs = append(runs, s.part(int(stage.From), n, true, rng))
		}
	}
	return runs
}

func (s scenario) trial(t *testing.T, trials int, m Method) outcome {
	t.Helper()
	rng := rand.New(rand.NewPCG(2020, uint64(len(s.name))))
	o := outcome{warned: map[error]int{}, n: trials}
	for range trials {
		samples := s.sampled(rng)
		truth := s.run(simEpochs, false, rng)
		e, err := New(samples, Job{Epochs: simEpochs, Device: "cpu", Stages: s.stages}, Settings{Method: m})
		if m == Line && errors.Is(err, ErrTooFew) {
			o.n-- // two whole runs whose set-up noise exceeds their difference
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		o.errors = append(o.errors, 100*math.Abs(e.Wall.Value/truth.Wall-1))
		o.widths = append(o.widths, 100*(e.Wall.High-e.Wall.Low)/e.Wall.Value)
		o.scores = append(o.scores, e.Wall.Score(truth.Wall)/truth.Wall)
		o.cpuErrors = append(o.cpuErrors, 100*math.Abs(e.CPU.Value/truth.CPU-1))
		if e.Wall.Contains(truth.Wall) {
			o.covered++
		}
		if e.CPU.Contains(truth.CPU) {
			o.cpuCovered++
		}
		for _, sentinel := range []error{ErrContention, ErrPeriod, ErrRecurring, ErrTrend, ErrFewEpochs, ErrDriftUnseen, ErrUnsure} {
			if slices.ContainsFunc(e.Warnings, func(w error) bool { return errors.Is(w, sentinel) }) {
				o.warned[sentinel]++
			}
		}
	}
	return o
}

var trials = flag.Int("trials", 150, "simulated jobs per kind of noise")

// fewer says that k of n hold less often than a share, beyond what so few trials
// leave open (a one-sided 99.9 % bound of Clopper and Pearson 1934).
func fewer(k, n int, share float64) bool {
	return k < n && distuv.Beta{Alpha: float64(k + 1), Beta: float64(n - k)}.Quantile(0.999) < share
}

// Every interval covers the truth in 90 % of the jobs at least, and the mean score of
// the scenarios that the beliefs were chosen on, and of those they were not, is below
// .55. A period within the samples is found: without it the intervals are wider than half of
// the time. What no sample can show, rare costs, is warned of.
func TestStatisticsMonteCarlo(t *testing.T) { monteCarlo(t, *trials) }

// TestMonteCarlo asks for few jobs of each kind.
func TestMonteCarlo(t *testing.T) { monteCarlo(t, 8) }

func monteCarlo(t *testing.T, trials int) {
	unseen, periodic := []string{"rare x5"}, []string{"checkpoint", "evaluation x3 at 1, 6, ..."}
	table := newTable("noise", "MAPE %", "CPU MAPE %", "covered %", "CPU covered %", "median width %", "score")
	var scores [3][]float64
	for i, s := range scenarios {
		o := s.trial(t, trials, Auto)
		share := func(n int) float64 { return 100 * float64(n) / float64(o.n) }
		score := mean(o.scores)
		table.add(s.name, mean(o.errors), mean(o.cpuErrors), share(o.covered), share(o.cpuCovered), stats.Median(o.widths), score)
		scores[i%2] = append(scores[i%2], score)
		if i < firstKinds {
			scores[2] = append(scores[2], score)
		}
		if width := stats.Median(o.widths); slices.Contains(periodic, s.name) && width > 45 {
			t.Errorf("%s: the median width is %.1f %%", s.name, width)
		}
		if slices.Contains(unseen, s.name) {
			if o.warned[ErrFewEpochs] != o.n || o.warned[ErrDriftUnseen] != o.n {
				t.Errorf("%s: not every estimate was warned of", s.name)
			}
			continue
		}
		if fewer(o.covered, o.n, 0.9) || fewer(o.cpuCovered, o.n, 0.9) {
			t.Errorf("%s: %d and %d of %d are covered", s.name, o.covered, o.cpuCovered, o.n)
		}
	}
	t.Log(table)
	for i, what := range []string{"those chosen on", "those shown on", "the first thirteen"} {
		t.Logf("mean score of %s: %.3f", what, mean(scores[i]))
		if mean(scores[i]) > 0.55 {
			t.Errorf("mean score of %s: %.3f", what, mean(scores[i]))
		}
	}
}

// What independent trials measured: a first epoch that compiles for 3 s is no steady
// epoch, told by lines at the epochs' ends or by a report, from the shortest samples.
func TestWarmUpOfFewEpochs(t *testing.T) {
	for _, lines := range []bool{false, true} {
		run := func(epochs int) journal.Run {
			r := journal.Run{Epochs: epochs, Threads: 1, CPUs: 2}
			at := 0.1
			if !lines {
				r.Marks = append(r.Marks, progress.Mark{Seconds: at})
			}
			for i := 1; i <= epochs; i++ {
				if at += 0.1; i == 1 {
					at += 3
				}
				r.Marks = append(r.Marks, progress.Mark{Number: float64(i), Seconds: at})
			}
			r.Wall, r.CPU = at+0.05, at
			return r
		}
		e, err := New([]journal.Run{run(2), run(5)}, cpu(60), Settings{})
		if err != nil {
			t.Fatal(err)
		}
		near(t, "60 epochs", e.Wall.Value, 9.15, 0.01)
		if !e.Wall.Contains(9.15) || e.Wall.High > 30 {
			t.Errorf("lines %v: %+v", lines, e.Wall)
		}
	}
}

// A ramp without noise is warned of.
func TestRamp(t *testing.T) {
	ramp := func(i int, _ float64) float64 { return 1 + float64(i-1)/499 }
	c := burn{Setup: 1, Epoch: 1, Teardown: 1, Factor: ramp}
	e, err := New([]journal.Run{burned(c, 10)}, cpu(500), Settings{})
	if err != nil || !warned(e, ErrTrend) {
		t.Errorf("%v: %v", err, e.Warnings)
	}
}

// The ratio repeats set-up with every epoch.
func TestMethods(t *testing.T) {
	table := newTable("noise", "auto", "ratio", "line")
	for _, s := range scenarios[:firstKinds] {
		var row []float64
		for _, m := range Methods() {
			row = append(row, mean(s.trial(t, 3, m).errors))
		}
		table.add(s.name, row...)
		if row[1] < 100 {
			t.Errorf("%s: %v", s.name, row)
		}
	}
	t.Log(table)
}

// table prints results in columns.
type table struct {
	b strings.Builder
	w *tabwriter.Writer
}

func newTable(header ...string) *table {
	t := &table{}
	t.w = tabwriter.NewWriter(&t.b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t.w, "\n"+strings.Join(header, "\t")+"\t")
	return t
}

func (t *table) add(name string, values ...float64) {
	fmt.Fprint(t.w, name)
	for _, v := range values {
		fmt.Fprintf(t.w, "\t%.2f", v)
	}
	fmt.Fprintln(t.w, "\t")
}

func (t *table) String() string {
	t.w.Flush()
	return t.b.String()
}
