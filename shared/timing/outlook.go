package timing

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/foretime/foretime/shared/plural"
	"github.com/foretime/foretime/shared/stats"
	"github.com/foretime/foretime/shared/uncertainty"
)

// Sampled describes the conditions under which the samples of a prediction were
// taken.
type Sampled struct {
	Horizon time.Duration // duration of the predicted work
	// Crowd is the wall time of the samples over their time without a wait for a
	// processor: 1 on an idle machine.
	Crowd float64
	Level float64 // level of the prediction's interval
}

// Change bounds the factor by which the time of future work may differ from that of
// the samples. Low is at most 1, High at least 1.
type Change struct{ Low, High float64 }

// Outlook bounds the change of a machine's speed over a future time.
type Outlook struct {
	CPU  Change // change of processor time
	Wall Change // change of wall time: other work starts and ends, too
	// Reason gives the basis of the bounds in one sentence.
	Reason string
	// Known reports whether earlier readings determine both bounds; otherwise they
	// are mostly the defaults for an unknown machine.
	Known bool
}

// Assumptions about an unknown machine.
const (
	// unknownHourSD is the standard deviation of the logarithm of the change of
	// processor time of the same work in an hour, and unknownDF its weight as a
	// number of pairs of readings: 95 % of such changes are then between half and
	// twice. On a shared virtual machine one model took 351 ms of processor time,
	// and 636 ms an hour later. The change over a shorter time is assumed to be
	// smaller by the square root, as in a random walk.
	unknownHourSD = 0.25
	unknownDF     = 4
	// sharedCore is the relative increase of processor time while a neighbour uses
	// the core's other thread: two threads together gain up to 30 % (Marr and
	// others, Hyper-Threading Technology Architecture and Microarchitecture, Intel
	// Technology Journal 6(1), 2002), so each has 0.65 of the core.
	sharedCore = 1/0.65 - 1
	// fairCrowd is the factor on wall time if as many competitors arrive as there
	// are processors.
	fairCrowd = 2.0
)

const (
	blockLength  = 10 * time.Second // readings closer than this count as one
	maxHorizons  = 10               // horizons: readings farther apart say little about a change within one
	crowdedAbove = 1.1              // wall over processor time of readings during other work
	outlookDraws = 4000
	// minPairs is the number of pairs of readings that bound a change at 95 % by
	// themselves: with Jeffreys' prior on the probability of a change (Brown, Cai
	// and DasGupta 2001), none in 20 gives a mean of 2.4 %.
	minPairs = 20
	// minBlocks is the number of blocks with and without other work that show its
	// effect on processor time.
	minBlocks = 3
)

// block joins readings that are close to each other and count as one.
type block struct {
	at      time.Time
	cpu     float64 // mean logarithm of the processor seconds of the multiply-adds
	crowd   float64 // wall over processor seconds
	crowded bool
}

// blocks joins readings in order of time. Duplicates count once.
func blocks(readings []Reading) []block {
	sorted := slices.SortedFunc(slices.Values(readings), func(a, b Reading) int { return a.At.Compare(b.At) })
	sorted = slices.CompactFunc(sorted, func(a, b Reading) bool { return a.At.Equal(b.At) })
	var all []block
	for i := 0; i < len(sorted); {
		b, n := block{at: sorted[i].At}, 0.0
		var wall, cpu float64
		for ; i < len(sorted) && sorted[i].At.Sub(b.at) < blockLength; i++ {
			wall, cpu = wall+sorted[i].Compute.Wall+sorted[i].Memory.Wall, cpu+sorted[i].Compute.CPU+sorted[i].Memory.CPU
			b.cpu, n = b.cpu+math.Log(sorted[i].Compute.CPU), n+1
		}
		b.cpu /= n
		b.crowd = max(1, wall/cpu)
		b.crowded = b.crowd > crowdedAbove
		all = append(all, b)
	}
	return all
}

// valid reports whether a reading is possible: times above zero, of one thread.
func (r Reading) valid() bool {
	for _, c := range []Cost{r.Compute, r.Memory} {
		if !(c.CPU > 0) || !(c.Wall > 0) || math.IsInf(c.CPU, 0) || math.IsInf(c.Wall, 0) {
			return false
		}
	}
	return !r.At.IsZero()
}

// pairs returns blocks one horizon apart or somewhat more. Pairs do not overlap.
func pairs(all []block, horizon time.Duration) (apart [][2]block) {
	horizon = max(horizon, blockLength)
	for from, to := 0, 1; to < len(all); to++ {
		switch lag := all[to].at.Sub(all[from].at); {
		case lag < horizon:
		case lag <= maxHorizons*horizon:
			apart = append(apart, [2]block{all[from], all[to]})
			from = to
		default:
			from = to
		}
	}
	return apart
}

// machine summarises the readings' changes over a horizon.
type machine struct {
	crowded     bool    // other work runs now
	leave, stay float64 // number of pairs after whose horizon the state was different, or the same
	scale, df   float64 // of Student's t: logarithm of the change of processor time
	levels      []float64
	shared      float64 // logarithm of the increase of processor time by other work, and its standard error
	doubt       float64
	measured    bool // shared was measured
}

func newMachine(all []block, s Sampled) machine {
	m := machine{crowded: s.Crowd > crowdedAbove}
	if n := len(all); n > 0 {
		m.crowded = all[n-1].crowded // the samples may be older than a change
	}
	apart := pairs(all, s.Horizon)
	squares := unknownDF * unknownHourSD * unknownHourSD * min(1, s.Horizon.Hours())
	for _, p := range apart {
		squares += (p[1].cpu - p[0].cpu) * (p[1].cpu - p[0].cpu)
		switch {
		case p[0].crowded != m.crowded:
		case p[0].crowded != p[1].crowded:
			m.leave++
		default:
			m.stay++
		}
	}
	m.df = float64(unknownDF + len(apart))
	m.scale = math.Sqrt(squares / m.df)
	var idle, busy []float64
	for _, b := range all {
		if b.crowded {
			busy, m.levels = append(busy, b.cpu), append(m.levels, b.crowd)
		} else {
			idle = append(idle, b.cpu)
		}
	}
	if len(idle) >= minBlocks && len(busy) >= minBlocks {
		m.measured, m.shared = true, max(0, stat.Mean(busy, nil)-stat.Mean(idle, nil))
		m.doubt = math.Sqrt(stat.Variance(busy, nil)/float64(len(busy)) + stat.Variance(idle, nil)/float64(len(idle)))
	}
	return m
}

// draw returns the factors on processor time and on wall time; sampled is the crowd
// of the samples. The probability that other work starts or ends within the horizon
// has Jeffreys' prior, one half without readings; the time at which it does is
// uniform over the horizon.
func (m machine) draw(sampled float64, rng *rand.Rand) (cpu, wall float64) {
	cpu = math.Exp(m.scale * distuv.StudentsT{Sigma: 1, Nu: m.df, Src: rng}.Rand())
	fraction := 0.0 // of the horizon, with other work
	if m.crowded {
		fraction = 1
	}
	if rng.Float64() < (distuv.Beta{Alpha: m.leave + 0.5, Beta: m.stay + 0.5, Src: rng}).Rand() {
		fraction = math.Abs(fraction - rng.Float64())
	}
	level := m.level(sampled, rng)
	sampledFraction := min(1, (sampled-1)/(level-1)) // of the samples
	neighbour := m.neighbour(rng)
	cpu *= (1 + fraction*neighbour) / (1 + sampledFraction*neighbour)
	return cpu, cpu * (1 + fraction*(level-1)) / sampled
}

// level draws the factor of other work on wall time: that of the samples, or a
// larger one if other work ran during a part of the samples only.
func (m machine) level(sampled float64, rng *rand.Rand) float64 {
	if sampled > crowdedAbove && rng.Float64() < 0.5 {
		return sampled
	}
	// A reading lasts 30 ms. Scheduling makes single readings far longer than the
	// mean over a horizon, so the median of three is used.
	three := [3]float64{fairCrowd, fairCrowd, fairCrowd}
	for i := range three {
		if at := rng.IntN(len(m.levels) + 1); at < len(m.levels) {
			three[i] = m.levels[at]
		}
	}
	return max(sampled, stats.Median(three[:]))
}

// neighbour draws the increase of processor time by other work, as a fraction.
func (m machine) neighbour(rng *rand.Rand) float64 {
	if m.measured {
		return math.Exp(max(0, m.shared+m.doubt*rng.NormFloat64())) - 1
	}
	return sharedCore * rng.Float64()
}

// NewOutlook returns the bounds for future work from readings of the machine, taken
// before, between and after the samples and on earlier days, in any order. Pairs of
// readings one horizon apart show how the machine's speed changes and how often
// other work starts or ends within that time. With few readings the bounds are
// close to the defaults of an unknown machine.
func NewOutlook(readings []Reading, s Sampled) Outlook {
	s.Crowd = max(1, s.Crowd)
	all := blocks(slices.DeleteFunc(slices.Clone(readings), func(r Reading) bool { return !r.valid() }))
	m := newMachine(all, s)
	rng := rand.New(rand.NewPCG(30, 2))
	cpus, walls := make([]float64, outlookDraws), make([]float64, outlookDraws)
	for i := range cpus {
		cpus[i], walls[i] = m.draw(s.Crowd, rng)
	}
	o := Outlook{CPU: changeOf(cpus, s.Level), Wall: changeOf(walls, s.Level), Known: m.leave+m.stay >= minPairs}
	o.Reason = m.reason(len(all), s)
	return o
}

func changeOf(factors []float64, level float64) Change {
	sorted, tail := stats.Sort(factors), (1-level)/2
	return Change{Low: min(1, sorted.Quantile(tail)), High: max(1, sorted.Quantile(1-tail))}
}

func (m machine) reason(blocks int, s Sampled) string {
	horizon := max(s.Horizon, blockLength).Round(time.Second)
	change := "started"
	if m.crowded {
		change = "ended"
	}
	if n := m.leave + m.stay; n >= minPairs {
		return fmt.Sprintf("on this machine other work %s in %.0f of %.0f earlier stretches of %v, and fixed work varied by %.0f %%", change, m.leave, n, horizon, 100*m.scale)
	}
	return fmt.Sprintf("this machine's speed was compared over %v only %s under such load, from readings at %s: too few to exclude that other work starts or ends", horizon, plural.Count(int(m.leave+m.stay), "time"), plural.Count(blocks, "moment"))
}

// Of returns the change of a time of which the fraction share, 0 to 1, changes.
func (c Change) Of(share float64) Change {
	return Change{Low: 1 + share*(c.Low-1), High: 1 + share*(c.High-1)}
}

// Widen returns a prediction whose interval includes the change: the logarithms of
// the two factors to each side are independent, so they add in squares. A
// prediction without ends, or not above zero, is returned unchanged.
func (c Change) Widen(p uncertainty.Prediction) uncertainty.Prediction {
	if !p.Bounded() || !(p.Value > 0) {
		return p
	}
	if p.Low > 0 {
		p.Low = p.Value * math.Exp(-math.Hypot(math.Log(min(1, p.Low/p.Value)), math.Log(c.Low)))
	}
	p.High = p.Value * math.Exp(math.Hypot(math.Log(max(1, p.High/p.Value)), math.Log(c.High)))
	return p
}
