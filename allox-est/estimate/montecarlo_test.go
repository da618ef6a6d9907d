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

	"github.com/foretime/foretime/allox-est/journal"
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
}

// run simulates one run; a sample may suffer a burst: in 40 % of the samples,
// three times the wall time for 30 % of the epochs in a row. Processor time is
// the undisturbed time but for 1 % of measurement noise.
func (s scenario) run(epochs int, sample bool, rng *rand.Rand) journal.Run {
	r := journal.Run{Epochs: epochs, Threads: 1, CPUs: 2}
	lap := func(own, slowed float64) {
		cpu := own * 0.98 * (1 + 0.01*rng.NormFloat64())
		r.Laps = append(r.Laps, own*slowed)
		r.LapCPU = append(r.LapCPU, cpu)
		r.Wall += own * slowed
		r.CPU += cpu
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
		lap(simEpoch*(1+0.03*rng.NormFloat64())*math.Exp(s.sd*wander)*s.cost(i, rng), slowed)
	}
	lap(simDown, 1)
	for range 6 {
		r.Yardstick = append(r.Yardstick, 0.004*(1+0.003*rng.NormFloat64()))
	}
	return r
}

// outcome is how estimates of one scenario fared.
type outcome struct {
	errors, widths []float64
	covered        int
	cpuErrors      []float64
	cpuCovered     int
	warned         map[error]int
	// recurring counts those of the covered that met a cost without a period.
	recurring int
	n         int
}

func (s scenario) trial(t *testing.T, trials int, m Method) outcome {
	t.Helper()
	rng := rand.New(rand.NewPCG(2020, uint64(len(s.name))))
	o := outcome{warned: map[error]int{}, n: trials}
	for range trials {
		samples := []journal.Run{s.run(5, true, rng), s.run(10, true, rng)}
		truth := s.run(simEpochs, false, rng)
		e, err := New(samples, Job{Epochs: simEpochs, Device: "cpu"}, Settings{Method: m})
		if m == Line && errors.Is(err, ErrTooFew) {
			o.n-- // two whole runs whose set-up noise exceeds their difference
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		o.errors = append(o.errors, 100*math.Abs(e.Wall.Value/truth.Wall-1))
		o.widths = append(o.widths, 100*(e.Wall.High-e.Wall.Low)/e.Wall.Value)
		o.cpuErrors = append(o.cpuErrors, 100*math.Abs(e.CPU.Value/truth.CPU-1))
		if e.Wall.Contains(truth.Wall) {
			o.covered++
			if slices.ContainsFunc(e.Warnings, func(w error) bool { return errors.Is(w, ErrRecurring) }) {
				o.recurring++
			}
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

var trials = flag.Int("trials", 1000, "simulated jobs per kind of noise")

// The bounds on the mean error are those of the design; every interval covers
// the truth in 90 to 99 % of the jobs. Rare costs and drift cannot be seen in
// samples this short: there the warning is what counts.
func TestMonteCarlo(t *testing.T) {
	limits := map[string]float64{
		"clean": 1.5, "warm-up": 1.5, "burst": 1.5, "warm-up + burst": 1.5, "checkpoint": 6,
		"evaluation x1.5 at 1, 11, ...": 6, "evaluation x3 at 1, 6, ...": 1.5, "lognormal 15 %": 6, "AR(1) of 0.7, 10 %": 6,
		"AR(1) of 0.9, 10 %": 7,
	}
	table := newTable("noise", "MAPE %", "CPU MAPE %", "covered %", "CPU covered %", "median width %")
	for _, s := range scenarios {
		o := s.trial(t, *trials, Auto)
		share := func(n int) float64 { return 100 * float64(n) / float64(o.n) }
		mape, cpu, covered := mean(o.errors), mean(o.cpuErrors), share(o.covered)
		table.add(s.name, mape, cpu, covered, share(o.cpuCovered), stats.Median(o.widths))
		for w, n := range o.warned {
			t.Logf("%s: %.0f %% warned: %v", s.name, share(n), w)
		}
		if met := o.warned[ErrRecurring]; s.name == "rare x5" { // what a sample has met is allowed for
			t.Logf("%s: %d of %d that met one are covered, %d that met none", s.name, o.recurring, met, o.covered-o.recurring)
			if o.recurring*100 < met*90 {
				t.Errorf("%s: %d of %d that met one are covered", s.name, o.recurring, met)
			}
		}
		limit, bounded := limits[s.name]
		if !bounded {
			if o.warned[ErrFewEpochs] != o.n || o.warned[ErrDriftUnseen] != o.n {
				t.Errorf("%s: not every estimate was warned of", s.name)
			}
			continue
		}
		if calm := []string{"clean", "warm-up", "checkpoint"}; slices.Contains(calm, s.name) && o.warned[ErrUnsure] > 0 {
			t.Errorf("%s: %d of %d are flagged", s.name, o.warned[ErrUnsure], o.n)
		}
		if mape > limit || cpu > limit {
			t.Errorf("%s: error %.2f %%, of CPU %.2f %%, want at most %v", s.name, mape, cpu, limit)
		}
		for what, c := range map[string]float64{"wall": covered, "CPU": share(o.cpuCovered)} {
			if c < 90 || c > 99 && !s.same {
				t.Errorf("%s: %s covered in %.1f %%, want 90 to 99", s.name, what, c)
			}
		}
	}
	t.Log(table)
}

// drifting is a machine whose speed wanders: the logarithm of an epoch's time is
// an Ornstein-Uhlenbeck process of 15 % that forgets in 60 epochs, as the
// virtual machine did on which whole runs differed by 27 %.
type drifting struct {
	x   float64
	rng *rand.Rand
}

// pass lets the time of some epochs go by and returns the speed's factor then.
func (d *drifting) pass(epochs float64) float64 {
	keep := math.Exp(-epochs / 60)
	d.x = keep*d.x + math.Sqrt(1-keep*keep)*0.15*d.rng.NormFloat64()
	return math.Exp(d.x)
}

func (d *drifting) run(epochs int) journal.Run {
	r := journal.Run{Epochs: epochs, Threads: 1, CPUs: 2}
	measure := func(n int) {
		for range n {
			r.Yardstick = append(r.Yardstick, 0.004*d.pass(0)*(1+0.02*d.rng.NormFloat64()))
		}
	}
	lap := func(seconds float64) {
		s := seconds * d.pass(seconds) * (1 + 0.03*d.rng.NormFloat64())
		r.Laps, r.LapCPU = append(r.Laps, s), append(r.LapCPU, s)
		r.Wall += s
		r.CPU += s
	}
	measure(3)
	lap(simSetup)
	for range epochs {
		measure(1)
		lap(simEpoch)
	}
	lap(simDown)
	measure(3)
	return r
}

// On such a machine samples that lie minutes together see too little of its
// wandering: the interval of the time as it will be covers less than it says,
// with the yardstick less so. At the reference speed the estimate is good.
func TestMonteCarloDriftingMachine(t *testing.T) {
	d := drifting{rng: rand.New(rand.NewPCG(2020, 3))}
	table := newTable("yardstick", "MAPE %", "covered %", "median width %", "reference MAPE %")
	var covered [2]float64
	for i, name := range []string{"without", "with"} {
		var errs, widths, references []float64
		for range *trials {
			d.pass(1000)
			samples := []journal.Run{d.run(8), d.run(15)}
			d.pass(1000)
			truth := d.run(simEpochs)
			if i == 0 {
				samples[0].Yardstick = nil
			}
			e, err := New(samples, cpu(simEpochs), Settings{})
			if err != nil {
				t.Fatal(err)
			}
			errs = append(errs, 100*math.Abs(e.Wall.Value/truth.Wall-1))
			widths = append(widths, 100*(e.Wall.High-e.Wall.Low)/e.Wall.Value)
			if e.Wall.Contains(truth.Wall) {
				covered[i] += 100 / float64(*trials)
			}
			if e.Reference != nil {
				at := e.Reference.CPU.Value * Speed(truth) / e.Reference.Yardstick
				references = append(references, 100*math.Abs(at/truth.CPU-1))
			}
		}
		if i == 1 && mean(references) > 3 {
			t.Errorf("error at the reference speed %.2f %%, want at most 3", mean(references))
		}
		table.add(name, mean(errs), covered[i], stats.Median(widths), mean(append(references, 0)))
	}
	if covered[1] < covered[0] || covered[1] < 75 {
		t.Errorf("covered %.1f %% with the yardstick, %.1f %% without", covered[1], covered[0])
	}
	t.Log(table)
}

// The other methods beside Auto, for DESIGN.md: the ratio repeats set-up with
// every epoch, the median loses costs that come back.
func TestMonteCarloMethods(t *testing.T) {
	header := []string{"noise"}
	for _, m := range Methods() {
		header = append(header, string(m))
	}
	table := newTable(header...)
	for _, s := range scenarios {
		var row []float64
		for _, m := range Methods() {
			row = append(row, mean(s.trial(t, *trials/8, m).errors))
		}
		table.add(s.name, row...)
		of := func(m Method) float64 { return row[slices.Index(Methods(), m)] }
		if of(Ratio) < 100 || s.name == "checkpoint" && (of(Median) < 8 || of(Auto) > 6) {
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
