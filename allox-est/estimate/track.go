package estimate

import (
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/foretime/foretime/allox-est/journal"
	"github.com/foretime/foretime/shared/stats"
)

// track is one quantity of one run in its segments, in seconds.
type track struct {
	setup, teardown float64
	epochs          []float64
	first           int // number of the first epoch, from 1
	run             int // epochs of the run, those in set-up or teardown included
	costs           []namedCost
}

// tracks are the quantities of all runs with laps.
type tracks struct {
	wall, quiet, cpu []track
	// evidence says that processor time or wait was measured per lap.
	evidence bool
	// contended counts the epochs that other work slowed, of all.
	contended, all int
}

// split cuts runs into their segments.
func split(runs []journal.Run, job Job) tracks {
	t := tracks{evidence: true}
	for _, r := range runs {
		wall := laps(r)
		cpu := r.LapCPU
		if len(cpu) == 0 {
			t.evidence = false
			cpu = scaled(wall, r.CPU/r.Wall)
		}
		quiet := slices.Clone(wall)
		for i := range r.LapWait {
			quiet[i] = withoutWait(r, wall[i], cpu[i], r.LapWait[i])
		}
		t.wall = append(t.wall, cut(r, wall, wall))
		t.quiet = append(t.quiet, cut(r, quiet, wall))
		t.cpu = append(t.cpu, cut(r, cpu, wall))
	}
	if t.evidence && job.Device == "cpu" {
		t.stolen()
	}
	return t
}

// laps returns the laps of a run with what they leave out added to the first
// and the last, so that they sum to the run's wall time.
func laps(r journal.Run) []float64 {
	xs := slices.Clone(r.Laps)
	xs[0] += r.Before
	xs[len(xs)-1] += r.After
	return xs
}

// cut splits a quantity of a run's laps into the segments.
func cut(r journal.Run, xs, wall []float64) track {
	n := len(xs) - 1
	t := track{setup: xs[0], epochs: xs[1:n], teardown: xs[n], first: max(1, r.FirstEpoch), run: r.Epochs}
	t.takeCosts(r, wall)
	return t
}

func scaled(xs []float64, f float64) []float64 {
	ys := make([]float64, len(xs))
	for i, x := range xs {
		ys[i] = x * f
	}
	return ys
}

// stolen corrects the quiet times of epochs that took long while the processor
// did no more work and the wait does not explain it (a hypervisor that gave
// the processor to others shows neither). It applies to jobs that keep the
// processor busy: those that leave it idle have other reasons to take long.
func (t *tracks) stolen() {
	var ratios []float64
	for s, q := range t.quiet {
		for i, x := range q.epochs {
			if c := t.cpu[s].epochs[i]; c > 0 {
				ratios = append(ratios, x/c)
			}
		}
	}
	if len(ratios) == 0 {
		return
	}
	usual := calm(ratios)
	if usual > 1/0.8 {
		return // less than 80 % of one processor
	}
	for s, q := range t.quiet {
		for i, x := range q.epochs {
			if c := t.cpu[s].epochs[i]; c > 0 && x > calmBand*usual*c {
				q.epochs[i] = usual * c
			}
		}
	}
}

// calmBand is how far a ratio of wall to processor time may lie above the
// usual one and still be noise.
const calmBand = 1.25

// calm returns the usual ratio while nothing disturbs: the median of those
// within calmBand of the tenth percentile.
func calm(ratios []float64) float64 {
	sorted := slices.Sorted(slices.Values(ratios))
	low := sorted[len(sorted)/10]
	n, _ := slices.BinarySearch(sorted, low*calmBand)
	return stats.Median(sorted[:max(1, n)])
}

// uncontended returns the wall tracks with epochs that were slowed more than the
// others set to the contention that is usual in the samples, and counts them.
// Contention that lasts is usual and stays.
func (t *tracks) uncontended() []track {
	var factors []float64
	for s, w := range t.wall {
		for i, x := range w.epochs {
			if q := t.quiet[s].epochs[i]; q > 0 {
				factors = append(factors, x/q)
			}
		}
	}
	t.all = len(factors)
	if t.all == 0 {
		return t.wall
	}
	usual := stats.Median(factors)
	limit := max(1.2*usual, usual+5*deviation(factors))
	settled := make([]track, len(t.wall))
	for s, w := range t.wall {
		settled[s] = w
		settled[s].epochs = slices.Clone(w.epochs)
		for i, x := range w.epochs {
			if q := t.quiet[s].epochs[i]; q > 0 && x/q > limit {
				settled[s].epochs[i] = q * usual
				t.contended++
			}
		}
	}
	return settled
}

// slowdown is the most that other work adds to an epoch on average: what it
// added to those that it slowed, times the share of epochs that it may slow
// (the upper end of Jeffreys' interval of a share; Brown, Cai and DasGupta
// 2001).
func (t *tracks) slowdown(settled []track, level float64) float64 {
	var added float64
	for s, w := range t.wall {
		added += sum(w.epochs) - sum(settled[s].epochs)
	}
	k, n := float64(t.contended), float64(t.all)
	return added / k * distuv.Beta{Alpha: k + 0.5, Beta: n - k + 0.5}.Quantile((1+level)/2)
}

// contended returns the share of the wall time of all epochs that their quiet
// time leaves unexplained.
func contended(wall, quiet []track) float64 {
	var w, q float64
	for s := range wall {
		w += sum(wall[s].epochs)
		q += sum(quiet[s].epochs)
	}
	if w <= 0 {
		return 0
	}
	return max(0, 1-q/w)
}

// deviation is the median absolute deviation, scaled to the standard deviation
// of normal noise (Hampel 1974).
func deviation(xs []float64) float64 { return 1.4826 * stats.Sort(xs).MAD() }
