package policy

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/foretime/foretime/deft/internal/device"
)

// Over arbitrary sequences of launches, completions, pauses, jobs and stops of an urgent
// client, next to one that always wants the device: it is never interrupted while it has
// kernels on the device, except between the launches of a client that does not fill it;
// it loses at most what it may; and once it has launched nothing for long enough, the
// other goes on.
func TestPresenceModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		slack := rapid.SampledFrom([]float64{0, 1.01, 1.1, 1.5}).Draw(t, "slack")
		served := device.Settings{Discipline: rapid.SampledFrom([]device.Discipline{device.FIFO, device.Turns, device.MPS}).Draw(t, "discipline")}.WithDefaults()
		graph := time.Duration(rapid.IntRange(1, 3000).Draw(t, "launch us")) * time.Microsecond
		p := NewPriority(Settings{Slack: slack, Device: served})
		if slack == 0 {
			slack = DefaultSlack
		}
		urgent := Client{ID: 1, Terms: Terms{Priority: 1}}
		other := Client{ID: 2, Active: true, Busy: true, InFlight: 1, Launches: 1, Longest: graph}
		now := time.Millisecond
		var (
			active, lost time.Duration // in jobs; in gaps that were given
			least        = graph + served.Switch
			idle         = now // since when the urgent client has nothing on the device
			lent         bool  // in a gap
		)
		for range rapid.IntRange(1, 200).Draw(t, "events") {
			pass := time.Duration(rapid.SampledFrom([]int{1, 20, 200, 2000, 20_000}).Draw(t, "us")) * time.Microsecond
			event := rapid.SampledFrom([]string{"launch", "done", "job", "pause"}).Draw(t, "event")
			for end := now + pass; now < end; { // pauses, with the looks that the policy wants
				directives := make([]Directive, 2)
				next := p.Decide(now, []Client{urgent, other}, directives)
				if next <= now {
					t.Fatalf("at %v: next look at %v", now, next)
				}
				open, paced := !directives[1].Closed, p.presence.histories[1].lent == lentPauses
				if urgent.Active && urgent.Busy && open && !paced {
					t.Fatalf("at %v: others launch while it has kernels on the device", now)
				}
				if directives[0].Closed || directives[0].Watch != (urgent.Active && open && !paced) {
					t.Fatalf("at %v: the urgent client's directive is %+v, others open %v", now, directives[0], open)
				}
				waited := max(gapLimit, time.Duration(float64(p.presence.returnDelay(urgent, DefaultInFlight))/(slack-1)))
				if urgent.Active && !urgent.Busy && !open && now-idle > waited+time.Nanosecond {
					t.Fatalf("at %v: idle since %v, but the others wait", now, idle)
				}
				lent = urgent.Active && open && !paced
				step := min(end, next) - now
				if urgent.Active {
					active += step
				}
				now += step
			}
			switch {
			case event == "job" && !urgent.Active:
				urgent.Active, urgent.Begin, urgent.Started = true, now, false
				urgent.Job++
				idle = now
			case event == "job" && !urgent.Busy:
				urgent.Active, lent = false, false
				urgent.Jobs++
				urgent.Syncs++
			case event == "launch" && urgent.Active:
				if lent { // it waits for a launch of the other, and a switch
					lost += least
				}
				urgent.Launches++
				urgent.InFlight++
				urgent.Busy, urgent.Started, lent = true, true, false
				idle = now
			case event == "done" && urgent.Busy:
				urgent.GPU += 50 * time.Microsecond
				urgent.InFlight--
				urgent.Busy = urgent.InFlight > 0
				idle = now
			}
			if promise := time.Duration((slack - 1) * float64(active)); lost > promise+time.Microsecond {
				t.Fatalf("at %v: lost %v of %v in jobs, at most %v", now, lost, active, promise)
			}
		}
	})
}

// An urgent client of short bursts and long gaps loses what it may and no more, however
// much each return costs.
func TestSlackIsKept(t *testing.T) {
	for _, slack := range []float64{1.01, 1.05, 1.2} {
		p := newPresence(Settings{Slack: slack})
		urgent := Client{ID: 1, Active: true, Started: true}
		other := Client{ID: 2, Active: true, Busy: true, Longest: 3 * time.Millisecond}
		clients := []Client{urgent, other}
		var now, lost time.Duration
		given := 0
		for range 300 {
			for end := now + 6*time.Millisecond; now < end; {
				p.observe(now, clients)
				next := p.decide(now, clients, anotherHasJob(clients))
				p.setBounds(clients, make([]Directive, 2))
				now = min(next, end)
			}
			if !p.usesDevice(clients[0]) {
				lost += other.Longest
				given++
			}
			clients[0].Launches++
		}
		share := float64(lost) / float64(now)
		t.Logf("slack %v: %d of 300 gaps given, %.3f of the time lost", slack, given, share)
		if share > slack-1+0.005 || share < (slack-1)/2 {
			t.Errorf("slack %v: %.3f of the time lost", slack, share)
		}
	}
}

// The kernels that may be in flight are those for which the device has had no time yet.
func TestLeft(t *testing.T) {
	s := &clientHistory{measured: measured{all: work{gpu: 600, kernels: 100}}} // 6 ns each
	for _, tt := range []struct {
		queueing time.Duration // ns
		inFlight int
		want     int
	}{{0, 50, 50}, {60, 50, 40}, {299, 50, 1}, {1000, 50, 1}, {1000, 0, 0}} {
		if got := s.kernelsLeft(Client{Queueing: tt.queueing, InFlight: tt.inFlight}); got != tt.want {
			t.Errorf("%+v: %d", tt, got)
		}
	}
	if got := new(clientHistory).kernelsLeft(Client{Queueing: time.Second, InFlight: 7}); got != 7 {
		t.Errorf("of unknown kernels: %d", got)
	}
}

// Between two launches of a client that does not fill the device others have little in
// flight; in a gap that lasts they have more, until the client launches again.
func TestGapOfPaced(t *testing.T) {
	const ms = time.Millisecond
	p := NewPriority(Settings{})
	urgent := Client{ID: 1, Terms: Terms{Priority: 1}, Active: true}
	other := Client{ID: 2, Active: true, Busy: true, InFlight: 1, Launches: 1, Longest: 50 * time.Microsecond}
	ask := func(now time.Duration) []Directive {
		directives := make([]Directive, 2)
		p.Decide(now, []Client{urgent, other}, directives)
		return directives
	}
	ask(ms)
	s := p.presence.histories[1]
	s.pace = work{ns: 1e9, kernels: 1e4}
	s.all, s.saved = work{ns: 1e9, gpu: 1e7, kernels: 1e4, syncs: 10}, float64(ms/2)
	urgent.Launches, urgent.InFlight, urgent.Busy, urgent.Started = 1, 1, true, true
	if d := ask(2 * ms); d[1].Closed || d[1].InFlightTime != DefaultInFlight || d[0].Watch {
		t.Errorf("between launches: %+v", d)
	}
	urgent.Busy = false
	if d := ask(12 * ms); d[1].Closed || d[1].InFlightTime <= DefaultInFlight || !d[0].Watch {
		t.Errorf("in a gap: %+v", d)
	}
	for now := 13 * ms; now < 200*ms; now += 20 * ms {
		ask(now)
	}
	if d := ask(200 * ms); d[1].InFlightTime != maxAhead {
		t.Errorf("in a long gap: %+v", d)
	}
	urgent.Launches, urgent.Busy = 2, true
	if d := ask(213 * ms); d[1].Closed || d[1].InFlightTime != DefaultInFlight || d[0].Watch {
		t.Errorf("after it: %+v", d)
	}
}
