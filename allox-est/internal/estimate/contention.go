package estimate

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/foretime/foretime/allox-est/internal/journal"
	"github.com/foretime/foretime/shared/stats"
)

// contention describes the effect of other work on the samples.
type contention struct {
	slowed, all int
	added       float64 // seconds that it added to a unit while it was there
	lasting     float64 // share of the laps' time spent waiting, that time aside
	load        float64 // load average per processor; 0 where it is not known
	busy        float64 // share of the undisturbed time spent computing
}

// calmBand is the largest ratio of wall to processor time, relative to the usual one,
// that is still noise: the range of a job that runs alone.
const calmBand = 1.25

// contentionOf sets laps that other work slowed more than the others to the contention
// that is usual in the samples. Contention that lasts is usual and stays.
func contentionOf(ts []trace, runs []journal.Run, onCPU bool) contention {
	k := contention{busy: busy(ts)}
	if onCPU {
		removeDelays(ts)
	}
	ratios := ratiosOf(ts, wallTime, quietTime)
	k.all = len(ratios)
	if k.all == 0 {
		return k
	}
	usual := stats.Median(ratios)
	limit := max(1.2*usual, usual+5*deviation(ratios))
	for l := range allLaps(ts) {
		if q := l.seconds[quietTime]; q > 0 && l.seconds[wallTime] > limit*q {
			k.added += (l.seconds[wallTime] - usual*q) / l.units()
			l.seconds[wallTime] = usual * q
			k.slowed++
		}
	}
	k.added /= float64(max(1, k.slowed))
	w, q := total(ts, wallTime), total(ts, quietTime)
	if w > 0 {
		k.lasting = max(0, 1-q/w)
	}
	k.load = meanLoad(runs)
	return k
}

// removeDelays corrects the quiet times of laps that took long while the processor did
// no more work and the wait does not explain it: a hypervisor that gave the
// processor to others shows neither. Jobs that leave the processor idle have other
// reasons to take long.
func removeDelays(ts []trace) {
	ratios := ratiosOf(ts, quietTime, cpuTime)
	if len(ratios) == 0 {
		return
	}
	usual := quietRatio(ratios)
	if usual > 1/0.8 {
		return // less than 80 % of one processor
	}
	for l := range allLaps(ts) {
		if s := &l.seconds; s[cpuTime] > 0 && s[quietTime] > calmBand*usual*s[cpuTime] {
			s[quietTime] = usual * s[cpuTime]
		}
	}
}

// quietRatio returns the usual ratio while nothing disturbs: the median of those
// within calmBand of the tenth percentile.
func quietRatio(ratios []float64) float64 {
	sorted := slices.Sorted(slices.Values(ratios))
	low := sorted[len(sorted)/10]
	n, _ := slices.BinarySearch(sorted, low*calmBand)
	return stats.Median(sorted[:max(1, n)])
}

func ratiosOf(ts []trace, a, b clock) []float64 {
	var ratios []float64
	for l := range allLaps(ts) {
		if l.seconds[b] > 0 {
			ratios = append(ratios, l.seconds[a]/l.seconds[b])
		}
	}
	return ratios
}

func total(ts []trace, c clock) float64 {
	s := 0.0
	for l := range allLaps(ts) {
		s += l.seconds[c]
	}
	return s
}

// busy returns the share of the undisturbed time that was spent computing, at
// most 1.
func busy(ts []trace) float64 {
	q, c := total(ts, quietTime), total(ts, cpuTime)
	for _, t := range ts {
		q, c = q+t.setup[quietTime]+t.teardown[quietTime], c+t.setup[cpuTime]+t.teardown[cpuTime]
	}
	if q <= 0 {
		return 1
	}
	return min(1, c/q)
}

// meanLoad returns the mean load average per processor while sampling; 0 where it
// is not known.
func meanLoad(runs []journal.Run) float64 {
	var perCPU []float64
	for _, r := range runs {
		if r.CPUs > 0 {
			perCPU = append(perCPU, r.Load/float64(r.CPUs))
		}
	}
	if len(perCPU) == 0 {
		return 0
	}
	return mean(perCPU)
}

// recurrence draws the mean time that other work adds to a unit if it returns as often: the share of
// the laps that it slows has Jeffreys' posterior (Brown, Cai and DasGupta 2001).
func (k contention) recurrence(rng *random) float64 {
	s := float64(k.slowed)
	return k.added * distuv.Beta{Alpha: s + 0.5, Beta: float64(k.all) - s + 0.5, Src: rng}.Rand()
}

// crowdedSlowdown returns the slowdown of a job with a fair share of the processors if the samples had
// more than that, and 0 otherwise. A job waits for a processor only when it would compute.
func (k contention) crowdedSlowdown(device string) float64 {
	if device != "cpu" || k.load <= 1.2 || k.lasting >= 1-1/k.load {
		return 0
	}
	return 1 + k.busy*(k.load-1)
}

func (k contention) warnings(job Job) []error {
	var w []error
	if k.slowed > 0 {
		w = append(w, fmt.Errorf("%w: other work slowed %d of %d %ss for a while; the estimate is corrected, and its upper end allows the same again", ErrContention, k.slowed, k.all, job.unit()))
	}
	if k.lasting > 0.1 {
		w = append(w, fmt.Errorf("%w: %.0f %% of the %ss' time was spent waiting for a CPU; the estimate holds only if the machine stays as busy", ErrContention, 100*k.lasting, job.unit()))
	}
	if k.crowdedSlowdown(job.Device) > 0 {
		w = append(w, fmt.Errorf("%w: the load was %.1f times the CPUs, but the samples waited little; the upper end assumes a fair share of the CPUs", ErrContention, k.load))
	}
	return w
}

// deviation returns the median absolute deviation, scaled to the standard deviation
// of normal noise (Hampel 1974).
func deviation(xs []float64) float64 { return 1.4826 * stats.Sort(xs).MAD() }
