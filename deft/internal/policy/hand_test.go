package policy

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/foretime/foretime/deft/internal/device"
)

const us = time.Microsecond

// equal reports whether two numbers agree to 12 digits.
func equal(a, b float64) bool { return math.Abs(a-b) <= 1e-12*max(math.Abs(a), math.Abs(b)) }

// TestLongestLaunches finds the longest launch of any client and of any other one.
func TestLongestLaunches(t *testing.T) {
	for _, tt := range []struct {
		launches []time.Duration
		others   []time.Duration // for each client, the longest of the others
	}{
		{[]time.Duration{5}, []time.Duration{0}}, {[]time.Duration{5, 3}, []time.Duration{3, 5}}, {[]time.Duration{3, 5}, []time.Duration{5, 3}},
		{[]time.Duration{5, 5}, []time.Duration{5, 5}}, {[]time.Duration{1, 9, 4, 7}, []time.Duration{9, 7, 9, 9}}, {[]time.Duration{9, 4, 7, 1}, []time.Duration{7, 9, 9, 9}},
		{[]time.Duration{0, 0}, []time.Duration{0, 0}},
	} {
		var clients []Client
		for i, l := range tt.launches {
			clients = append(clients, Client{ID: i + 1, Longest: l})
		}
		l := findLongest(clients)
		for i, c := range clients {
			if got := l.ofOthers(c); got != tt.others[i] {
				t.Errorf("%v: others of %d: %d, want %d", tt.launches, i, got, tt.others[i])
			}
		}
	}
}

// TestReturnDelay adds the bound of others or their longest launch, a switch, and 100 us to react.
func TestReturnDelay(t *testing.T) {
	for _, tt := range []struct {
		device  device.Settings
		bound   time.Duration
		longest time.Duration
		want    time.Duration
	}{
		{device.Settings{}, 200 * us, 0, 300 * us}, {device.Settings{}, 200 * us, 700 * us, 800 * us},
		{device.Settings{Discipline: device.Turns, Switch: 50 * us}, 200 * us, 0, 350 * us},
		{device.Settings{Discipline: device.MPS}, 200 * us, 0, 100 * us}, {device.Settings{Discipline: device.MPS}, 200 * us, 40 * us, 140 * us},
	} {
		p := newPresence(Settings{Device: tt.device})
		p.longest = longest{id: 2, first: tt.longest}
		if got := p.returnDelay(Client{ID: 1}, tt.bound); got != tt.want {
			t.Errorf("%+v: %v", tt, got)
		}
	}
	for slack, want := range map[float64]float64{0: 1.05, 1: 1.05, 1.001: 1.001, -3: 1.05, 2: 2} {
		if p := newPresence(Settings{Slack: slack}); p.slack != want {
			t.Errorf("slack %v: %v, want %v", slack, p.slack, want)
		}
	}
}

// TestWorkForgets halves what is older once the times are more than a second.
func TestWorkForgets(t *testing.T) {
	w := work{ns: 6e8, gpu: 8, kernels: 4, syncs: 2}
	w.add(work{ns: 4e8, gpu: 1, kernels: 1, syncs: 1})
	if w != (work{1e9, 9, 5, 3}) {
		t.Errorf("%+v", w)
	}
	w.add(work{ns: 1, gpu: 10, kernels: 10, syncs: 10})
	if w != (work{(1e9 + 1) / 2, 14.5, 12.5, 11.5}) {
		t.Errorf("%+v", w)
	}
}

// TestKernelsDone subtracts the kernels in flight, no more than there were launches.
func TestKernelsDone(t *testing.T) {
	for _, tt := range []struct{ launches, inFlight, want int }{{5, 2, 3}, {5, 5, 0}, {5, 9, 0}, {0, 0, 0}} {
		if got := (Client{Launches: uint64(tt.launches), InFlight: tt.inFlight}).done(); got != uint64(tt.want) {
			t.Errorf("%+v: %d", tt, got)
		}
	}
}

// TestLeftOfTinyKernels counts kernels of which even a nanosecond of device time is known.
func TestLeftOfTinyKernels(t *testing.T) {
	for gpu, want := range map[float64]int{0: 9, 1: 1, -1: 9} {
		s := &clientHistory{measured: measured{all: work{gpu: gpu, kernels: 5}}}
		if got := s.kernelsLeft(Client{InFlight: 9, Queueing: 100}); got != want {
			t.Errorf("device time of %v ns: %d left, want %d", gpu, got, want)
		}
	}
}

// TestMeasureByHand adds up the work between two looks, in jobs, while the client was alone and did
// not wait.
func TestMeasureByHand(t *testing.T) {
	before := Client{Active: true, Started: true, Launches: 10, Syncs: 2, GPU: 100}
	for _, tt := range []struct {
		name      string
		alone     bool
		lent      lent
		change    func(c, last *Client)
		pace, all work
		recent    work
	}{
		{name: "no job", alone: true, change: func(c, last *Client) { last.Active = false }},
		{name: "launches alone", alone: true, change: func(c, _ *Client) { c.Launches, c.GPU = 14, 180 }, pace: work{ns: 50, kernels: 4}, all: work{50, 80, 4, 0}},
		{name: "launches beside others", change: func(c, _ *Client) { c.Launches, c.GPU = 14, 180 }, all: work{50, 80, 4, 0}},
		{name: "not started", alone: true, change: func(c, last *Client) { last.Started, c.Launches = false, 14 }, all: work{50, 0, 4, 0}},
		{name: "another job", alone: true, change: func(c, _ *Client) { c.Begin, c.Launches = 7, 14 }, all: work{50, 0, 4, 0}},
		{name: "it waited", alone: true, change: func(c, _ *Client) { c.Syncs, c.Launches = 3, 14 }, all: work{50, 0, 4, 1}},
		{name: "it waits now", alone: true, change: func(c, _ *Client) { c.Waits, c.Launches = true, 14 }, all: work{50, 0, 4, 0}},
		{name: "it waited then", alone: true, change: func(c, last *Client) { last.Waits, c.Launches = true, 14 }, all: work{50, 0, 4, 0}},
		{name: "on its host", alone: true, change: func(*Client, *Client) {}, pace: work{ns: 50}},
		{name: "waiting without a launch", alone: true, change: func(c, _ *Client) { c.Waits = true }, all: work{ns: 50}},
		{name: "in a lent gap", lent: lentGap, change: func(c, _ *Client) { c.Launches, c.GPU = 14, 180 }, all: work{0, 80, 4, 0}},
		{name: "none is known to be done", change: func(c, _ *Client) { c.Launches, c.InFlight = 14, 4 }, recent: work{ns: 50}},
		{name: "some are known to be done", change: func(c, _ *Client) { c.Launches, c.InFlight, c.GPU = 14, 3, 120 }, all: work{50, 20, 1, 0}},
	} {
		c, last := before, before
		tt.change(&c, &last)
		p := newPresence(Settings{})
		s := &clientHistory{at: 1000, last: last, loan: loan{lent: tt.lent}, measured: measured{alone: tt.alone}}
		p.measure(s, 1050, c)
		if s.pace != tt.pace || s.all != tt.all || s.recent != tt.recent {
			t.Errorf("%s: pace %+v, all %+v, recent %+v", tt.name, s.pace, s.all, s.recent)
		}
	}
}

// TestInterleavedWorkIsPaid charges a client for the time that its kernels took longer than alone.
func TestInterleavedWorkIsPaid(t *testing.T) {
	p := newPresence(Settings{})
	last := Client{Active: true, Launches: 10}
	for _, tt := range []struct {
		interleaved bool
		pace        work
		want        float64
	}{{true, work{ns: 20, kernels: 2}, 1000 - (90 - 4*10)}, {false, work{ns: 20, kernels: 2}, 1000}, {true, work{}, 1000}} {
		s := &clientHistory{at: 0, last: last, loan: loan{saved: 1000, lent: lentPauses}, measured: measured{pace: tt.pace, interleaved: tt.interleaved}}
		p.measure(s, 90, Client{Active: true, Launches: 14})
		if s.saved != tt.want || !s.interleaved || s.recent != (work{}) {
			t.Errorf("%+v: saved %v, want %v", tt, s.saved, tt.want)
		}
	}
}

// TestIdleSince wants the time since which a client has had nothing on the device.
func TestIdleSince(t *testing.T) {
	const now, idle = 1000, 400
	for _, tt := range []struct {
		name   string
		open   bool
		lent   lent
		change func(*Client)
		want   time.Duration
		after  lent
		saved  float64
	}{
		{"nothing", true, lentNothing, func(*Client) {}, idle, lentNothing, 0},
		{"a launch", true, lentNothing, func(c *Client) { c.Launches++ }, now, lentNothing, 0},
		{"a launch in a lent gap", true, lentGap, func(c *Client) { c.Launches++ }, now, lentNothing, -70},
		{"a launch between lent pauses", true, lentPauses, func(c *Client) { c.Launches++ }, now, lentPauses, 0},
		{"a job that began", true, lentNothing, func(c *Client) { c.Begin = 900 }, 900, lentNothing, 0},
		{"a job that is to begin", true, lentNothing, func(c *Client) { c.Begin = 1100 }, now, lentNothing, 0},
		{"kernels", true, lentNothing, func(c *Client) { c.Busy = true }, now, lentNothing, 0},
		{"its gate is closed", false, lentNothing, func(*Client) {}, now, lentNothing, 0},
		{"it stands at its gate", true, lentNothing, func(c *Client) { c.Drained = true }, now, lentNothing, 0},
		{"kernels in a lent gap", true, lentGap, func(c *Client) { c.Busy = true }, now, lentNothing, 0},
		{"a gate in a lent gap", true, lentGap, func(c *Client) { c.Drained = true }, now, lentNothing, 0},
		{"the job ends in a lent gap", true, lentGap, func(c *Client) { c.Active = false }, idle, lentNothing, 0},
		{"a lent gap goes on", true, lentGap, func(*Client) {}, idle, lentGap, 0},
	} {
		p := newPresence(Settings{})
		c := Client{Active: true, Launches: 3}
		s := &clientHistory{open: tt.open, last: c, loan: loan{idle: idle, lent: tt.lent}}
		tt.change(&c)
		p.updateIdle(s, now, c, 70)
		if s.idle != tt.want || s.lent != tt.after || s.saved != tt.saved {
			t.Errorf("%s: idle since %d, lent %d, saved %v", tt.name, s.idle, s.lent, s.saved)
		}
	}
}

// TestSavings adds a twentieth of a job's time, up to a twentieth of 200 ms or the cost of a return.
func TestSavings(t *testing.T) {
	for _, tt := range []struct {
		longest, passed, begin time.Duration
		saved, want            float64
	}{
		{0, 20 * ms, 0, 0, 1e6}, {0, 20 * ms, 0, 9.5e6, 10e6}, {30 * ms, 20 * ms, 0, 29.9e6, 30.1e6}, {30 * ms, 20 * ms, 0, 20e6, 21e6},
		{0, 20 * ms, 15 * ms, 0, 0.25e6}, {0, 20 * ms, 0, -50e6, -10e6}, {0, 20 * ms, 0, -3e6, -2e6},
	} {
		p := newPresence(Settings{})
		c := Client{ID: 1, Active: true}
		others := Client{ID: 2, Longest: tt.longest}
		p.observe(0, []Client{c, others})
		p.histories[1].saved = tt.saved
		c.Begin = tt.begin
		p.observe(tt.passed, []Client{c, others})
		if got := p.histories[1].saved; math.Abs(got-tt.want) > 1e-3 {
			t.Errorf("%+v: %v", tt, got)
		}
	}
}

// lending returns a presence of one client with a history, observed at 0.
func lending(s *clientHistory, settings device.Settings) (presence, Client) {
	p := newPresence(Settings{Device: settings})
	s.open = true
	p.histories[1] = s
	return p, Client{ID: 1, Active: true}
}

func wait(Client) bool { return true }

// TestNextLook looks again after half of the cost, between 0.25 and 2 ms, when a gap is ready to be
// given, or 20 ms after it was.
func TestNextLook(t *testing.T) {
	for _, tt := range []struct {
		name    string
		longest time.Duration
		busy    bool
		idle    time.Duration // since
		saved   float64
		next    time.Duration // from now, which is 10 ms
		lent    lent
	}{
		{"busy: half of 300 us is below the least", 0, true, 0, 0, 250 * us, lentNothing},
		{"busy: half of 1.1 ms", ms, true, 0, 0, 550 * us, lentNothing},
		{"busy: half of 9.1 ms is above the most", 9 * ms, true, 0, 0, 2 * ms, lentNothing},
		{"idle for less than the cost", 0, false, 10*ms - 200*us, 1e9, 100 * us, lentNothing},
		{"idle for the cost", 0, false, 10*ms - 300*us, 1e9, 20 * ms, lentGap},
		{"idle for a nanosecond less", 0, false, 10*ms - 300*us + 1, 1e9, 1, lentNothing},
		{"idle for the longest gap", 9 * ms, false, 5 * ms, 1e9, 20 * ms, lentGap},
		{"idle for less than the longest gap", 9 * ms, false, 5*ms + us, 1e9, us, lentNothing},
		{"nearly enough saved", 0, false, 0, 300e3 - 5, 100, lentNothing},
		{"just enough saved", 0, false, 0, 300e3, 20 * ms, lentGap},
		{"far from enough saved", 0, false, 0, 0, 250 * us, lentNothing},
	} {
		p, c := lending(&clientHistory{loan: loan{idle: tt.idle, saved: tt.saved}}, device.Settings{})
		p.longest = longest{id: 2, first: tt.longest}
		c.Busy = tt.busy
		idle := Client{ID: 0} // it has no job, and comes first
		next := p.decide(10*ms, []Client{idle, c}, wait)
		if s := p.histories[1]; next-10*ms != tt.next || s.lent != tt.lent {
			t.Errorf("%s: next in %v, lent %d, want %v and %d", tt.name, next-10*ms, s.lent, tt.next, tt.lent)
		}
	}
	p, c := lending(&clientHistory{loan: loan{saved: 1e9}}, device.Settings{})
	other := c
	other.ID = 3
	p.histories[3] = &clientHistory{open: true, loan: loan{idle: 10 * ms}}
	next := p.decide(10*ms, []Client{c, other}, func(c Client) bool { return c.ID == 3 })
	if p.histories[1].keeps || !p.histories[3].keeps || p.histories[1].lent != lentNothing || next != 10*ms+250*us {
		t.Errorf("next at %v", next)
	}
	if next := p.decide(10*ms, []Client{c}, func(Client) bool { return false }); next != Never {
		t.Errorf("nobody waits: next at %v", next)
	}
}

// TestDepthInAGap lets others have half of what the client saved in flight, 0.2 to 2 ms.
func TestDepthInAGap(t *testing.T) {
	for saved, want := range map[float64]time.Duration{0: 200 * us, 4e5: 200 * us, 4.02e5: 201 * us, 3.99e6: 1995 * us, 4e6: 2 * ms, 9e9: 2 * ms, -5: 200 * us} {
		if got := (&clientHistory{loan: loan{saved: saved}}).depth(); got != want {
			t.Errorf("saved %v ns: %v, want %v", saved, got, want)
		}
	}
}

// TestSharedPauses lets others in between a client's launches if it fills less than 0.8 of the
// device, is in the first quarter of its kernels between two waits, and has saved the loss.
func TestSharedPauses(t *testing.T) {
	// 100 kernels between two waits, 10 us apart alone, of 5 us each on the device.
	half := measured{pace: work{ns: 1e6, kernels: 100}, all: work{gpu: 5e5, kernels: 100, syncs: 1}}
	for _, tt := range []struct {
		name   string
		change func(s *clientHistory, c *Client, loss *time.Duration, paced *bool)
		want   bool
	}{
		{"half full", func(*clientHistory, *Client, *time.Duration, *bool) {}, true},
		{"it waits with kernels", func(_ *clientHistory, c *Client, _ *time.Duration, _ *bool) { c.Waits, c.Busy = true, true }, false},
		{"it waits without", func(_ *clientHistory, c *Client, _ *time.Duration, _ *bool) { c.Waits = true }, true},
		{"at its gate", func(_ *clientHistory, c *Client, _ *time.Duration, _ *bool) { c.Drained = true }, false},
		{"its gate is closed", func(s *clientHistory, _ *Client, _ *time.Duration, _ *bool) { s.open = false }, false},
		{"no waits known", func(s *clientHistory, _ *Client, _ *time.Duration, _ *bool) { s.all.syncs = 0 }, false},
		{"no pace known", func(s *clientHistory, _ *Client, _ *time.Duration, _ *bool) { s.pace.kernels = 0 }, false},
		{"0.8 full", func(s *clientHistory, _ *Client, _ *time.Duration, _ *bool) { s.all.gpu = 8e5 }, true},
		{"fuller", func(s *clientHistory, _ *Client, _ *time.Duration, _ *bool) { s.all.gpu = 8.001e5 }, false},
		{"a quarter in flight, most done by time", func(_ *clientHistory, c *Client, _ *time.Duration, _ *bool) {
			c.InFlight, c.Queueing = 25, 120*us
		}, true},
		{"more than a quarter in flight", func(_ *clientHistory, c *Client, _ *time.Duration, _ *bool) {
			c.InFlight, c.Queueing = 26, 130*us
		}, false},
		{"two kernels left", func(_ *clientHistory, c *Client, _ *time.Duration, _ *bool) { c.InFlight = 2 }, false},
		{"the loss is saved", func(_ *clientHistory, _ *Client, loss *time.Duration, _ *bool) { *loss = 600 * us }, true},
		{"the loss is not saved", func(_ *clientHistory, _ *Client, loss *time.Duration, _ *bool) { *loss = 601 * us }, false},
		{"paced, with kernels left", func(s *clientHistory, c *Client, _ *time.Duration, paced *bool) {
			c.InFlight, *paced, s.mayLose, s.open, c.Drained = 90, true, 1e6, false, true
		}, true},
		{"paced, may lose it", func(s *clientHistory, _ *Client, loss *time.Duration, paced *bool) {
			*loss, *paced, s.mayLose = 50*us, true, 50e3
		}, true},
		{"paced, may lose less", func(s *clientHistory, _ *Client, loss *time.Duration, paced *bool) {
			*loss, *paced, s.mayLose = 50*us, true, 49e3
		}, false},
		{"paced, saved less", func(s *clientHistory, _ *Client, loss *time.Duration, paced *bool) {
			*loss, *paced, s.mayLose, s.saved = 50*us, true, 1e6, 49e3
		}, false},
	} {
		s := &clientHistory{measured: half, loan: loan{saved: 6e5}}
		p, c := lending(s, device.Settings{})
		loss, paced := time.Duration(0), false
		tt.change(s, &c, &loss, &paced)
		if got := p.sharesPauses(s, c, loss, paced); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
	// A twentieth of the time between two waits, 1 ms, may be lost, or what opening costs.
	for loss, want := range map[time.Duration]float64{0: 50e3, 49 * us: 50e3, 60 * us: 60e3} {
		s := &clientHistory{measured: half, loan: loan{saved: 6e5}}
		p, c := lending(s, device.Settings{})
		if p.sharesPauses(s, c, loss, false); !equal(s.mayLose, want) && math.Abs(s.mayLose-want) > 1e-6 {
			t.Errorf("loss %v: may lose %v, want %v", loss, s.mayLose, want)
		}
	}
	s := &clientHistory{measured: half, loan: loan{saved: 6e5}}
	p, c := lending(s, device.Settings{Discipline: device.Turns, Switch: 100 * us})
	if p.sharesPauses(s, c, 401*us, false) || !p.sharesPauses(s, c, 400*us, false) {
		t.Error("opening costs two switches")
	}
}

// TestPauseLoss adds others' work ahead, the client's own queue, and what a switch or their kernels
// between its own take until the next look.
func TestPauseLoss(t *testing.T) {
	all := work{gpu: 1e6, kernels: 100} // 10 us each
	for _, tt := range []struct {
		name     string
		device   device.Settings
		all      work
		inFlight int
		want     time.Duration
	}{
		{"nothing known", device.Settings{}, work{}, 5, 0},
		{"one after the other", device.Settings{}, all, 5, 300*us + 50*us},
		{"none in flight", device.Settings{}, all, 0, 300 * us},
		{"turns", device.Settings{Discipline: device.Turns, Switch: 40 * us}, all, 5, 300*us + 50*us + 40*us + 125*us},
		{"turns without a switch", device.Settings{Discipline: device.Turns, Switch: -1}, all, 5, 350 * us},
		{"mps", device.Settings{Discipline: device.MPS}, all, 2, 70*us + 20*us + 70*us},
		{"mps, many in flight", device.Settings{Discipline: device.MPS}, all, 5, 70*us + 50*us + 125*us},
	} {
		s := &clientHistory{measured: measured{all: tt.all}, loan: loan{ahead: 300 * us}}
		p, c := lending(s, tt.device)
		p.longest = longest{id: 2, first: 70 * us}
		c.InFlight = tt.inFlight
		if got := p.pauseLoss(s, c); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// TestBoundsNextToLoans bounds others' queues by the least of what each client of which they use the
// time allows.
func TestBoundsNextToLoans(t *testing.T) {
	for _, tt := range []struct {
		name  string
		loans []loan
		want  time.Duration
	}{
		{"no other job", nil, 200 * us},
		{"a job that lends nothing", []loan{{}}, 200 * us},
		{"a gap", []loan{{lent: lentGap, ahead: 900 * us}}, 900 * us},
		{"a short gap", []loan{{lent: lentGap, ahead: 100 * us}}, 200 * us},
		{"two gaps", []loan{{lent: lentGap, ahead: 900 * us}, {lent: lentGap, ahead: 700 * us}}, 700 * us},
		{"a gap and a job", []loan{{lent: lentGap, ahead: 900 * us}, {}}, 200 * us},
		{"pauses", []loan{{lent: lentPauses, ahead: 60 * us}}, 60 * us},
		{"two with pauses", []loan{{lent: lentPauses, ahead: 60 * us}, {lent: lentPauses, ahead: 50 * us}}, 50 * us},
		{"pauses and a gap", []loan{{lent: lentPauses, ahead: 60 * us}, {lent: lentGap, ahead: 900 * us}}, 60 * us},
	} {
		p := newPresence(Settings{})
		clients := []Client{{ID: 0, Active: true}}
		p.histories[0] = &clientHistory{}
		for i, l := range tt.loans {
			clients = append(clients, Client{ID: i + 1, Active: true})
			p.histories[i+1] = &clientHistory{loan: l}
		}
		clients = append(clients, Client{ID: 99})
		p.histories[99] = &clientHistory{loan: loan{lent: lentGap, ahead: 1}} // without a job it does not count
		directives := make([]Directive, len(clients))
		directives[0].InFlightTime = 1
		p.setBounds(clients, directives)
		if got := directives[0].InFlightTime; got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
		for i, d := range directives[1:] {
			if d.InFlightTime != 0 {
				t.Errorf("%s: client %d is bounded", tt.name, i+1)
			}
		}
	}
}

// TestAlone notes who had the device to itself.
func TestAlone(t *testing.T) {
	for _, tt := range []struct {
		name    string
		clients []Client
		closed  []bool
		alone   []bool
	}{
		{"nobody", []Client{{}, {}}, []bool{false, false}, []bool{true, true}},
		{"one", []Client{{Active: true}, {}}, []bool{false, false}, []bool{true, false}},
		{"one that is stopped", []Client{{Active: true}, {}}, []bool{true, false}, []bool{true, true}},
		{"one that is stopped, with kernels", []Client{{Active: true, Busy: true}, {}}, []bool{true, false}, []bool{true, false}},
		{"two", []Client{{Active: true}, {Active: true}}, []bool{false, false}, []bool{false, false}},
		{"two, one stopped", []Client{{Active: true}, {Active: true}}, []bool{false, true}, []bool{true, false}},
	} {
		p := newPresence(Settings{})
		directives := make([]Directive, len(tt.clients))
		for i := range tt.clients {
			tt.clients[i].ID = i
			p.histories[i] = &clientHistory{keeps: i == 0}
			directives[i].Closed = tt.closed[i]
		}
		p.setBounds(tt.clients, directives)
		for i, want := range tt.alone {
			if s := p.histories[i]; s.alone != want || s.open == tt.closed[i] || directives[i].Timed != (i == 0) {
				t.Errorf("%s: client %d: alone %v, open %v, %+v", tt.name, i, s.alone, s.open, directives[i])
			}
		}
		if p.setBounds(tt.clients[:1], directives[:1]); directives[0].Timed {
			t.Errorf("%s: the only client is timed", tt.name)
		}
	}
	for clients, want := range map[[2]bool][2]bool{{false, false}: {false, false}, {true, false}: {false, true}, {true, true}: {true, true}} {
		all := []Client{{ID: 0, Active: clients[0]}, {ID: 1, Active: clients[1]}}
		has := anotherHasJob(all)
		if has(all[0]) != want[0] || has(all[1]) != want[1] {
			t.Errorf("%v: another has a job: %v, %v", clients, has(all[0]), has(all[1]))
		}
	}
}

// TestChargesByHand charges device time by weight, and lets a client that returns be ten granularities
// of its weight and the longest launch behind the least of those that work.
func TestChargesByHand(t *testing.T) {
	f := NewFair(Settings{})
	see := func(clients ...Client) {
		for i := range clients {
			clients[i].ID = i
		}
		f.presence.observe(0, clients)
		f.chargeClients(clients)
	}
	heavy := Client{Active: true, Terms: Terms{Weight: 4}, Longest: 8 * ms}
	light := Client{Active: true, Terms: Terms{Weight: 1}, Longest: ms}
	idle := Client{Terms: Terms{Weight: 0.5}}
	see(heavy, light, idle)
	heavy.GPU = 400 * ms
	light.GPU = 90 * ms
	see(heavy, light, idle)
	idle.Active = true
	see(heavy, light, idle)
	// The least is 90 ms; credit 20 ms / 0.5; a launch adds at most 2 ms (8 / 4, 1 / 1).
	if v := f.virtual; v[0].time != 100e6 || v[1].time != 90e6 || v[2].time != 48e6 {
		t.Errorf("%+v", v)
	}
	idle.GPU = 10 * ms
	see(heavy, light, idle)
	if v := f.virtual[2].time; v != 68e6 {
		t.Errorf("%v after 10 ms of weight 0.5", v)
	}
	idle.Active = false
	see(heavy, light, idle)
	idle.Active = true
	see(heavy, light, idle)
	if v := f.virtual[2].time; v != 68e6 {
		t.Errorf("%v: it gained by a pause", v)
	}
	if w := (Terms{}).weight(); w != 1 {
		t.Errorf("weight %v", w)
	}
	see(heavy)
	if len(f.virtual) != 1 {
		t.Errorf("%d accounts", len(f.virtual))
	}
	f.presence.longest = longest{id: 7, first: 50 * ms, second: ms}
	directives := []Directive{{InFlightTime: 200 * us}, {InFlightTime: 6 * ms}, {}}
	f.widenBounds([]Client{{ID: 1}, {ID: 2}, {ID: 3}}, directives)
	if directives[0].InFlightTime != 5*ms || directives[1].InFlightTime != 6*ms || directives[2].InFlightTime != 0 {
		t.Errorf("%+v", directives)
	}
}

// TestFairLooksAgain looks after half a granularity while two clients are there and one has a job.
func TestFairLooksAgain(t *testing.T) {
	for _, tt := range []struct {
		clients []Client
		next    time.Duration
	}{
		{[]Client{{Active: true, InFlight: 1}, {Active: true}}, ms}, {[]Client{{Active: true, InFlight: 1}, {}}, ms}, {[]Client{{}, {}}, Never - 1}, {[]Client{{Active: true, InFlight: 1}}, Never - 1},
	} {
		f := NewFair(Settings{})
		if _, next := decide(t, f, 1, tt.clients...); next > tt.next+1 || next != Never && next < 200*us {
			t.Errorf("%+v: next at %v, want %v", tt.clients, next, tt.next)
		}
	}
}

// TestUrgency compares the slack of each job, and of those before it, with half of their need and 2 ms.
func TestUrgency(t *testing.T) {
	for _, tt := range []struct {
		name   string
		line   []queued
		urgent bool
		next   time.Duration // from now, which is 10 ms
	}{
		{"none", nil, false, Never - 10*ms},
		{"unknown", []queued{{deadline: time.Hour}}, true, 2 * ms},
		{"slack", []queued{{deadline: 30 * ms, need: 4 * ms, known: true}}, false, 12 * ms},
		{"just no slack", []queued{{deadline: 18 * ms, need: 4 * ms, known: true}}, true, 2 * ms},
		{"a nanosecond of slack", []queued{{deadline: 18*ms + 1, need: 4 * ms, known: true}}, false, 1},
		{"the second's slack", []queued{{deadline: 30 * ms, need: 4 * ms, known: true}, {deadline: 31 * ms, need: 6 * ms, known: true}}, false, 4 * ms},
		{"the second is unknown", []queued{{deadline: 30 * ms, need: 4 * ms, known: true}, {deadline: time.Hour}}, true, 2 * ms},
	} {
		if urgent, next := isUrgent(10*ms, tt.line); urgent != tt.urgent || next-10*ms != tt.next {
			t.Errorf("%s: %v, next in %v", tt.name, urgent, next-10*ms)
		}
	}
}

// TestAccountsByHand divides the device time of jobs that ended between two looks, and starts again
// with each job.
func TestAccountsByHand(t *testing.T) {
	e := NewEDF(Settings{})
	for _, tt := range []struct {
		jobs            int
		gpu, begin      time.Duration
		perJob, atBegin time.Duration
	}{{0, 5, 1, 0, 5}, {0, 9, 1, 0, 5}, {2, 25, 1, 10, 25}, {2, 30, 2, 10, 30}, {3, 50, 2, 13, 50}, {3, 60, 2, 13, 50}, {3, 60, 3, 13, 60}} {
		e.observe([]Client{{Jobs: tt.jobs, GPU: tt.gpu, Begin: tt.begin}})
		if a := e.accounts[0]; !equal(a.perJob, float64(tt.perJob)) || a.atBegin != tt.atBegin || a.jobs != tt.jobs || a.begin != tt.begin {
			t.Errorf("%+v: %+v", tt, a)
		}
	}
	line := e.deadlineQueue([]Client{
		{Active: true, GPU: 62, Begin: 3, Terms: Terms{Deadline: 100}}, {Active: true, Terms: Terms{Deadline: 50}, ID: 1}, {Terms: Terms{Deadline: 1}, ID: 2}, {Active: true, ID: 3},
	})
	if want := []queued{{1, 50, 0, false}, {0, 103, 11, true}}; !slices.Equal(line, want) {
		t.Errorf("%+v, want %+v", line, want)
	}
	if line := e.deadlineQueue([]Client{{Active: true, GPU: 99, Terms: Terms{Deadline: 100}}}); line[0].need != 0 {
		t.Errorf("need %v of a job that had more than the mean", line[0].need)
	}
}

// TestSyncLimits tries the stated conditions on both sides.
func TestSyncLimits(t *testing.T) {
	for _, tt := range []struct {
		priority int
		all      []int
		want     bool
	}{{1, []int{1}, true}, {1, []int{1, 2}, true}, {2, []int{1, 2}, false}, {2, []int{2, 2}, true}, {1, []int{0, 1, 2}, true}} {
		if got := IsBounded(tt.priority, tt.all); got != tt.want {
			t.Errorf("%+v: %v", tt, got)
		}
	}
	// Setup 30 us × 40 launches a job over kernels of 10 us: the square root of 240.
	low := Client{Active: true, Launches: 400, Jobs: 10, GPU: 4 * ms}
	urgent := Client{ID: 1, Terms: Terms{Priority: 1}, Jobs: 1, GPU: 5 * ms}
	for _, tt := range []struct {
		name   string
		change func(low, urgent *Client)
		want   int
	}{
		{"by the jobs", func(*Client, *Client) {}, 15},
		{"the urgent one runs half as often", func(_, u *Client) { u.Active, u.Jobs = true, 5 }, 1},
		{"it runs more often", func(_, u *Client) { u.Active, u.Jobs = true, 6 }, 15},
		{"of equal priority", func(_, u *Client) { u.Active, u.Priority = true, 0 }, 15},
		{"100 us until its deadline", func(_, u *Client) { u.Deadline = 5100 * us }, 10},
		{"one kernel until its deadline", func(_, u *Client) { u.Deadline = 5010 * us }, 1},
		{"less than a kernel until it", func(_, u *Client) { u.Deadline = 5010*us - 1 }, 15},
		{"a deadline without a job", func(_, u *Client) { u.Deadline, u.Jobs = 5100*us, 0 }, 15},
		{"no job of its own", func(l, _ *Client) { l.Jobs = 0 }, 16},
		{"its own interval", func(l, _ *Client) { l.Interval = 9 }, 9},
	} {
		l, u := low, urgent
		tt.change(&l, &u)
		d, next := decide(t, NewSync(), 5, l, u)
		if d[0].SyncEvery != tt.want || (next == 5+ms) != (l.Interval == 0) {
			t.Errorf("%s: every %d, want %d; next at %v", tt.name, d[0].SyncEvery, tt.want, next)
		}
	}
	for _, tt := range []struct {
		setup, delay float64
		want         int
	}{{3.125, 1, 3}, {3.12, 1, 2}, {1, 9, 1}, {0.5, 1e-9, 31623}, {1e18, 1e-9, 46341}} {
		if got := Harris(tt.setup, tt.delay); got != tt.want {
			t.Errorf("Harris(%v, %v) = %d, want %d", tt.setup, tt.delay, got, tt.want)
		}
	}
}

// TestCoupledDevices joins devices that a gang uses.
func TestCoupledDevices(t *testing.T) {
	root := coupledDevices([]Client{{Device: 1, Gang: 5}, {Device: 2}, {Device: 3, Gang: 5}, {Device: 4, Gang: 6}, {Device: 3, Gang: 6}, {Device: 7, Gang: 8}})
	for _, pair := range [][3]uint64{{1, 3, 1}, {1, 4, 1}, {3, 4, 1}, {1, 2, 0}, {2, 4, 0}, {1, 7, 0}, {2, 7, 0}} {
		if (root(pair[0]) == root(pair[1])) != (pair[2] == 1) {
			t.Errorf("devices %d and %d", pair[0], pair[1])
		}
	}
}

// TestMergedRanks shows a gang to a policy as one client.
func TestMergedRanks(t *testing.T) {
	a := Client{ID: 1, Active: true, Begin: 9, Terms: Terms{Priority: 1}, Longest: 5, Syncs: 1, Launches: 10, InFlight: 1, GPU: 7, Jobs: 3}
	b := Client{ID: 2, Active: true, Begin: 6, Terms: Terms{Priority: 2}, Longest: 4, Syncs: 2, Launches: 20, InFlight: 2, GPU: 8, Jobs: 2, Busy: true, Waits: true, Started: true, Held: true}
	for _, pair := range [][2]Client{{a, b}, {b, a}} {
		m := pair[0].mergeRank(pair[1])
		want := Client{
			ID: pair[0].ID, Active: true, Begin: 6, Terms: Terms{Priority: 2}, Longest: 5, Syncs: 3, Launches: 30, InFlight: 3, GPU: 8, Jobs: 2,
			Busy: true, Waits: true, Started: true, Held: true,
		}
		if m != want {
			t.Errorf("%+v, want %+v", m, want)
		}
	}
	for _, tt := range []struct {
		a, b    Client
		drained bool
		begin   time.Duration
	}{
		{Client{Begin: 5}, Client{Active: true, Begin: 8}, false, 8},
		{Client{Active: true, Begin: 5}, Client{Begin: 3}, false, 5},
		{Client{Active: true, Drained: true}, Client{}, true, 0},
		{Client{Active: true, Drained: true}, Client{InFlight: 1}, false, 0},
		{Client{Active: true, Drained: true, Started: true}, Client{Active: true, Drained: true}, true, 0},
		{Client{Active: true, Drained: true, Started: true}, Client{Active: true, Drained: true, Started: true}, false, 0},
	} {
		for _, m := range []Client{tt.a.mergeRank(tt.b), tt.b.mergeRank(tt.a)} {
			if m.Drained != tt.drained || m.Active && m.Begin != tt.begin {
				t.Errorf("%+v: %+v", tt, m)
			}
		}
	}
	for _, tt := range []struct {
		c       Client
		stopped bool
		last    uint64
	}{
		{Client{Job: 4}, true, 4}, {Client{Job: 4, InFlight: 1}, false, 4}, {Client{Job: 4, Active: true}, false, 3}, {Client{Job: 4, Active: true, Started: true}, false, 4},
		{Client{Job: 4, Active: true, Drained: true}, true, 3}, {Client{Job: 4, Active: true, Drained: true, Started: true}, false, 4},
	} {
		if tt.c.isStopped() != tt.stopped || tt.c.lastStartedJob() != tt.last {
			t.Errorf("%+v: stopped %v, last started %d", tt.c, tt.c.isStopped(), tt.c.lastStartedJob())
		}
	}
}

// TestOneGangAtATime lets one of several gangs run; another one that stands at its gate takes over
// when the running one has stopped, the most urgent and then the earliest first.
func TestOneGangAtATime(t *testing.T) {
	for _, tt := range []struct {
		name    string
		running uint64
		gangs   map[uint64]*gang
		units   []Client
		policy  []bool // closed by the policy
		want    []bool
		now     uint64 // the gang that runs then
	}{
		{"a single gang", 5, map[uint64]*gang{5: {}}, []Client{{Gang: 5}, {}}, []bool{false, false}, []bool{false, false}, 0},
		{"none runs yet", 0, map[uint64]*gang{5: {}, 6: {}}, []Client{{Gang: 5}, {Gang: 6, Held: true}}, []bool{false, false}, []bool{true, false}, 6},
		{"nobody waits", 0, map[uint64]*gang{5: {}, 6: {}}, []Client{{Gang: 5}, {Gang: 6}}, []bool{false, false}, []bool{true, true}, 0},
		{"one runs", 5, map[uint64]*gang{5: {}, 6: {}}, []Client{{Gang: 5}, {Gang: 6, Held: true}, {}}, []bool{false, false, false}, []bool{false, true, false}, 5},
		{"it has stopped, but its gate is open", 5, map[uint64]*gang{5: {stopped: true}, 6: {}}, []Client{{Gang: 5}, {Gang: 6, Held: true}}, []bool{false, false}, []bool{true, true}, 5},
		{"it has stopped at its gate", 5, map[uint64]*gang{5: {stopped: true, closed: true}, 6: {}}, []Client{{Gang: 5}, {Gang: 6, Held: true}}, []bool{false, false}, []bool{true, false}, 6},
		{"its gate is closed, but it has not stopped", 5, map[uint64]*gang{5: {closed: true}, 6: {}}, []Client{{Gang: 5}, {Gang: 6, Held: true}}, []bool{false, false}, []bool{false, true}, 5},
		{"the policy stops the one that waits", 5, map[uint64]*gang{5: {stopped: true, closed: true}, 6: {}}, []Client{{Gang: 5}, {Gang: 6, Held: true}}, []bool{false, true}, []bool{true, true}, 0},
		{"the most urgent first", 0, map[uint64]*gang{5: {}, 6: {}}, []Client{{Gang: 5, Held: true, Begin: 1}, {Gang: 6, Held: true, Begin: 2, Terms: Terms{Priority: 1}}}, []bool{false, false}, []bool{true, false}, 6},
		{"then the earliest", 0, map[uint64]*gang{5: {}, 6: {}}, []Client{{Gang: 5, Held: true, Begin: 2}, {Gang: 6, Held: true, Begin: 1}}, []bool{false, false}, []bool{true, false}, 6},
		{"then the first", 0, map[uint64]*gang{5: {}, 6: {}}, []Client{{Gang: 5, Held: true}, {Gang: 6, Held: true}}, []bool{false, false}, []bool{false, true}, 5},
		{"the running one has left", 7, map[uint64]*gang{5: {}, 6: {}}, []Client{{Gang: 5, Held: true}, {Gang: 6}}, []bool{false, false}, []bool{false, true}, 5},
	} {
		g := &group{gangs: tt.gangs, running: tt.running}
		answers := make([]Directive, len(tt.units))
		for i, closed := range tt.policy {
			answers[i].Closed = closed
		}
		g.admitGang(tt.units, answers)
		for i, want := range tt.want {
			if answers[i].Closed != want || g.running != tt.now {
				t.Errorf("%s: client %d closed %v, gang %d runs, want %d", tt.name, i, answers[i].Closed, g.running, tt.now)
			}
		}
	}
}

// TestRanksGoOnTogether lets every rank of a stopped gang go on by as many jobs as the one that is
// furthest, and one that stands at its gate by one more after 5 ms without a launch.
func TestRanksGoOnTogether(t *testing.T) {
	for _, tt := range []struct {
		name    string
		passed  time.Duration // since the last launch
		clients []Client
		want    []uint64
	}{
		{"both stopped", 0, []Client{{ID: 1, Job: 4}, {ID: 2, Job: 9}}, []uint64{4, 9}},
		{"one is two jobs further", 0, []Client{{ID: 1, Job: 6}, {ID: 2, Job: 9}}, []uint64{6, 11}},
		{"the job that it has begun", 0, []Client{{ID: 1, Job: 6, Active: true, Started: true}, {ID: 2, Job: 9}}, []uint64{6, 11}},
		{"the job that has launched nothing", 0, []Client{{ID: 1, Job: 6, Active: true}, {ID: 2, Job: 9}}, []uint64{5, 10}},
		{"a job less than when they stopped", 0, []Client{{ID: 1, Job: 3}, {ID: 2, Job: 10}}, []uint64{5, 10}},
		{"one waits for another", 5 * ms, []Client{{ID: 1, Job: 4, Active: true, Started: true, InFlight: 1}, {ID: 2, Job: 12, Active: true, Held: true}}, []uint64{6, 12}},
		{"it has not waited for long", 5*ms - 1, []Client{{ID: 1, Job: 4, Active: true, Started: true, InFlight: 1}, {ID: 2, Job: 12, Active: true, Held: true}}, []uint64{6, 11}},
		{"nobody waits", 9 * ms, []Client{{ID: 1, Job: 4}, {ID: 2, Job: 12, Active: true, Held: true}}, []uint64{6, 11}},
	} {
		w := &gang{ranks: []int{0, 1}, stoppedAt: map[int]uint64{1: 4, 2: 9}, until: map[int]uint64{}, launches: 30, moved: 100}
		directives := make([]Directive, 2)
		w.stopRanks(100+tt.passed, tt.clients, 30, directives)
		if got := []uint64{directives[0].Until, directives[1].Until}; !slices.Equal(got, tt.want) {
			t.Errorf("%s: until %v, want %v", tt.name, got, tt.want)
		}
	}
	for _, tt := range []struct {
		stopped  bool
		launches uint64
		want     time.Duration
	}{{false, 30, 100}, {false, 31, 700}, {true, 30, 700}} {
		w := &gang{stopped: tt.stopped, launches: 30, moved: 100}
		if w.stopRanks(700, nil, tt.launches, nil); w.moved != tt.want || w.launches != tt.launches {
			t.Errorf("%+v: moved at %v", tt, w.moved)
		}
	}
}

// TestGroupsOfDevices asks one policy for the clients of each group of devices.
func TestGroupsOfDevices(t *testing.T) {
	asked := map[string]int{}
	d := NewDevices(func() Policy { return recorder{asked} })
	clients := []Client{{ID: 1, Device: 4, Gang: 2}, {ID: 2, Device: 3}, {ID: 3, Device: 5, Gang: 2}, {ID: 4, Device: 5}}
	directives := make([]Directive, 4)
	if next := d.Decide(0, clients, directives); next != 2 || len(d.groups) != 2 || asked["[1 4]"] != 1 || asked["[2]"] != 1 {
		t.Errorf("next at %d, %v", next, asked)
	}
	for i, want := range []int{1, 2, 1, 4} {
		if directives[i].SyncEvery != want {
			t.Errorf("client %d has the directive of %d, want %d", i+1, directives[i].SyncEvery, want)
		}
	}
	clear(asked)
	if d.Decide(0, clients[1:2], directives); asked["[2]"] != 1 || len(d.groups) != 2 {
		t.Errorf("%v", asked)
	}
	if d.groups[3] == nil || d.groups[4] == nil {
		t.Errorf("groups %v, want them by their smallest device", d.groups)
	}
}

// recorder counts the lists of clients that it is asked about, and answers with their numbers.
type recorder struct{ asked map[string]int }

func (r recorder) Decide(_ time.Duration, clients []Client, directives []Directive) time.Duration {
	var ids []int
	for i, c := range clients {
		ids = append(ids, c.ID)
		directives[i].SyncEvery = c.ID
	}
	r.asked[fmt.Sprint(ids)]++
	return time.Duration(2 + len(ids)%2)
}
