package policy

import (
	"math"
	"time"
)

// gapLimit is the longest time without kernels for which the gate of others stays
// closed because a client may launch at once: a program that is stopped, debugged or
// busy on its host counts as absent after it. Two turns of a device without MPS, set
// by hand.
const gapLimit = 5 * time.Millisecond

// gapEdges holds the waiting times between which [gaps.threshold] chooses: from half the
// cost of a switch to gapLimit.
var gapEdges = [...]time.Duration{
	0, 100 * time.Microsecond, 200 * time.Microsecond, 400 * time.Microsecond, 800 * time.Microsecond,
	1600 * time.Microsecond, 3200 * time.Microsecond, gapLimit,
}

const (
	// gapMemory is the weight that a gap keeps when another one follows: the last
	// twenty count.
	gapMemory = 0.95
	// gapsNeeded is the weight of gaps below which the distribution is unknown.
	gapsNeeded = 3
)

// gaps is the distribution of a client's gaps: times in which it has a job but no
// kernel on the device. It forgets exponentially. The zero value is empty.
type gaps struct {
	weight [len(gapEdges)]float64 // of gaps from gapEdges[i] to the next edge
	sum    [len(gapEdges)]float64 // of their lengths, ns, cut at gapLimit
}

// add adds a gap that has ended.
func (g *gaps) add(length time.Duration) {
	bucket := 0
	for i, edge := range gapEdges {
		g.weight[i] *= gapMemory
		g.sum[i] *= gapMemory
		if length >= edge {
			bucket = i
		}
	}
	g.weight[bucket]++
	g.sum[bucket] += float64(min(length, gapLimit))
}

// threshold returns the time without kernels after which a gap is given to others, if
// giving it costs as much as that much device time lost. It is the rule of ski rental:
// of an unknown distribution the break-even point, at most twice as dear as knowing
// each gap's length in advance; of a known one the waiting time of least mean cost
// (Karlin, Manasse, McGeoch and Owicki 1994, section 3). It is at most gapLimit.
func (g *gaps) threshold(cost time.Duration) time.Duration {
	total := 0.0
	for _, w := range g.weight {
		total += w
	}
	if total < gapsNeeded {
		return min(cost, gapLimit)
	}
	best, least := gapLimit, math.Inf(1)
	waited, shorter := 0.0, 0.0 // ns waited in gaps that end before the edge, and their weight
	for i, edge := range gapEdges {
		mean := waited + (total-shorter)*float64(edge+cost)
		if mean < least {
			best, least = edge, mean
		}
		waited += g.sum[i]
		shorter += g.weight[i]
	}
	return best
}
