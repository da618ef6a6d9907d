package daemon

import (
	"slices"
	"time"

	"github.com/foretime/foretime/deft/internal/session"
	"github.com/foretime/foretime/deft/internal/supervisor"
)

// Status is the state of a session at one moment.
type Status struct {
	Session string   `json:"session"`
	Policy  string   `json:"policy"`
	Slack   float64  `json:"slack"`
	Age     float64  `json:"owner_seconds"` // since the owner started
	Clients []Client `json:"clients"`
}

// Client is the state of a client. Counters and times count from its registration.
type Client struct {
	ID         int     `json:"id"` // distinguishes clients that had the same slot
	PID        int     `json:"pid"`
	Name       string  `json:"name"`
	Priority   int32   `json:"priority"`
	Weight     uint32  `json:"weight"`
	State      string  `json:"state"`
	Paused     bool    `json:"paused"`
	Gate       string  `json:"gate"` // open, closed, or drained: closed and nothing queued
	SyncEvery  int     `json:"sync_every"`
	Queued     uint64  `json:"queued"`
	Launches   uint64  `json:"launches"`
	Jobs       uint64  `json:"jobs"`
	Syncs      uint64  `json:"syncs"`         // synchronization points that deft added
	Stops      uint64  `json:"stops"`         // launches that found the gate closed
	GPU        float64 `json:"gpu_s"`         // with work queued
	AtGate     float64 `json:"at_gate_s"`     // waiting at the closed gate
	Stall      float64 `json:"stall_s"`       // waiting at synchronization points and the bound in flight
	GateClosed float64 `json:"gate_closed_s"` // with a closed gate, whether it launched or not
	Memory     uint64  `json:"memory_bytes"`
}

// status returns the state of the session.
func (d *Daemon) status() Status {
	s := Status{Session: d.place.name, Clients: []Client{}, Age: time.Since(d.started).Seconds()}
	var paused []int
	s.Policy, s.Slack, paused = d.control.state()
	for _, c := range d.session.Clients() {
		if c.State == session.Left {
			continue
		}
		id := supervisor.ID(c)
		s.Clients = append(s.Clients, Client{
			ID: id, PID: c.PID(), Name: c.Name, Priority: c.Priority, Weight: c.Weight, State: c.State.String(),
			Paused: slices.Contains(paused, id), Gate: gate(c), SyncEvery: c.Directive.SyncEvery,
			Queued: c.Queued, Launches: c.Launches, Jobs: c.JobsEnded, Syncs: c.Syncs, Stops: uint64(c.Stops),
			GPU: c.GPU.Seconds(), AtGate: c.AtGate.Seconds(), Stall: c.Stall.Seconds(), GateClosed: d.control.gateClosed(id).Seconds(),
			Memory: c.MemoryBytes,
		})
	}
	return s
}

// gate returns the state of a client's gate.
func gate(c session.Client) string {
	switch {
	case !c.Directive.Closed:
		return "open"
	case c.Drained:
		return "drained"
	}
	return "closed"
}
