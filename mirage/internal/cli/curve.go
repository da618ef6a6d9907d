package cli

import (
	"math"

	"github.com/foretime/foretime/mirage/internal/backtest"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/stats"
	"github.com/foretime/foretime/shared/uncertainty"
)

// handover is the distribution of the start time and the best time to submit a
// successor.
type handover struct {
	Curve []backtest.Start `json:"chance_by"`
	// LeadHours is the time before its predecessor's end at which submitting a
	// successor has the least expected cost, if an hour of overlap costs OverlapCost
	// hours of interruption: the 1/(1+OverlapCost) quantile of the wait (the
	// newsvendor's critical ratio).
	LeadHours   float64 `json:"lead_hours"`
	OverlapCost float64 `json:"overlap_cost"`
}

// checkOverlap returns an error unless the cost of an hour of overlap is above 0 and
// finite.
func checkOverlap(flag string, cost float64) error {
	if !(cost > 0) || math.IsInf(cost, 1) {
		return cli.Usagef("--%s: %v, want a number above 0", flag, cost)
	}
	return nil
}

// handoverAt returns the handover for an answer; nil if too few jobs have started.
func handoverAt(a backtest.Answer, cost float64) *handover {
	lead, known := a.By(1 / (1 + cost))
	if !known {
		return nil
	}
	return &handover{a.Starts, lead / 3600, cost}
}

// drawn returns the answer for sampled waits in seconds.
func drawn(waits stats.Sorted) backtest.Answer {
	a := backtest.Answer{Prediction: uncertainty.Point(waits.Median())}
	for _, chance := range backtest.Chances() {
		a.Starts = append(a.Starts, backtest.Start{Seconds: waits.Quantile(chance), Chance: chance})
	}
	return a
}

func (h *handover) show(p *cli.Page) {
	t := p.Table("starts within", "chance")
	for _, s := range h.Curve {
		t.Add(lasting(s.Seconds/3600), cli.Share(s.Chance))
	}
	p.Line("submit a successor %v before its predecessor ends, if an hour of overlap costs %s h of interruption", lasting(h.LeadHours), cli.Text(h.OverlapCost))
}
