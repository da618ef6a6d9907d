package policy

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/foretime/foretime/deft/internal/device"
	"github.com/foretime/foretime/deft/internal/session"
	"github.com/foretime/foretime/shared/registry"
)

// ErrUnknown is returned for an unknown policy's name.
var ErrUnknown = errors.New("unknown policy")

// Never is the next decision's time of a policy that decides only when a client changes.
const Never = time.Duration(math.MaxInt64)

// DefaultInFlight is the device time that a client below another may have in flight if it
// names no interval: long enough that its queue does not run empty while its host waits,
// and short compared with a job. On 40 drawn pairs on the virtual clock it delayed both
// clients less than the best interval did.
const DefaultInFlight = 200 * time.Microsecond

// Terms holds the terms with which a client was registered. The tags are for package experiment.
type Terms struct {
	Name     string
	Priority int           `field:"priority"`              // larger is more urgent
	Weight   float64       `field:"weight"`                // of the device under fair; 0 is 1
	Deadline time.Duration `field:"deadline_ms" unit:"ms"` // from the begin of a job; 0 none
	// Interval bounds the queue of a client that yields to others: it synchronizes with
	// the device every Interval launches. 0: the policy chooses the bound.
	Interval int
	Exempt   bool // from the policy: it never stops, and no other client stops for it
}

// Client is the state of a client at one moment. Times are on the clock of the decision.
type Client struct {
	ID     int    // stays while the client is registered
	Device uint64 // differs between devices
	Gang   uint64 // of clients that wait for one another; 0 none
	Terms
	Active   bool          // a job is running
	Busy     bool          // it has kernels on the device, as far as is known
	Waits    bool          // it waits for the device, in a call of its own or for a directive
	Syncs    uint64        // calls of its own that waited, since it registered
	Longest  time.Duration // device time of its longest launch; 0 not known
	Begin    time.Duration // of the running job, or the last one
	Launches uint64        // kernels launched since it registered, those of graphs included
	InFlight int           // kernels launched and not known to be done
	Queueing time.Duration // since its queue was last known to be empty; 0 if it is
	GPU      time.Duration // device time it has had
	Job      uint64        // number of the running job, or the last one, from 1
	Started  bool          // that job has launched something
	Held     bool          // stopped at its closed gate
	Drained  bool          // stopped there with nothing in flight
	Jobs     int           // done since it registered
}

// Directive is the owner's order to a client.
type Directive = session.Directive

// Policy decides which clients may launch. Its methods are called from one goroutine.
type Policy interface {
	// Decide sets directives[i], zero before, for clients[i], and returns the time of
	// the next decision if no client changes before: after now, or Never. Clients are
	// in ascending order of ID.
	Decide(now time.Duration, clients []Client, directives []Directive) time.Duration
}

// DecideFor calls decide for the clients that keep accepts, and leaves the directives of the
// others as they are.
func DecideFor(now time.Duration, clients []Client, directives []Directive, keep func(Client) bool, decide func(time.Duration, []Client, []Directive) time.Duration) time.Duration {
	if !slices.ContainsFunc(clients, func(c Client) bool { return !keep(c) }) {
		return decide(now, clients, directives)
	}
	var subject []Client
	var at []int
	for i, c := range clients {
		if keep(c) {
			subject, at = append(subject, c), append(at, i)
		}
	}
	answers := make([]Directive, len(subject))
	next := decide(now, subject, answers)
	for i, a := range answers {
		directives[at[i]] = a
	}
	return next
}

// None lets every client launch freely and only counts.
type None struct{}

// Decide sets no directive.
func (None) Decide(time.Duration, []Client, []Directive) time.Duration { return Never }

// Settings holds the settings of a policy. The zero value works.
type Settings struct {
	// Slack is the time of an urgent client's jobs, relative to alone, that others' use
	// of its gaps may cost; 0 is DefaultSlack.
	Slack  float64
	Device device.Settings
}

// MaxSlack is the largest slack that a user may set.
const MaxSlack = 100

// Policies lists all policies by name. A new policy is one file and one line here.
var Policies = registry.List[func(Settings) Policy]{
	{Name: "none", Help: "no control: launches are passed on at once", New: func(Settings) Policy { return None{} }},
	{Name: "priority", Help: "the most urgent job runs alone, others stop at their gate", New: func(s Settings) Policy { return NewPriority(s) }},
	{Name: "sync", Help: "less urgent clients wait for their queue every N launches", New: func(Settings) Policy { return NewSync() }},
	{Name: "fair", Help: "device time in proportion to weights", New: func(s Settings) Policy { return NewFair(s) }},
	{Name: "edf", Help: "the job with the earliest deadline runs alone", New: func(s Settings) Policy { return NewEDF(s) }},
}

// New returns a policy by its name, without history, for any number of devices and for
// gangs (see [Devices]). The error matches ErrUnknown.
func New(name string, s Settings) (Policy, error) {
	newPolicy, err := Policies.Find(name)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnknown, err)
	}
	if p, ok := newPolicy(s).(None); ok {
		return p, nil
	}
	return NewDevices(func() Policy { return newPolicy(s) }), nil
}

// weight returns the client's share of the device relative to others.
func (t Terms) weight() float64 {
	if t.Weight > 0 {
		return t.Weight
	}
	return 1
}

// boundQueue bounds the client's queue, so its kernels are soon done when its gate closes:
// a gate cannot recall queued kernels.
func (t Terms) boundQueue(d *Directive) {
	if t.Interval == 0 {
		d.InFlightTime = DefaultInFlight
		return
	}
	d.SyncEvery = t.Interval
}

// highestPriority returns the highest priority of the clients that keep accepts, or
// math.MinInt if it accepts none.
func highestPriority(clients []Client, keep func(Client) bool) int {
	highest := math.MinInt
	for _, c := range clients {
		if keep(c) {
			highest = max(highest, c.Priority)
		}
	}
	return highest
}

func isRegistered(Client) bool { return true }
func isActive(c Client) bool   { return c.Active }

// dropAbsent deletes the memory of clients that have left.
func dropAbsent[V any](memory map[int]V, clients []Client) {
	if len(memory) == 0 {
		return
	}
	present := make(map[int]bool, len(clients))
	for _, c := range clients {
		present[c.ID] = true
	}
	maps.DeleteFunc(memory, func(id int, _ V) bool { return !present[id] })
}
