package policy_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/foretime/foretime/deft/internal/policy"
)

// A rank of a gang, or a client by itself, as the hook runs it: launches kernels
// in jobs, waits for the device at the end of each, obeys its directive.
type rank struct {
	policy.Client
	peer      int // -1: by itself
	jobs      int // to do
	kernels   []bool
	next      int // kernel of the job to launch
	launched  int // all
	done      int // all
	directive policy.Directive
	closed    int // times it was held
}

// shows is whether the gate holds the rank back now.
func (r *rank) shows() bool {
	return r.directive.Closed && (r.directive.Until == 0 || r.Job > r.directive.Until)
}

// step lets the process do one thing.
func (r *rank) step(now time.Duration, queue *[]int, id int, rng *rand.Rand) {
	switch {
	case r.Jobs == r.jobs:
	case !r.Active && rng.IntN(3) > 0: // on the host
	case !r.Active:
		r.Active, r.Started, r.Begin, r.Job, r.next = true, false, now, r.Job+1, 0
	case r.next < len(r.kernels) && r.shows():
		if !r.Held {
			r.closed++
		}
		r.Held, r.Drained = true, r.InFlight == 0
	case r.next < len(r.kernels):
		r.Held, r.Drained, r.Started = false, false, true
		*queue = append(*queue, id)
		r.next, r.launched, r.InFlight, r.Launches = r.next+1, r.launched+1, r.InFlight+1, r.Launches+1
	case r.InFlight == 0: // its own synchronization
		r.Active, r.Jobs = false, r.Jobs+1
	}
}

// Eight gangs of two ranks on two devices that run one kernel at a time, first
// come first served, under policies that let one run at a time; in 200 random
// schedules, with directives that arrive late and one after the other, all end,
// and a client on a third device is never held.
func TestGangsNeverBlockOneAnother(t *testing.T) {
	for seed := range uint64(200) {
		name := []string{"priority", "edf", "fair", "sync"}[seed%4]
		t.Run(fmt.Sprint(name, seed), func(t *testing.T) { gangs(t, name, seed) })
	}
}

func gangs(t *testing.T, name string, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 0))
	p, err := policy.New(name, policy.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	ranks := make([]*rank, 17)
	for i := range ranks {
		r := &rank{peer: i ^ 1, jobs: 3 + rng.IntN(3), kernels: make([]bool, 4+rng.IntN(4))}
		if i%2 == 1 {
			r.jobs, r.kernels = ranks[i-1].jobs, ranks[i-1].kernels
		} else {
			for k := range r.kernels {
				r.kernels[k] = rng.IntN(2) == 0 // waits for its peer
			}
		}
		r.ID, r.Device, r.Gang = i, uint64(i%2)+1, uint64(i/2)+1
		r.Terms = policy.Terms{Priority: rng.IntN(3), Deadline: time.Duration(1+rng.IntN(20)) * time.Millisecond}
		r.Job = uint64(rng.IntN(3)) // ranks need not number their jobs alike
		if i%2 == 1 {
			r.Priority = ranks[i-1].Priority
		}
		if i == 16 {
			r.peer, r.Device, r.Gang = -1, 3, 0
		}
		r.directive.Closed = i < 16 // they come to a session that holds arrivals
		ranks[i] = r
	}
	var queues [3][]int
	const tick = 50 * time.Microsecond
	for now := tick; ; now += tick {
		if now > 2*time.Second {
			t.Fatalf("after %v: %s", now, state(ranks))
		}
		left := 0
		for _, i := range rng.Perm(len(ranks)) {
			for range rng.IntN(4) {
				ranks[i].step(now, &queues[ranks[i].Device-1], i, rng)
			}
			left += ranks[i].jobs - ranks[i].Jobs
		}
		if left == 0 {
			break
		}
		for d := range queues { // the device: a kernel that waits for its peer's ends with it
			if len(queues[d]) == 0 {
				continue
			}
			r := ranks[queues[d][0]]
			if r.kernels[r.done%len(r.kernels)] && r.peer >= 0 {
				o := ranks[r.peer]
				head := queues[o.Device-1]
				if o.done == r.done && (len(head) == 0 || head[0] != r.peer) {
					continue
				}
			}
			r.done, r.InFlight, r.GPU = r.done+1, r.InFlight-1, r.GPU+tick
			queues[d] = queues[d][1:]
		}
		if rng.IntN(3) == 0 {
			clients := make([]policy.Client, len(ranks))
			for i, r := range ranks {
				clients[i] = r.Client
			}
			answers := make([]policy.Directive, len(ranks))
			p.Decide(now, clients, answers)
			for _, i := range rng.Perm(len(ranks)) { // each process goes on meanwhile
				for range rng.IntN(2) {
					j := rng.IntN(len(ranks))
					ranks[j].step(now, &queues[ranks[j].Device-1], j, rng)
				}
				if ranks[i].directive != answers[i] {
					ranks[i].directive, ranks[i].Drained = answers[i], false
				}
			}
		}
	}
	if ranks[16].closed > 0 {
		t.Errorf("the client on a device of its own was held %d times", ranks[16].closed)
	}
}

func state(ranks []*rank) (text string) {
	for i, r := range ranks {
		text += fmt.Sprintf("\n%2d gang %d device %d: job %d of %d, active %v, held %v, launched %d, done %d, %+v", i, r.Gang, r.Device, r.Jobs, r.jobs, r.Active, r.Held, r.launched, r.done, r.directive)
	}
	return text
}

// An owner that comes while one rank waits for another, which it finds at its
// gate, does not know who is behind: it lets that one on by a job.
func TestARankThatIsWaitedForIsLetOn(t *testing.T) {
	p := policy.NewDevices(func() policy.Policy { return policy.NewPriority(policy.Settings{}) })
	clients := []policy.Client{
		{ID: 1, Device: 1, Gang: 7, Active: true, Job: 5, Started: true, InFlight: 3, Launches: 9},
		{ID: 2, Device: 2, Gang: 7, Active: true, Job: 8, Held: true, Drained: true, Launches: 9},
		{ID: 3, Device: 2, Active: true, Job: 1, Terms: policy.Terms{Priority: 1}},
		{ID: 4, Device: 3, Active: true, Job: 1},
	}
	directives := make([]policy.Directive, len(clients))
	for _, at := range []time.Duration{time.Second, time.Second + 4*time.Millisecond} {
		clear(directives)
		if p.Decide(at, clients, directives); directives[1].Until != 7 || directives[0].Until != 5 {
			t.Errorf("at %v: %+v", at, directives)
		}
	}
	clear(directives)
	if p.Decide(time.Second+5*time.Millisecond, clients, directives); directives[1].Until != 8 || !directives[1].Closed {
		t.Errorf("later: %+v", directives)
	}
	if directives[3] != (policy.Directive{}) || directives[2].Closed {
		t.Errorf("the others: %+v", directives[2:])
	}
}

// An exempt client is not stopped for a more urgent one, and stops nobody.
func TestExempt(t *testing.T) {
	client := func(id, priority int, exempt bool) policy.Client {
		return policy.Client{ID: id, Active: true, Busy: true, InFlight: 1, Terms: policy.Terms{Priority: priority, Exempt: exempt}}
	}
	p, err := policy.New("priority", policy.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	clients := []policy.Client{client(0, 0, false), client(1, 2, true), client(2, 0, true), client(3, 1, false)}
	for _, tt := range []struct {
		name    string
		clients []policy.Client
		closed  []bool
	}{
		{"an urgent client", clients, []bool{true, false, false, false}},
		{"only an exempt urgent client", clients[:3], []bool{false, false, false}},
		{"only exempt clients", clients[1:3], []bool{false, false}},
	} {
		directives := make([]policy.Directive, len(tt.clients))
		p.Decide(time.Millisecond, tt.clients, directives)
		for i, d := range directives {
			if d.Closed != tt.closed[i] || tt.clients[i].Exempt && d != (policy.Directive{}) {
				t.Errorf("%s: client %d: %+v", tt.name, i, d)
			}
		}
	}
}
