package cli

import (
	"github.com/foretime/foretime/deft/internal/daemon"
	"github.com/foretime/foretime/shared/cli"
)

// showSession prints one row per client.
func showSession(p *cli.Page, s daemon.Status) {
	p.Line("session %s, policy %s", s.Session, s.Policy)
	t := p.Table("PID", "program", "priority", "weight", "state", "gate", "queued", "launches", "jobs", "memory MB")
	for _, c := range s.Clients {
		state := c.State
		if c.Paused {
			state = "paused"
		}
		t.Add(c.PID, c.Name, c.Priority, c.Weight, state, c.Gate, c.Queued, c.Launches, c.Jobs, float64(c.Memory)/1e6)
	}
}
