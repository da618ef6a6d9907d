package policy

import (
	"math"
	"testing"
	"time"
)

// Clients are bounded by synchronization points.
func TestSync(t *testing.T) {
	at := func(level, n int) Client {
		return Client{Terms: Terms{Priority: level, Interval: n}, Active: true}
	}
	tests := []struct {
		name    string
		clients []Client
		want    []int
	}{
		{"alone", []Client{at(0, 0)}, []int{16}},
		{"two levels", []Client{at(0, 0), at(1, 0), at(0, 5), at(1, 5)}, []int{16, 0, 5, 0}},
		{"one level", []Client{at(1, 0), at(1, 5)}, []int{16, 5}},
	}
	for _, tt := range tests {
		points, _ := decide(t, NewSync(), 0, tt.clients...)
		for i, want := range tt.want {
			if points[i] != (Directive{SyncEvery: want}) {
				t.Errorf("%s: client %d: %+v, want %d", tt.name, i, points[i], want)
			}
		}
	}
}

// Without an interval of its own a client gets that of its jobs until now:
// sqrt(2 a K/k), here of 400 launches of 100 us, 15.5, and of 1,600 of 25 us, 62.
func TestChosenByTheJobs(t *testing.T) {
	for _, tt := range []struct {
		launches, inFlight, jobs int
		gpu                      time.Duration
		want                     int
	}{
		{800, 0, 2, 80 * ms, 15},
		{810, 10, 2, 80 * ms, 16},
		{3200, 0, 2, 80 * ms, 62},
		{800, 0, 0, 80 * ms, DefaultInterval},  // no job has ended
		{800, 0, 2, 0, DefaultInterval},        // the device time is not known
		{800, 800, 2, 1 * ms, DefaultInterval}, // nothing is done
		{2, 0, 2, time.Hour, 1},
		{math.MaxInt32, 0, 1, 1, 46341},
	} {
		c := Client{Active: true, Launches: uint64(tt.launches), InFlight: tt.inFlight, Jobs: tt.jobs, GPU: tt.gpu}
		d, _ := decide(t, NewSync(), 0, c)
		if d[0].SyncEvery != tt.want {
			t.Errorf("%+v: %+v", tt, d[0])
		}
	}
}

func TestHarris(t *testing.T) {
	for _, tt := range []struct {
		setup, delay float64
		want         int
	}{
		{0, 1, 1}, {8, 1, 4}, {2, 1, 2}, {4.5, 1, 3}, {1, 0, 0}, {-1, 1, 0}, {math.NaN(), 1, 0}, {1, math.NaN(), 0},
		{math.Inf(1), 1, 46341}, // the square root of the largest 32-bit number
	} {
		if got := Harris(tt.setup, tt.delay); got != tt.want {
			t.Errorf("Harris(%v, %v) = %d, want %d", tt.setup, tt.delay, got, tt.want)
		}
	}
}

// Long kernels count by their time: an urgent job finds them more often. It also decides by
// its deadline and by how often it comes.
func TestSyncForUrgentJobs(t *testing.T) {
	low := Client{ID: 1, Active: true, Jobs: 1, Launches: 1000, GPU: 100 * ms}
	urgent := Client{ID: 2, Terms: Terms{Priority: 1}, Jobs: 1, GPU: 5 * ms}
	for _, tt := range []struct {
		name     string
		deadline time.Duration
		active   bool
		jobs     int // of low
		want     int
	}{
		{"kernels of 10 us and of 1 ms for half of the time each", 0, false, 4, 18},
		{"2 ms until the deadline", 7 * ms, false, 4, 3},
		{"less than a kernel until it", 5100 * time.Microsecond, false, 4, 18},
		{"it runs", 0, true, 4, 1},
		{"it runs as often", 0, true, 1, 36},
	} {
		p := NewSync()
		c, o := low, urgent
		o.Deadline = tt.deadline
		decide(t, p, 0, c, o)
		c.Launches, c.GPU = 11_000, 200*ms
		decide(t, p, 100*ms, c, o)
		c.Launches, c.GPU, c.Jobs = 11_100, 300*ms, tt.jobs
		o.Active = tt.active
		if d, _ := decide(t, p, 200*ms, c, o); d[0].SyncEvery != tt.want {
			t.Errorf("%s: every %d, want %d", tt.name, d[0].SyncEvery, tt.want)
		}
	}
}
