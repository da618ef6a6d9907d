package supervisor

import (
	"time"

	"github.com/foretime/foretime/deft/internal/session"
)

// preemption follows the last job that made the policy stop others.
type preemption struct {
	begin   int64        // of the youngest job of all, ns
	waiting map[int]bool // clients stopped for it, not yet drained
	latest  int64        // when the last of them was
}

// arrived notes the youngest job that runs.
func (p *preemption) arrived(live []session.Client) {
	for _, c := range live {
		if c.State == session.Active && c.JobBeginNs > p.begin {
			*p = preemption{begin: c.JobBeginNs, waiting: map[int]bool{}}
		}
	}
}

// stopped notes that a gate was closed for it.
func (p *preemption) stopped(c session.Client) {
	if p.waiting != nil && c.State == session.Active && c.JobBeginNs < p.begin {
		p.waiting[ID(c)] = true
	}
}

// drained returns the time from the begin of the job to when the last of the
// clients stopped for it stood drained, once.
func (p *preemption) drained(live []session.Client) (time.Duration, bool) {
	before := len(p.waiting)
	for _, c := range live {
		if !p.waiting[ID(c)] {
			continue
		}
		switch {
		case c.Drained:
			p.latest = max(p.latest, c.DrainedNs)
			delete(p.waiting, ID(c))
		case c.State != session.Active: // it ended its job instead
			p.latest = max(p.latest, c.JobEndNs)
			delete(p.waiting, ID(c))
		}
	}
	if before == 0 || len(p.waiting) > 0 || p.latest <= p.begin {
		return 0, false
	}
	return time.Duration(p.latest - p.begin), true
}
