package cli

import (
	"math"

	"github.com/foretime/foretime/mirage/internal/forecast"
	"github.com/foretime/foretime/shared/cli"
)

// checkOverlap returns an error unless the cost of an hour of overlap is above 0 and
// finite.
func checkOverlap(flag string, cost float64) error {
	if !(cost > 0) || math.IsInf(cost, 1) {
		return cli.Usagef("--%s: %v, want a number above 0", flag, cost)
	}
	return nil
}

// showHandover prints a handover for people.
func showHandover(p *cli.Page, h *forecast.Handover) {
	t := p.Table("starts within", "chance")
	for _, s := range h.Curve {
		t.Add(lasting(s.Seconds/3600), cli.Share(s.Chance))
	}
	p.Line("submit a successor %v before its predecessor ends, if an hour of overlap costs %s h of interruption", lasting(h.LeadHours), cli.Text(h.OverlapCost))
}
