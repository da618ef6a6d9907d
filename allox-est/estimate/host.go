package estimate

import (
	"fmt"
	"math"
	"slices"

	"github.com/foretime/foretime/allox-est/journal"
	"github.com/foretime/foretime/allox-est/yardstick"
)

// host is what is known, or believed, of the machine of a run to come beyond what
// the samples show.
type host struct {
	virtual bool
	past    yardstick.Past
	work    string // of the past's yardstick
	// spread is how the logarithms of the mean speeds of runs differ; none where
	// nothing is known of it.
	spread prior
}

// fewestPast is how many runs a past must have to be believed.
const fewestPast = 8

// virtualMachine is the prior of the spread of a virtual machine's speeds
// (DESIGN.md).
var virtualMachine = prior{sd: 0.15, df: 3}

// hostOf looks at the host of the newest of runs.
func hostOf(runs []journal.Run) host {
	newest := slices.MaxFunc(runs, func(a, b journal.Run) int { return a.Start.Compare(b.Start) })
	h := host{virtual: newest.Virtual, work: newest.YardstickWork}
	if newest.Past != nil {
		h.past = *newest.Past
	}
	shown := prior{sd: h.past.SD, df: float64(h.past.Runs - 1)}
	switch {
	case h.virtual && h.known():
		r := h.past.Lasting // runs that follow each other are worth fewer
		v, df := virtualMachine.moderate(1, shown.sd*shown.sd, shown.df*(1-r)/(1+r))
		h.spread = prior{sd: math.Sqrt(v), df: df}
	case h.virtual:
		h.spread = virtualMachine
	case h.known():
		h.spread = shown
	}
	return h
}

func (h host) known() bool { return h.past.Runs >= fewestPast }

// shrunk is what the host says of a run to come: its speed is shrunk from that of
// runs towards the host's mean, as far as theirs does not last (a run's speed
// follows the one before as a first-order process). It is a factor of processor
// time, and what is left open of it.
func (h host) shrunk(p response, runs []journal.Run) (factor float64, left prior) {
	left = h.spread
	left.sd *= p.follows(h)
	if !h.known() || p.older {
		return 1, left
	}
	left.sd *= math.Sqrt(1 - h.past.Lasting*h.past.Lasting)
	away, n := 0.0, 0.0
	for _, r := range runs {
		if y := Speed(r); y > 0 && r.YardstickWork == h.work {
			away += math.Log(y / h.past.Seconds)
			n++
		}
	}
	return math.Exp(-p.sensitivity * (1 - h.past.Lasting) * away / max(1, n)), left
}

// follows is how much of a change of the host's speed the job may show. The slope
// over single epochs is too low where their few readings are not exact, so that on
// a virtual machine it is no less than was believed before looking.
func (p response) follows(h host) float64 {
	switch {
	case p.older:
		return 0
	case !h.virtual:
		return p.sensitivity
	}
	return max(sensitivityPrior, math.Hypot(p.sensitivity, p.doubt))
}

// unknown says how many earlier runs are known, of those that would tell the speed
// of the host, of which left is left open for a job that computes for a share of its
// time; empty where that does not count.
func (h host) unknown(left prior, share float64) string {
	if !h.virtual || h.known() || share*left.sd < 0.02 {
		return ""
	}
	return fmt.Sprintf("%d of %d", h.past.Runs, fewestPast)
}
