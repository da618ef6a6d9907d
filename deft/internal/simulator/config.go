package simulator

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/foretime/foretime/deft/internal/device"
	"github.com/foretime/foretime/deft/internal/policy"
)

// Errors returned for what cannot be simulated. They arrive wrapped with the
// client.
var (
	// ErrNoClient is returned for an experiment without clients.
	ErrNoClient = errors.New("no clients")
	// ErrNoKernels is returned for a job without kernels.
	ErrNoKernels = errors.New("the job has no kernels")
	// ErrTime is returned for a time below 0 or beyond an hour, and a duration of 0.
	ErrTime = errors.New("invalid time")
	// ErrPolicy is returned for a policy whose next decision is in the past.
	ErrPolicy = errors.New("the policy does not advance time")
	// ErrStuck is returned if a policy stops clients for ever.
	ErrStuck = errors.New("all clients are stopped for ever")
	// ErrTooMany is returned for more than maxJobs jobs of a client: each is kept.
	ErrTooMany = errors.New("too many jobs")
)

// never is the time of an event that does not happen.
const never = device.Never

// Defaults of the costs in a Config and a Client: usual values, measured again before the
// clocks are compared.
const (
	DefaultLaunch   = 4 * time.Microsecond
	DefaultSyncCost = 15 * time.Microsecond
	DefaultMinJobs  = 10
)

// longest bounds the times of a device, of the policy's answers and of single kernels.
const longest = time.Hour

// maxJobs bounds the jobs of a client, which need 0.2 GB then.
const maxJobs = 2_000_000

// Config describes an experiment. Fields but Clients and Duration may be zero.
type Config struct {
	Clients []Client
	Policy  policy.Policy // nil: none. It keeps memory: use it for one run only
	// Jobs begin for Duration; a client goes on to MinJobs. 0 is 10, below 0 none.
	Duration time.Duration
	MinJobs  int

	Device   device.Settings
	SyncCost time.Duration // host time lost when it waits for the device; 0 is 15 us, below 0 none
	Reaction time.Duration // from a change to the policy's answer
	// Jitter is the standard deviation of every kernel's time and every sleep as a
	// share of it, drawn from a normal distribution cut at half and one and a half
	// of the time. Without it a request may meet the other jobs at the same
	// moment, lucky or not, each time.
	Jitter float64
	Seed   uint64
	// WarmUp plays one job of each client before, one client after another, as
	// the first of its Jobs. The experiment's time 0 is after all of them.
	WarmUp bool
	// Trace is called with each event after the warm-up, in order of time; nil: not called.
	Trace func(Event)
}

// Client is a process with jobs of one kind.
type Client struct {
	policy.Terms
	Kernels []time.Duration // device time of each launch of a job
	Graph   int             // so many kernels are launched at a time, as one CUDA graph; 0 each by itself
	Launch  time.Duration   // host time of a launch; 0 is 4 us, below 0 none
	// Gaps, if not nil, are the host times before each launch, instead of Launch, and Waits
	// says before which of them the program waits for its queue to be empty: a recorded
	// program. Its own waits end its jobs if Unmarked, as the hook detects them.
	Gaps     []time.Duration
	Waits    []bool
	Unmarked bool
	Sleep    time.Duration // between the end of a job and the begin of the next
	Period   time.Duration // instead of Sleep: from begin to begin, where the job is done by then
	Start    time.Duration // when the first job begins
	Jobs     int           // exactly so many; 0: Config's Duration and MinJobs decide
	// MemoryBytes and ReservedBytes are repeated in the results.
	MemoryBytes, ReservedBytes int64
}

// EventKind says what happened.
type EventKind int

// The kinds of events.
const (
	Begun    EventKind = iota // a job began
	Launched                  // a kernel entered the queue
	Started                   // the device took it up
	Done                      // it ended
	Synced                    // a synchronization point began: the host waits
	Ended                     // the job ended
	Directed                  // a directive changed
)

// Event is something that happened to a client.
type Event struct {
	At        time.Duration
	Kind      EventKind
	Client    int // index in Config.Clients
	InFlight  int // kernels of the client in the queue and on the device, graphs' included, after it
	Queued    int // kernels of all clients, after it
	Directive policy.Directive
}

func (c *Config) check() error {
	if len(c.Clients) == 0 {
		return fmt.Errorf("simulator: %w", ErrNoClient)
	}
	if c.Duration <= 0 || c.Device.Turn < 0 || c.Reaction < 0 || !(c.Jitter >= 0) || math.IsInf(c.Jitter, 0) {
		return fmt.Errorf("simulator: %w: duration %v, turn %v, reaction %v, jitter %v", ErrTime, c.Duration, c.Device.Turn, c.Reaction, c.Jitter)
	}
	if max(c.Device.Turn, c.Device.Switch, c.Reaction, c.SyncCost) > longest {
		return fmt.Errorf("simulator: %w: turn %v, switch %v, reaction %v, synchronization %v: none may exceed %v", ErrTime, c.Device.Turn, c.Device.Switch, c.Reaction, c.SyncCost, longest)
	}
	for i, client := range c.Clients {
		if len(client.Kernels) == 0 {
			return fmt.Errorf("simulator: client %d (%s): %w", i, client.Name, ErrNoKernels)
		}
		for k, each := range client.Kernels {
			if each <= 0 || each > longest {
				return fmt.Errorf("simulator: client %d (%s): kernel %d: %w: %v; a kernel takes more than 0 and at most %v", i, client.Name, k, ErrTime, each, longest)
			}
		}
		if n := len(client.Kernels); client.Gaps != nil && (len(client.Gaps) != n || len(client.Waits) != n || client.Graph > 1) {
			return fmt.Errorf("simulator: client %d (%s): %w: %d launches, %d gaps, %d waits", i, client.Name, ErrNoKernels, n, len(client.Gaps), len(client.Waits))
		}
		if client.Graph < 0 {
			return fmt.Errorf("simulator: client %d (%s): %w: graphs of %d", i, client.Name, ErrNoKernels, client.Graph)
		}
		if client.Sleep < 0 || client.Period < 0 || client.Start < 0 || client.Jobs < 0 {
			return fmt.Errorf("simulator: client %d (%s): %w", i, client.Name, ErrTime)
		}
	}
	return nil
}

// cost returns d, or fallback if d is 0, or 0 if d is below 0.
func cost(d, fallback time.Duration) time.Duration {
	if d == 0 {
		return fallback
	}
	return max(d, 0)
}
