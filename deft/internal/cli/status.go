package cli

import (
	"slices"

	"github.com/foretime/foretime/deft/internal/daemon"
	"github.com/foretime/foretime/shared/cli"
)

// sessionView is the state of a session as top and ctl show it.
type sessionView struct {
	daemon.Status
	Clients []clientView `json:"clients"`

	rates bool // the clients have rates
}

// clientView is one line: a client, and its work since the last update.
type clientView struct {
	daemon.Client
	*clientRates // nil: no update of this owner came before
}

// clientRates holds the work of a client between two updates.
type clientRates struct {
	JobsPerSecond     float64 `json:"jobs_per_s"`
	LaunchesPerSecond float64 `json:"launches_per_s"`
	GPU               float64 `json:"gpu"`     // fraction of time with work queued
	Stall             float64 `json:"stall"`   // fraction of time waiting, at the gate included
	Stopped           float64 `json:"stopped"` // fraction of time waiting at the closed gate
}

// viewSession pairs the clients of two updates; a new one counts from zero. Without an
// earlier update of the same owner there are no rates: its age is their clock.
func viewSession(before *daemon.Status, now daemon.Status) sessionView {
	v := sessionView{Status: now, Clients: []clientView{}, rates: before != nil && now.Age > before.Age}
	for _, c := range now.Clients {
		line := clientView{Client: c}
		if v.rates {
			var old daemon.Client
			if i := slices.IndexFunc(before.Clients, func(o daemon.Client) bool { return o.ID == c.ID }); i >= 0 {
				old = before.Clients[i]
			}
			line.clientRates = ratesBetween(old, c, now.Age-before.Age)
		}
		v.Clients = append(v.Clients, line)
	}
	return v
}

// ratesBetween returns the work of a client between two updates.
func ratesBetween(old, now daemon.Client, seconds float64) *clientRates {
	rate := func(now, then float64) float64 { return max(0, now-then) / seconds }
	return &clientRates{
		JobsPerSecond:     rate(float64(now.Jobs), float64(old.Jobs)),
		LaunchesPerSecond: rate(float64(now.Launches), float64(old.Launches)),
		GPU:               rate(now.GPU, old.GPU),
		Stall:             rate(now.Stall+now.AtGate, old.Stall+old.AtGate),
		Stopped:           rate(now.AtGate, old.AtGate),
	}
}

// showSession prints one row per client.
func showSession(p *cli.Page, v sessionView) {
	p.Line("session %s, policy %s", v.Session, v.Policy)
	header := []string{"PID", "program", "priority", "weight", "state", "gate", "queued", "launches", "jobs", "memory MB"}
	if v.rates {
		header = append(header, "launches/s", "jobs/s", "GPU", "stall")
	}
	t := p.Table(header...)
	for _, c := range v.Clients {
		state := c.State
		if c.Paused {
			state = "paused"
		}
		row := []any{c.PID, c.Name, c.Priority, c.Weight, state, c.Gate, c.Queued, c.Launches, c.Jobs, float64(c.Memory) / 1e6}
		if r := c.clientRates; r != nil {
			row = append(row, r.LaunchesPerSecond, r.JobsPerSecond, cli.Share(r.GPU), cli.Share(r.Stall))
		}
		t.Add(row...)
	}
	for _, c := range v.Clients {
		if r := c.clientRates; r != nil && r.Stopped >= minShownWait {
			p.Line("%s was stopped for other programs for %.0f %% of the time; a larger --slack lets urgent programs give away more", c.Name, 100*min(r.Stopped, 1))
		}
	}
}
