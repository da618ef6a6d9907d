package policy

import "time"

// demand tells which clients have work for the device. A client with a job that
// has had its gate open, nothing in flight and no launch for a while is in a
// phase on the host: holding others back for it would leave the device idle.
type demand struct{ seen map[int]sign }

// patience is how long a client may go without a launch before its turn is
// passed on; set by hand.
const patience = 2 * time.Millisecond

// sign is the last sign of work of a client.
type sign struct {
	launches uint64
	begin    time.Duration
	at       time.Duration
	open     bool // its gate was open since
}

func newDemand() demand { return demand{map[int]sign{}} }

// observe takes in what the clients have done since the last question.
func (d *demand) observe(now time.Duration, clients []Client) {
	forget(d.seen, clients)
	for _, c := range clients {
		s, known := d.seen[c.ID]
		if !known || s.launches != c.Launches || s.begin != c.Begin || c.InFlight > 0 || !s.open || c.Drained {
			s = sign{c.Launches, c.Begin, now, s.open}
		}
		d.seen[c.ID] = s
	}
}

// wants says whether the client has work for the device.
func (d *demand) wants(now time.Duration, c Client) bool {
	return c.Active && now-d.seen[c.ID].at < patience
}

// nobody is the holder where there is no work.
const nobody = -1

// give opens the gate of one client, and of those with no work for the device
// that are in a job; the others stop, unless nobody has work. Where more than one
// client is there, the queue of each is bounded, so that a turn ends soon after its
// gate closes.
func (d *demand) give(now time.Duration, id int, clients []Client, directives []Directive) {
	for i, c := range clients {
		idle := c.Active && !d.wants(now, c)
		directives[i].Closed = id != nobody && c.ID != id && !idle
		if len(clients) > 1 {
			c.bound(&directives[i])
		}
		s := d.seen[c.ID]
		s.open = !directives[i].Closed
		d.seen[c.ID] = s
	}
}
