package simulator

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/foretime/foretime/deft/internal/device"
	"github.com/foretime/foretime/deft/internal/policy"
)

const us = time.Microsecond

func play(t testing.TB, c Config) *Result {
	t.Helper()
	k := newChecker(c)
	if !c.WarmUp {
		c.Trace = k.see
	}
	r, err := Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if k.fault != nil {
		t.Fatal(k.fault)
	}
	return r
}

// Completion times of one client, worked out by hand: a launch takes 4 us of
// host time, a wake-up 15 us.
func TestOneClientByHand(t *testing.T) {
	tests := []struct {
		name    string
		kernels []time.Duration
		policy  policy.Policy
		sync    int
		jct     time.Duration
		syncs   int
		stall   time.Duration
	}{
		{"three kernels back to back", Uniform(3, 10*us), nil, 0, 30*us + 15*us, 0, 0},
		{"kernels shorter than a launch", Uniform(3, us), nil, 0, 12 * us, 0, 0},
		{"one kernel", Uniform(1, 10*us), nil, 0, 25 * us, 0, 0},
		{"a point after each", Uniform(3, 10*us), policy.NewSync(), 1, 75 * us, 2, 42 * us},
		{"a point after two", Uniform(3, 10*us), policy.NewSync(), 2, 35*us + 25*us, 1, 27 * us},
		{"a point beyond the job", Uniform(3, 10*us), policy.NewSync(), 4, 45 * us, 0, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := play(t, Config{
				Clients:  []Client{{Terms: policy.Terms{Interval: tt.sync}, Kernels: tt.kernels, Jobs: 1}},
				Policy:   tt.policy,
				Duration: time.Second,
			})
			c := r.Clients[0]
			if c.MeanJCT() != tt.jct || c.Syncs != tt.syncs || c.Stall != tt.stall || c.Launches != len(tt.kernels) {
				t.Errorf("JCT %v, %d syncs, stall %v, %d launches, want %v, %d, %v", c.MeanJCT(), c.Syncs, c.Stall, c.Launches, tt.jct, tt.syncs, tt.stall)
			}
		})
	}
}

// A job arrives while 2 kernels of 10 us are queued: they are not recalled, the
// gate closes behind them.
func TestPreemptionByHand(t *testing.T) {
	low := Client{Kernels: Uniform(6, 10*us), Jobs: 1, Terms: policy.Terms{Interval: 2}}
	high := Client{Terms: policy.Terms{Priority: 1}, Kernels: Uniform(2, 5*us), Jobs: 1, Start: 6 * us}
	r := play(t, Config{Clients: []Client{low, high}, Policy: policy.NewPriority(policy.Settings{}), Duration: time.Second})
	// Kernels of low: 0-10, 10-20; of high 20-25, 25-30, its host wakes at 45.
	if got := r.Clients[1].Jobs[0]; got.Begin != 6*us || got.End != 45*us {
		t.Errorf("high %v to %v, want 6us to 45us", got.Begin, got.End)
	}
	// Low is at the gate from 8 (two launches) to 60 (45 + 15), then, alone, launches
	// the other four without a point.
	if got := r.Clients[0].Jobs[0]; got.End != 115*us || got.Gate != 52*us || got.Syncs != 0 {
		t.Errorf("low ends at %v after %v at the gate and %d syncs, want 115us, 52us, 0", got.End, got.Gate, got.Syncs)
	}
}

// watcher is a policy that passes its clients on and changes nothing.
type watcher struct{ seen func(policy.Client) }

func (w watcher) Decide(now time.Duration, clients []policy.Client, _ []policy.Directive) time.Duration {
	for _, c := range clients {
		w.seen(c)
	}
	return now + 50*us
}

// A policy sees what an owner sees: kernels are known to be done when the program has
// waited for them.
func TestPolicySeesWaitsOnly(t *testing.T) {
	looks := 0
	p := watcher{func(c policy.Client) {
		looks++
		if job := c.Launches - uint64(c.InFlight); job%100 != 0 || c.GPU != time.Duration(job)*10*us {
			t.Errorf("in a job: %d of %d launches are known to be done, %v of device time", job, c.Launches, c.GPU)
		}
		if c.InFlight > 0 && c.Queueing <= 0 {
			t.Errorf("%d in flight since %v", c.InFlight, c.Queueing)
		}
	}}
	play(t, Config{Clients: []Client{{Kernels: Uniform(100, 10*us), Launch: 20 * us, Sleep: 300 * us}}, Policy: p, Duration: 50 * time.Millisecond})
	if looks < 500 {
		t.Errorf("%d looks", looks)
	}
}

func TestTurns(t *testing.T) {
	pair := []Client{{Kernels: Uniform(400, 100*us)}, {Kernels: Uniform(100, 100*us)}}
	turns, last := 0, -1
	r, err := Run(t.Context(), Config{Clients: pair, Duration: time.Second, Device: device.Settings{Discipline: device.Turns}, Trace: func(e Event) {
		if e.Kind == Started && e.Client != last {
			turns, last = turns+1, e.Client
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	if most := int(r.End/device.DefaultTurn) * 5 / 4; turns > most { // a few end early
		t.Errorf("%d turns in %v, want %d at most", turns, r.End, most)
	}
	a, b := r.Clients[0].GPU.Seconds(), r.Clients[1].GPU.Seconds()
	if a/b > 1.05 || b/a > 1.05 {
		t.Errorf("device time %v and %v", a, b)
	}
}

func TestWarmUpAndDeadline(t *testing.T) {
	c := Client{Kernels: Uniform(3, 10*us), Jobs: 2, Sleep: time.Millisecond}
	r := play(t, Config{Clients: []Client{c, c}, Duration: time.Second, WarmUp: true})
	for i, c := range r.Clients {
		if len(c.Jobs) != 3 || len(c.JobsAfterWarmUp()) != 2 || c.Jobs[0].End > 0 || c.Jobs[0].JCT() != 45*us || c.Launches != 6 {
			t.Errorf("client %d: %+v", i, c.Jobs)
		}
	}
	if r.Clients[0].Jobs[0].End > r.Clients[1].Jobs[0].Begin {
		t.Error("warm-up jobs overlap")
	}
}

// An arrival every Period, or as soon as the job before is done.
func TestPeriod(t *testing.T) {
	for _, tt := range []struct{ period, second time.Duration }{{100 * us, 100 * us}, {20 * us, 45 * us}} {
		r := play(t, Config{Clients: []Client{{Kernels: Uniform(3, 10*us), Jobs: 2, Period: tt.period}}, Duration: time.Second})
		if got := r.Clients[0].Jobs[1].Begin; got != tt.second {
			t.Errorf("period %v: second job at %v, want %v", tt.period, got, tt.second)
		}
	}
}

// past is a policy that wants to be asked before now; shut one that opens no
// gate, with or without a time.
type past struct{}

func (past) Decide(now time.Duration, _ []policy.Client, _ []policy.Directive) time.Duration {
	return now
}

type shut struct{ again time.Duration }

func (s shut) Decide(now time.Duration, _ []policy.Client, d []policy.Directive) time.Duration {
	d[0].Closed = true
	if s.again == 0 {
		return policy.Never
	}
	return now + s.again
}

type asking struct{}

func (asking) Decide(now time.Duration, _ []policy.Client, _ []policy.Directive) time.Duration {
	return now + us
}

// The jobs of a client are kept, so there is a limit.
func TestTooManyJobs(t *testing.T) {
	s := newSimulation(&Config{Clients: []Client{{Kernels: Uniform(1, us)}}})
	h := s.hosts[0]
	h.result.Jobs = make([]Job, 1_999_999, 2_000_001)
	if s.endJob(0, h); s.err != nil {
		t.Error(s.err)
	}
	s.endJob(0, h)
	if !errors.Is(s.err, ErrTooMany) {
		t.Error(s.err)
	}
}

func TestRunRefuses(t *testing.T) {
	good := []Client{{Kernels: Uniform(1, us)}}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	long := []Client{{Kernels: Uniform(20000, us)}}
	tests := []struct {
		name string
		ctx  context.Context
		c    Config
		want error
	}{
		{"nobody", t.Context(), Config{Duration: 1}, ErrNoClient},
		{"no duration", t.Context(), Config{Clients: good}, ErrTime},
		{"no kernels", t.Context(), Config{Clients: []Client{{}}, Duration: 1}, ErrNoKernels},
		{"kernel of no time", t.Context(), Config{Clients: []Client{{Kernels: Uniform(1, 0)}}, Duration: 1}, ErrTime},
		{"a kernel of ages", t.Context(), Config{Clients: []Client{{Kernels: Uniform(1, 2*time.Hour)}}, Duration: 1}, ErrTime},
		{"a switch of ages", t.Context(), Config{Clients: good, Duration: 1, Device: device.Settings{Switch: 2 * time.Hour}}, ErrTime},
		{"ended in the warm-up", canceled, Config{Clients: []Client{{Kernels: Uniform(100, time.Hour)}}, Duration: 1, WarmUp: true, Device: device.Settings{Discipline: device.Turns}}, context.Canceled},
		{"negative sleep", t.Context(), Config{Clients: []Client{{Kernels: Uniform(1, 1), Sleep: -1}}, Duration: 1}, ErrTime},
		{"jitter", t.Context(), Config{Clients: good, Duration: 1, Jitter: math.NaN()}, ErrTime},
		{"past", t.Context(), Config{Clients: good, Duration: 1, Policy: past{}}, ErrPolicy},
		{"shut", t.Context(), Config{Clients: good, Duration: 1, Policy: shut{}}, ErrStuck},
		{"shut, asking", t.Context(), Config{Clients: good, Duration: 1, Policy: shut{1}}, ErrStuck},
		{"a launch of ages", t.Context(), Config{Clients: []Client{{Kernels: Uniform(2, us), Launch: time.Hour}}, Duration: 1, Policy: asking{}}, ErrTime},
		{"canceled", canceled, Config{Clients: long, Duration: time.Second}, context.Canceled},
	}
	for _, tt := range tests {
		if r, err := Run(tt.ctx, tt.c); !errors.Is(err, tt.want) || r != nil {
			t.Errorf("%s: error %v, want %v", tt.name, err, tt.want)
		}
	}
}

// drawConfig is any small experiment under any policy.
func drawConfig(t *rapid.T, name string) (Config, func() policy.Policy) {
	n := rapid.IntRange(1, 4).Draw(t, "clients")
	c := Config{
		Duration: time.Duration(rapid.IntRange(1, 10_000).Draw(t, "duration")) * us,
		MinJobs:  rapid.IntRange(1, 3).Draw(t, "jobs"),
		Device:   device.Settings{Discipline: rapid.SampledFrom([]device.Discipline{device.FIFO, device.Turns, device.MPS}).Draw(t, "discipline")},
		Reaction: time.Duration(rapid.IntRange(0, 200).Draw(t, "reaction")) * us,
		Jitter:   rapid.Float64Range(0, 0.3).Draw(t, "jitter"),
		Seed:     rapid.Uint64().Draw(t, "seed"),
	}
	for range n {
		c.Clients = append(c.Clients, Client{
			Terms: policy.Terms{
				Priority: rapid.IntRange(0, 2).Draw(t, "priority"),
				Weight:   rapid.Float64Range(0.5, 4).Draw(t, "weight"),
				Deadline: time.Duration(rapid.SampledFrom([]int{0, 1, 2000}).Draw(t, "deadline")) * us,
				Interval: rapid.IntRange(0, 20).Draw(t, "interval"),
				Exempt:   rapid.Bool().Draw(t, "exempt"),
			},
			Kernels: Uniform(rapid.IntRange(1, 30).Draw(t, "kernels"), time.Duration(rapid.IntRange(1, 300).Draw(t, "kernel"))*us),
			Graph:   rapid.SampledFrom([]int{0, 0, 1, 4, 100}).Draw(t, "graph"),
			Launch:  time.Duration(rapid.IntRange(-1, 50).Draw(t, "launch")) * us,
			Sleep:   time.Duration(rapid.IntRange(0, 3000).Draw(t, "sleep")) * us,
			Start:   time.Duration(rapid.IntRange(0, 3000).Draw(t, "start")) * us,
		})
	}
	return c, func() policy.Policy {
		p, err := policy.New(name, policy.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
}

// honest checks what a policy is shown.
type honest struct {
	t *rapid.T
	policy.Policy
}

func (h honest) Decide(now time.Duration, clients []policy.Client, d []policy.Directive) time.Duration {
	for _, c := range clients {
		if c.Drained && (c.InFlight > 0 || !c.Active) || c.Begin > now || c.InFlight < 0 {
			h.t.Fatalf("at %v: %+v", now, c)
		}
	}
	return h.Policy.Decide(now, clients, d)
}

// Under every policy: what the checker demands, nobody is left without its
// jobs, and the same experiment ends the same way again.
func TestEveryPolicyKeepsTheRules(t *testing.T) {
	for _, name := range policy.Policies.Names() {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				c, fresh := drawConfig(rt, name)
				k := newChecker(c)
				c.Policy, c.Trace = honest{rt, fresh()}, k.see
				first, err := Run(t.Context(), c)
				if err != nil || k.fault != nil {
					rt.Fatal(err, k.fault)
				}
				for i, client := range first.Clients {
					if len(client.Jobs) < c.MinJobs {
						rt.Fatalf("client %d: %d jobs", i, len(client.Jobs))
					}
				}
				c.Policy, c.Trace = fresh(), nil
				again, err := Run(t.Context(), c)
				if err != nil {
					rt.Fatal(err)
				}
				if diff := cmp.Diff(first, again); diff != "" {
					rt.Fatal(diff)
				}
			})
		})
	}
}

// fair does not let the device idle while a client stands at its gate:
// at most as long as they wait for a sign of the client that has the turn.
func TestTurnsConserveWork(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		c, fresh := drawConfig(rt, "fair")
		c.Reaction = 0
		k := newChecker(c)
		c.Policy, c.Trace = fresh(), k.see
		if _, err := Run(t.Context(), c); err != nil {
			rt.Fatal(err)
		}
		if limit := 3*time.Millisecond + 100*us; k.worstIdle > limit {
			rt.Fatalf("idle for %v with a client held", k.worstIdle)
		}
	})
}

// fair lets nobody starve: of clients that always want the device each
// does at least half of its part of what it does alone, ends of turns included.
func TestTurnsStarveNobody(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(2, 4).Draw(rt, "clients")
		c := Config{Duration: 120 * time.Millisecond}
		for range n {
			c.Clients = append(c.Clients, Client{
				Terms:   policy.Terms{Interval: policy.DefaultInterval},
				Kernels: Uniform(rapid.IntRange(20, 300).Draw(rt, "kernels"), time.Duration(rapid.IntRange(20, 200).Draw(rt, "kernel"))*us),
			})
		}
		p, err := policy.New("fair", policy.Settings{})
		if err != nil {
			rt.Fatal(err)
		}
		c.Policy = p
		r, err := Run(t.Context(), c)
		if err != nil {
			rt.Fatal(err)
		}
		for i, client := range r.Clients {
			alone, err := Run(t.Context(), Config{Clients: c.Clients[i : i+1], Policy: policy.NewSync(), Duration: c.Duration})
			if err != nil {
				rt.Fatal(err)
			}
			if part := alone.Clients[0].GPU.Seconds() / float64(n); client.GPU.Seconds() < 0.5*part {
				rt.Fatalf("client %d has %.3f s, its part is %.3f s", i, client.GPU.Seconds(), part)
			}
		}
	})
}

func BenchmarkRun(b *testing.B) {
	for _, name := range policy.Policies.Names() {
		b.Run("policy="+name, func(b *testing.B) {
			jobs := 0
			for b.Loop() {
				p, err := policy.New(name, policy.Settings{})
				if err != nil {
					b.Fatal(err)
				}
				r, err := Run(b.Context(), Config{Clients: pair(), Policy: p, Duration: 10 * time.Second})
				if err != nil {
					b.Fatal(err)
				}
				for _, c := range r.Clients {
					jobs += len(c.Jobs)
				}
			}
			b.ReportMetric(float64(jobs)/b.Elapsed().Seconds(), "jobs/s")
		})
	}
}

// pair is the scenario of the acceptance tests: a job of 400 kernels of 100 us
// without pause, and an urgent one of 100 of 50 us, 50 ms apart.
func pair() []Client {
	return []Client{
		{Terms: policy.Terms{Name: "A"}, Kernels: Uniform(400, 100*us)},
		{Terms: policy.Terms{Name: "B", Priority: 1}, Kernels: Uniform(100, 50*us), Sleep: 50 * time.Millisecond},
	}
}

func ExampleRun() {
	result, err := Run(context.Background(), Config{Clients: pair(), Policy: policy.NewPriority(policy.Settings{}), Duration: 5 * time.Second})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range result.Clients {
		fmt.Println(c.Name, len(c.Jobs), c.MeanJCT())
	}
	// Output:
	// A 114 44.030175ms
	// B 91 5.148296ms
}
