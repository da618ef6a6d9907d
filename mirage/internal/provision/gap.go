package provision

import (
	"fmt"
	"strings"
	"time"

	"github.com/foretime/foretime/shared/plural"
)

// gapNotice is the time between the announcement of a gap in the chain and the gap, to which a limit of the
// service is added: the last job that can run ends before the gap.
const gapNotice = 24 * time.Hour

// announce warns of the gaps of the next day, once for each.
func (p *Provisioner) announce(now time.Time) {
	horizon := now.Add(gapNotice + p.s.Request.Limit).Unix()
	shown := func(unix int64) string { return time.Unix(unix, 0).In(now.Location()).Format(time.DateTime) }
	for _, g := range p.view.Hardware.Gaps(p.s.Partition, p.s.Request.reservation(), p.s.Request.Nodes, now.Unix(), horizon, now.Location()) {
		p.doubt(fmt.Errorf("reservation %s leaves %d of %s from %s to %s: no service can run in that time, so the chain has a gap of %v or more",
			g.Reservation, g.Left, plural.Count(g.Total, "node"), shown(g.From), shown(g.To), time.Duration(g.To-max(g.From, now.Unix()))*time.Second))
	}
}

// reservation returns the reservation that the job is submitted into, "" for none.
func (r *Request) reservation() (name string) {
	for _, option := range r.Options {
		if value, ok := strings.CutPrefix(option, "--reservation="); ok {
			name = value
		}
	}
	return name
}
