package simulator

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/foretime/foretime/deft/internal/device"
	"github.com/foretime/foretime/deft/internal/observer"
	"github.com/foretime/foretime/deft/internal/policy"
)

// decisions is a policy that is a function.
type decisions func(now time.Duration, clients []policy.Client, d []policy.Directive) time.Duration

func (f decisions) Decide(now time.Duration, clients []policy.Client, d []policy.Directive) time.Duration {
	return f(now, clients, d)
}

// always gives every client the same directive.
func always(d policy.Directive) policy.Policy {
	return decisions(func(_ time.Duration, _ []policy.Client, all []policy.Directive) time.Duration {
		for i := range all {
			all[i] = d
		}
		return policy.Never
	})
}

// TestRecordedProgramByHand plays gaps of 5, 7 and 20 us and a wait before the third launch: kernels
// run from 5 to 15, 15 to 25 and, after the wait and the gap, 60 to 70 us. A wait costs 15 us.
func TestRecordedProgramByHand(t *testing.T) {
	recorded := Client{Kernels: Uniform(3, 10*us), Gaps: []time.Duration{5 * us, 7 * us, 20 * us}, Waits: []bool{false, false, true}, Jobs: 1}
	r := play(t, Config{Clients: []Client{recorded}, Duration: time.Second})
	c := r.Clients[0]
	if c.Jobs[0] != (Job{End: 85 * us, Launches: 3}) || c.Unmarked != nil || c.GPU != 30*us || r.End != 85*us || c.MaxQueue != 2 {
		t.Errorf("%+v of %+v", c.Jobs, r)
	}
	var active []bool
	look := decisions(func(_ time.Duration, clients []policy.Client, _ []policy.Directive) time.Duration {
		active = append(active, clients[0].Active)
		return policy.Never
	})
	recorded.Unmarked = true
	c = play(t, Config{Clients: []Client{recorded}, Policy: look, Duration: time.Second}).Clients[0]
	if !slices.Equal(c.Unmarked, []time.Duration{35 * us, 25 * us}) || c.Jobs[0].End != 85*us {
		t.Errorf("unmarked jobs %v, end %v", c.Unmarked, c.Jobs[0].End)
	}
	if !slices.Equal(active, []bool{false, true, false, true}) { // at 0, the first launch, the wait's end, and the next launch
		t.Errorf("active %v", active)
	}
	active = nil
	recorded.Gaps = []time.Duration{0, 7 * us, 20 * us}
	c = play(t, Config{Clients: []Client{recorded}, Policy: look, Duration: time.Second}).Clients[0]
	if !slices.Equal(c.Unmarked, []time.Duration{35 * us, 25 * us}) || !active[len(active)-1] {
		t.Errorf("without a first gap: unmarked jobs %v, active %v", c.Unmarked, active)
	}
}

// TestFullDevice holds a host back while the device has as many launches as it takes: of kernels of
// 10 us, launched 1 us apart, the third one of four waits for the end of the first.
func TestFullDevice(t *testing.T) {
	for ahead, want := range map[int][]time.Duration{1: {0, 10, 20, 30}, 2: {0, 1, 10, 20}, 3: {0, 1, 2, 10}, 4: {0, 1, 2, 3}, 0: {0, 1, 2, 3}} {
		var launched []time.Duration
		c := Config{
			Clients: []Client{{Kernels: Uniform(4, 10*us), Launch: us, Jobs: 1}}, Duration: time.Second, Device: device.Settings{Ahead: ahead},
			Trace: func(e Event) {
				if e.Kind == Launched {
					launched = append(launched, e.At/us)
				}
			},
		}
		r, err := Run(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(launched, want) || r.End != 55*us {
			t.Errorf("%d ahead: launches at %v us, want %v; end %v", ahead, launched, want, r.End)
		}
	}
}

// TestBoundInFlight holds a host back while its launches would take longer than the bound: kernels
// of 10 us, launched 1 us apart.
func TestBoundInFlight(t *testing.T) {
	for bound, want := range map[time.Duration]struct {
		queue int
		stall time.Duration
	}{1: {1, 9 + 9 + 9}, 19: {1, 27}, 20: {2, 8 + 9}, 29: {2, 17}, 30: {3, 7}, 40: {4, 0}} {
		r := play(t, Config{
			Clients: []Client{{Kernels: Uniform(4, 10*us), Launch: us, Jobs: 1}}, Duration: time.Second,
			Policy: always(policy.Directive{InFlightTime: bound * us}),
		})
		if c := r.Clients[0]; c.MaxQueue != want.queue || c.Stall != want.stall*us || r.End != 55*us {
			t.Errorf("bound %d us: %d in flight, stall %v, end %v", bound, c.MaxQueue, c.Stall, r.End)
		}
	}
}

// TestDirectiveReleasesABound launches at once when a bound is lifted.
func TestDirectiveReleasesABound(t *testing.T) {
	p := decisions(func(now time.Duration, _ []policy.Client, d []policy.Directive) time.Duration {
		if now < 5*us {
			d[0].InFlightTime = 10 * us
			return 5 * us
		}
		return policy.Never
	})
	c := play(t, Config{Clients: []Client{{Kernels: Uniform(3, 10*us), Launch: us, Jobs: 1}}, Duration: time.Second, Policy: p}).Clients[0]
	if c.Stall != 4*us || c.MaxQueue != 3 || c.Jobs[0].End != 45*us {
		t.Errorf("%+v", c)
	}
}

// TestSyncEvery sets a synchronization point before the launch that would exceed the interval, and
// none before the first.
func TestSyncEvery(t *testing.T) {
	for _, tt := range []struct{ every, since, graph, next, kernels, launch int }{
		{0, 9, 0, 0, 10, 1}, {4, 3, 0, 0, 10, 1}, {4, 4, 0, 0, 10, 1}, {4, 0, 9, 0, 10, 9}, {4, 1, 3, 0, 10, 3}, {4, 2, 3, 0, 10, 3}, {4, 2, 3, 8, 10, 2}, {4, 3, 3, 8, 10, 2}, {1, 1, 1, 9, 10, 1},
	} {
		h := &host{spec: &Client{Graph: tt.graph, Kernels: Uniform(tt.kernels, us)}, next: tt.next, sinceSync: tt.since, directive: policy.Directive{SyncEvery: tt.every}}
		want := tt.every > 0 && tt.since > 0 && tt.since+tt.launch > tt.every
		if h.launchKernels() != tt.launch || h.needsSync() != want {
			t.Errorf("%+v: launches %d, point %v", tt, h.launchKernels(), h.needsSync())
		}
	}
	if cost(0, 7) != 7 || cost(-1, 7) != 0 || cost(3, 7) != 3 {
		t.Error("costs")
	}
}

// TestEnoughJobs begins jobs for the duration, and at least the least number of them. A job of one
// kernel of 10 us takes 25 us.
func TestEnoughJobs(t *testing.T) {
	for _, tt := range []struct {
		duration time.Duration
		least    int
		jobs     int // exactly
		want     int
	}{{100, 1, 0, 4}, {101, 1, 0, 5}, {99, 1, 0, 4}, {100, 5, 0, 5}, {100, 4, 0, 4}, {100, -1, 0, 4}, {100, 0, 0, 10}, {275, 0, 0, 11}, {275, 1, 2, 2}, {25, 9, 3, 3}} {
		r := play(t, Config{Clients: []Client{{Kernels: Uniform(1, 10*us), Jobs: tt.jobs}}, Duration: tt.duration * us, MinJobs: tt.least})
		c := r.Clients[0]
		if len(c.Jobs) != tt.want || r.End != time.Duration(tt.want)*25*us || c.GPU != time.Duration(tt.want)*10*us {
			t.Errorf("%+v: %d jobs until %v", tt, len(c.Jobs), r.End)
		}
	}
}

// TestWarmUpChangesNothing compares an experiment after a warm-up with the same one without.
func TestWarmUpChangesNothing(t *testing.T) {
	c := Config{Duration: time.Millisecond, MinJobs: 2, Device: device.Settings{Discipline: device.Turns, Turn: 30 * us, Switch: 5 * us}}
	c.Clients = []Client{
		{Kernels: Uniform(7, 13*us), Graph: 2, Sleep: 40 * us, Terms: policy.Terms{Interval: 3}},
		{Kernels: Uniform(5, 9*us), Start: 20 * us, Terms: policy.Terms{Priority: 1}},
	}
	c.Policy = policy.NewPriority(policy.Settings{})
	plain := play(t, c)
	c.Policy = policy.NewPriority(policy.Settings{})
	c.WarmUp = true
	warm := play(t, c)
	for i := range warm.Clients {
		w := &warm.Clients[i]
		if first := w.Jobs[0]; first.End > 0 || first.Launches != plain.Clients[i].Jobs[0].Launches || i == 1 && (first.End != 0 || first.JCT() != 65*us) { // 45 of kernels, a switch, and 15 to wake
			t.Errorf("client %d: the warm-up is %+v", i, first)
		}
		w.Jobs = w.Jobs[1:]
		w.WarmUp = false
	}
	if diff := cmp.Diff(plain, warm); diff != "" {
		t.Error(diff)
	}
}

// TestReaction asks the policy as long after a change as it takes to react, and at times that it
// named. A job runs from 5 to 30 us, the next one from 35 to 60 us.
func TestReaction(t *testing.T) {
	for reaction, want := range map[time.Duration][]time.Duration{0: {0, 5, 30, 35}, 12: {0, 17, 42}, 27: {0, 32}, 50: {0, 55}} {
		var asked []time.Duration
		p := decisions(func(now time.Duration, _ []policy.Client, _ []policy.Directive) time.Duration {
			asked = append(asked, now/us)
			return policy.Never
		})
		r := play(t, Config{Clients: []Client{{Kernels: Uniform(1, 10*us), Start: 5 * us, Sleep: 5 * us, Jobs: 2}}, Duration: time.Second, Policy: p, Reaction: reaction * us})
		if !slices.Equal(asked, want) || r.Decisions != len(want) {
			t.Errorf("reaction %d us: asked at %v, want %v", reaction, asked, want)
		}
	}
}

// TestWatchedLaunch asks the policy at the first launch that it watches.
func TestWatchedLaunch(t *testing.T) {
	var asked []time.Duration
	p := decisions(func(now time.Duration, _ []policy.Client, d []policy.Directive) time.Duration {
		asked = append(asked, now/us)
		d[0].Watch = now < 6*us
		return policy.Never
	})
	play(t, Config{Clients: []Client{{Kernels: Uniform(4, 10*us), Launch: 3 * us, Jobs: 1}}, Duration: time.Second, Policy: p})
	// At 0 before and after the job began, then at its launches at 0, 3 and 6 us.
	if !slices.Equal(asked, []time.Duration{0, 0, 0, 3, 6}) {
		t.Errorf("asked at %v us", asked)
	}
}

// TestGateByHand stops a client whose queue runs empty at its gate, and lets it on at 100 us: its
// host takes 15 us to wake.
func TestGateByHand(t *testing.T) {
	drained := time.Duration(-1)
	p := decisions(func(now time.Duration, clients []policy.Client, d []policy.Directive) time.Duration {
		if clients[0].Drained && drained < 0 {
			drained = now
		}
		d[0].Closed = now >= us && now < 100*us
		if now < us {
			return us
		}
		if now < 100*us {
			return 100 * us
		}
		return policy.Never
	})
	r := play(t, Config{Clients: []Client{{Kernels: Uniform(3, 10*us), Jobs: 1}}, Duration: time.Second, Policy: p})
	if j := r.Clients[0].Jobs[0]; drained != 10*us || j.Gate != 111*us || j.End != 150*us {
		t.Errorf("drained at %v, %v at the gate, end %v", drained, j.Gate, j.End)
	}
}

// TestJitterIsCut draws factors of one half to one and a half.
func TestJitterIsCut(t *testing.T) {
	h := &host{rng: rand.New(rand.NewPCG(1, 1)), jitter: 100}
	low, high := 0, 0
	for range 100 {
		switch h.withJitter(1000) {
		case 500:
			low++
		case 1500:
			high++
		}
	}
	if low < 30 || high < 30 || h.withJitter(0) != 0 || h.withJitter(1) != 1 {
		t.Errorf("%d low, %d high of 100", low, high)
	}
	h = &host{rng: rand.New(rand.NewPCG(1, 1)), jitter: 0.1}
	same := rand.New(rand.NewPCG(1, 1))
	for range 100 {
		want := time.Duration(1e6 * min(max(1+0.1*same.NormFloat64(), 0.5), 1.5))
		if got := h.withJitter(1e6); got != want {
			t.Fatalf("%v, want %v", got, want)
		}
	}
	if (&host{}).withJitter(77) != 77 {
		t.Error("a time without jitter")
	}
	c := Config{Clients: []Client{{Kernels: Uniform(1, us)}}}
	if newHost(&c, 0).rng != nil {
		t.Error("random numbers without jitter")
	}
	c.Jitter = 0.01
	if newHost(&c, 0).rng == nil {
		t.Error("no random numbers")
	}
}

// TestLimitsOfConfig accepts values at their limits and refuses those beyond.
func TestLimitsOfConfig(t *testing.T) {
	valid := func() Config {
		return Config{Duration: 1, Clients: []Client{{Kernels: Uniform(2, us), Gaps: make([]time.Duration, 2), Waits: make([]bool, 2)}}}
	}
	for name, tt := range map[string]struct {
		change func(c *Config)
		want   error
	}{
		"valid":                    {func(*Config) {}, nil},
		"no duration":              {func(c *Config) { c.Duration = 0 }, ErrTime},
		"turn below 0":             {func(c *Config) { c.Device.Turn = -1 }, ErrTime},
		"reaction below 0":         {func(c *Config) { c.Reaction = -1 }, ErrTime},
		"jitter below 0":           {func(c *Config) { c.Jitter = -1e-9 }, ErrTime},
		"jitter infinite":          {func(c *Config) { c.Jitter = math.Inf(1) }, ErrTime},
		"jitter":                   {func(c *Config) { c.Jitter = 1e300 }, nil},
		"an hour's turn":           {func(c *Config) { c.Device.Turn = time.Hour }, nil},
		"longer turn":              {func(c *Config) { c.Device.Turn = time.Hour + 1 }, ErrTime},
		"an hour's switch":         {func(c *Config) { c.Device.Switch = time.Hour }, nil},
		"longer switch":            {func(c *Config) { c.Device.Switch = time.Hour + 1 }, ErrTime},
		"an hour's reaction":       {func(c *Config) { c.Reaction = time.Hour }, nil},
		"longer reaction":          {func(c *Config) { c.Reaction = time.Hour + 1 }, ErrTime},
		"an hour's wake":           {func(c *Config) { c.SyncCost = time.Hour }, nil},
		"longer wake":              {func(c *Config) { c.SyncCost = time.Hour + 1 }, ErrTime},
		"an hour's kernel":         {func(c *Config) { c.Clients[0].Kernels[1] = time.Hour }, nil},
		"longer kernel":            {func(c *Config) { c.Clients[0].Kernels[1] = time.Hour + 1 }, ErrTime},
		"a nanosecond's kernel":    {func(c *Config) { c.Clients[0].Kernels[1] = 1 }, nil},
		"no kernel time":           {func(c *Config) { c.Clients[0].Kernels[1] = 0 }, ErrTime},
		"a gap short":              {func(c *Config) { c.Clients[0].Gaps = make([]time.Duration, 1) }, ErrNoKernels},
		"a wait short":             {func(c *Config) { c.Clients[0].Waits = nil }, ErrNoKernels},
		"graphs of one with gaps":  {func(c *Config) { c.Clients[0].Graph = 1 }, nil},
		"graphs with gaps":         {func(c *Config) { c.Clients[0].Graph = 2 }, ErrNoKernels},
		"graphs":                   {func(c *Config) { c.Clients[0].Graph, c.Clients[0].Gaps = 2, nil }, nil},
		"graphs below 0":           {func(c *Config) { c.Clients[0].Graph = -1 }, ErrNoKernels},
		"sleep below 0":            {func(c *Config) { c.Clients[0].Sleep = -1 }, ErrTime},
		"period below 0":           {func(c *Config) { c.Clients[0].Period = -1 }, ErrTime},
		"start below 0":            {func(c *Config) { c.Clients[0].Start = -1 }, ErrTime},
		"jobs below 0":             {func(c *Config) { c.Clients[0].Jobs = -1 }, ErrTime},
		"launch below 0":           {func(c *Config) { c.Clients[0].Launch = -1 }, nil},
		"a client without kernels": {func(c *Config) { c.Clients[0].Kernels = nil }, ErrNoKernels},
	} {
		c := valid()
		tt.change(&c)
		if err := c.check(); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", name, err, tt.want)
		}
	}
}

// TestCountersOfPhases shows the policy a wait in the phases in which the program waits.
func TestCountersOfPhases(t *testing.T) {
	for phase, want := range map[phase]struct {
		waiting, inWait uint32
		drained         bool
	}{sleeping: {}, launching: {}, atGate: {waiting: 1, drained: true}, atBound: {inWait: 1}, atFull: {}, syncing: {inWait: 1}, ownWait: {inWait: 1}, finishing: {inWait: 1}, waking: {}} {
		h := &host{spec: &Client{Kernels: Uniform(3, us), Graph: 8}, phase: phase, launches: 9, emptied: 5, atBegin: 4, doneJobs: 2, ownSyncs: 7, known: 11, job: Job{Begin: 3}, begun: 5}
		c := h.counters()
		if uint32(c.Waiting) != want.waiting || uint32(c.InWait) != want.inWait || c.Drained != want.drained {
			t.Errorf("phase %d: waiting %v, in a wait %v, drained %v", phase, c.Waiting, c.InWait, c.Drained)
		}
		if c.Kernels != 9 || c.Queued != 4 || c.JobKernels != 4 || c.Job != 3 || c.JobsEnded != 2 || c.MostKernels != 3 || c.OwnSyncs != 7 || c.GPU != 11 || c.JobBeginNs != 5 {
			t.Errorf("phase %d: %+v", phase, c)
		}
		if h.inFlight = 1; h.counters().Drained {
			t.Errorf("phase %d: drained with a kernel in flight", phase)
		}
	}
	h := &host{spec: &Client{Kernels: Uniform(3, us)}}
	if h.counters().MostKernels != 1 {
		t.Errorf("a launch of %d kernels", h.counters().MostKernels)
	}
	h.observer = observer.New(h.counters(), &h.spec.Terms, nil)
	h.noteEmpty()
	if c := h.policyClient(4, 5*us); c.ID != 4 || c.Active {
		t.Errorf("%+v", c)
	}
}

// TestWaitEnd wakes a host that waits for the device, but not before its launch has returned.
func TestWaitEnd(t *testing.T) {
	s := &simulation{now: 100, syncCost: 15}
	for wake, want := range map[time.Duration]time.Duration{99: 115, 100: 100, 101: 101, 0: 115} {
		if got := s.waitEnd(&host{wake: wake}); got != want {
			t.Errorf("launch until %d: %d, want %d", wake, got, want)
		}
	}
}
