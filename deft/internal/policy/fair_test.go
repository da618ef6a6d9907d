package policy

import (
	"testing"
	"time"
)

// The client that is furthest behind in device time per weight holds the device.
func TestFair(t *testing.T) {
	f := NewFair(Settings{})
	one, two := Client{Active: true, InFlight: 1}, Client{Active: true, InFlight: 1, Terms: Terms{Weight: 2}}
	steps := []struct {
		one, two int // device time so far, ms
		want     string
	}{
		{0, 0, "-x"},
		{1, 0, "-x"}, // ahead by less than the granularity
		{3, 0, "x-"},
		{3, 5, "x-"}, // 2.5 against 3
		{3, 9, "-x"}, // 4.5 against 3: ahead by more than 2 ms / weight
		{6, 9, "-x"},
		{7, 9, "x-"},
		{7, 16, "x-"}, // 8 against 7: ahead by 2 ms / weight, no more
		{7, 17, "-x"},
	}
	for i, s := range steps {
		one.GPU, two.GPU = time.Duration(s.one)*ms, time.Duration(s.two)*ms
		d, _ := decide(t, f, time.Duration(i)*ms, one, two)
		if closed(d) != s.want {
			t.Errorf("step %d: %s, want %s", i, closed(d), s.want)
		}
	}
}

// A client that slept while another worked cannot claim all it missed.
func TestFairForgetsSleep(t *testing.T) {
	f := NewFair(Settings{})
	worker, sleeper := Client{Active: true, InFlight: 1}, Client{}
	decide(t, f, 0, worker, sleeper)
	worker.GPU = 1000 * ms
	decide(t, f, 1000*ms, worker, sleeper)
	sleeper.Active, sleeper.InFlight = true, 1
	if d, _ := decide(t, f, 1001*ms, worker, sleeper); closed(d) != "x-" {
		t.Error(d)
	}
	sleeper.GPU = 23 * ms // its credit of 10 granularities and one more is used up
	if d, _ := decide(t, f, 1023*ms, worker, sleeper); closed(d) != "-x" {
		t.Error(d)
	}
}

// A client next to one of long launches is as far behind as one of them when it comes
// back between two jobs, and loses nothing of that.
func TestFairCreditCoversALaunch(t *testing.T) {
	f := NewFair(Settings{})
	long, short := Client{Active: true, Drained: true, Longest: 40 * ms}, Client{}
	decide(t, f, 0, long, short)
	long.GPU = 1000 * ms
	decide(t, f, 1000*ms, long, short)
	short.Active, short.InFlight = true, 1
	for _, step := range []struct {
		gpu  time.Duration
		want string
	}{{0, "x-"}, {23 * ms, "x-"}, {61 * ms, "x-"}, {63 * ms, "-x"}} {
		short.GPU = step.gpu
		if d, _ := decide(t, f, 1001*ms+step.gpu, long, short); closed(d) != step.want {
			t.Errorf("after %v: %s, want %s", step.gpu, closed(d), step.want)
		}
	}
}

// Kernels that are not known to be done count for as long as they have been queued.
func TestChargedTime(t *testing.T) {
	for _, tt := range []struct {
		client Client
		want   time.Duration
	}{
		{Client{Launches: 10, GPU: 10 * ms}, 10 * ms},
		{Client{Launches: 15, InFlight: 5, GPU: 10 * ms, Queueing: 3 * ms}, 13 * ms},
		{Client{Launches: 15, InFlight: 5, GPU: 10 * ms, Queueing: 30 * ms}, 15 * ms},
		{Client{Launches: 5, InFlight: 5, Queueing: 3 * ms}, 3 * ms},
	} {
		if got := tt.client.chargedTime(); got != tt.want {
			t.Errorf("%+v: %v, want %v", tt.client, got, tt.want)
		}
	}
}
