package simulator

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/foretime/foretime/mirage/internal/cluster"
	"github.com/foretime/foretime/mirage/internal/trace"
)

// ErrWorkload is returned when jobs cannot be simulated: times out of order or out of range.
var ErrWorkload = errors.New("unusable workload")

// Config is a machine and the rules that run it.
type Config struct {
	cluster.Machine
	cluster.Rules
	// Caps are the largest sums of what running jobs are charged, by number.
	Caps []int64 `json:"-"`
}

// job is the part of a trace.Job that the simulation needs.
type job struct {
	submit   int64
	limit    int64
	duration int64 // as simulated: no longer than the limit
	nodes    int32
	user     int32
	after    int32 // index of the job to follow, or -1
	rejected bool
	tier     int
	static   float64
	share    *cluster.Share // of each node, where nodes are of kinds
	charges  []trace.Charge
}

// Workload is a table of jobs made ready for a machine and its rules. It does
// not change and may be simulated from many goroutines.
type Workload struct {
	Config Config
	Jobs   []trace.Job // as given; index i is job i of every result

	jobs       []job
	dependents map[int32][]int32 // jobs to wake when a job ends
	users      int
	origin     int64
	edges      []int64 // instants at which nodes go down or come up
	layout     *cluster.Layout
	plan       *cluster.Plan
}

// maxTime bounds all times, which keeps their sums from overflowing.
const maxTime = 1 << 50

// NewWorkload makes jobs, in the order of submission, ready to simulate. The
// error wraps ErrWorkload, cluster.ErrMachine or cluster.ErrRules.
func NewWorkload(jobs []trace.Job, c Config) (*Workload, error) {
	if err := c.Machine.Check(); err != nil {
		return nil, err
	}
	plan, err := c.Rules.Plan()
	if err != nil {
		return nil, err
	}
	w := &Workload{Config: c, Jobs: jobs, jobs: make([]job, len(jobs)), layout: c.Layout(), plan: plan}
	if len(jobs) > math.MaxInt32-1024 {
		return nil, fmt.Errorf("%w: too many jobs: %d", ErrWorkload, len(jobs))
	}
	if len(jobs) > 0 {
		w.origin = jobs[0].Submit
	}
	users := make(map[string]int32)
	for i := range jobs {
		if i > 0 && jobs[i].Submit < jobs[i-1].Submit {
			return nil, fmt.Errorf("%w: job %s is out of order of submission", ErrWorkload, jobs[i].ID)
		}
		user, ok := users[jobs[i].User]
		if !ok {
			user = int32(len(users))
			users[jobs[i].User] = user
		}
		if w.jobs[i], err = w.prepare(&jobs[i], user); err != nil {
			return nil, err
		}
	}
	w.users = len(users)
	for _, d := range c.Down {
		w.edges = append(w.edges, d.From, d.To)
	}
	slices.Sort(w.edges)
	w.link()
	return w, nil
}

// prepare computes what the simulation needs of a job.
func (w *Workload) prepare(t *trace.Job, user int32) (job, error) {
	if t.Submit < -maxTime || t.Submit > maxTime || t.Limit < 0 || t.Limit > maxTime || t.Duration() < 0 || math.IsNaN(t.Priority) || math.IsInf(t.Priority, 0) {
		return job{}, fmt.Errorf("%w: job %s: submitted at %d, limit %d s, duration %d s, priority %v", ErrWorkload, t.ID, t.Submit, t.Limit, t.Duration(), t.Priority)
	}
	j := job{
		submit: t.Submit, limit: t.Limit, duration: min(t.Duration(), t.Limit),
		user: user, after: -1, charges: t.Charges,
	}
	for _, c := range t.Charges {
		if c.Cap < 0 || int(c.Cap) >= len(w.Config.Caps) {
			return job{}, fmt.Errorf("%w: job %s: limit %d of %d", ErrWorkload, t.ID, c.Cap, len(w.Config.Caps))
		}
	}
	share, tier, err := w.accepts(t)
	if err != nil {
		j.rejected = true
		return j, nil
	}
	j.nodes, j.share = int32(t.Nodes), share
	j.tier, j.static = tier, w.Config.Static(float64(t.Nodes)/float64(w.Config.Nodes), t.Priority)
	return j, nil
}

// accepts returns the part of each node that a job takes, on a machine with kinds of nodes, and
// the tier of its partition. The error wraps cluster.ErrOversize.
func (w *Workload) accepts(t *trace.Job) (*cluster.Share, int, error) {
	if w.layout == nil {
		return nil, 0, w.Config.Accepts(t.Nodes)
	}
	return w.layout.Share(t)
}

// link resolves dependencies. One on a job that was not submitted before in the workload, or
// that was rejected, counts as fulfilled.
func (w *Workload) link() {
	if !slices.ContainsFunc(w.Jobs, func(j trace.Job) bool { return j.After != "" }) {
		return
	}
	before := make(map[string]int32, len(w.Jobs))
	w.dependents = make(map[int32][]int32)
	for i := range w.Jobs {
		after := w.Jobs[i].After
		k, known := before[after]
		if after != "" && known && !w.jobs[k].rejected && !w.jobs[i].rejected {
			w.jobs[i].after = k
			w.dependents[k] = append(w.dependents[k], int32(i))
		}
		before[w.Jobs[i].ID] = int32(i)
	}
}
