package cli

import (
	"math"

	"github.com/foretime/foretime/mirage/internal/backtest"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/stats"
	"github.com/foretime/foretime/shared/uncertainty"
)

// handover is the chance of a start by any time, and when a successor is therefore
// best submitted.
type handover struct {
	Curve []backtest.Start `json:"chance_by"`
	// LeadHours is how long before its predecessor's end a successor is submitted at
	// the least expected cost, where an hour of overlap costs OverlapCost hours of
	// interruption: the 1/(1+OverlapCost) quantile of the wait (the newsvendor's
	// critical ratio).
	LeadHours   float64 `json:"lead_hours"`
	OverlapCost float64 `json:"overlap_cost"`
}

// checkOverlap refuses a cost of an hour of overlap that is none.
func checkOverlap(flag string, cost float64) error {
	if !(cost > 0) || math.IsInf(cost, 1) {
		return cli.Usagef("--%s: %v is not above 0", flag, cost)
	}
	return nil
}

// handoverAt takes the curve of an answer; nil where too few jobs have started.
func handoverAt(a backtest.Answer, cost float64) *handover {
	lead, known := a.By(1 / (1 + cost))
	if !known {
		return nil
	}
	return &handover{a.Starts, lead / 3600, cost}
}

// drawn is an answer that waits in seconds that were drawn give.
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
	p.Line("a successor is best submitted %v before its predecessor ends, where an hour of overlap costs %s h of interruption", lasting(h.LeadHours), cli.Text(h.OverlapCost))
}
