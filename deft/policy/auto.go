package policy

import (
	"slices"
	"time"

	"github.com/foretime/foretime/deft/predictor"
)

// Auto is Priority with the synchronization interval of each client below the
// highest level chosen by the predictor, fitted to the client's jobs as they
// end. The first jobs run under different intervals to learn from; from then on
// every fifth job has another than the best, by turns above and below, so that
// the fit stays one and follows a job that changes. A client always has a point
// within each half of its job: of a queue without bound nothing could be learned.
type Auto struct{ tuned map[int]*tuning }

var _ Policy = (*Auto)(nil)

// tuning is what is known of one client.
type tuning struct {
	online *predictor.Online
	jobs   int
	gpu    time.Duration
	best   int // interval chosen
	sync   int // interval in force: best, or one to learn from
}

// NewAuto returns the policy.
func NewAuto() *Auto { return &Auto{tuned: map[int]*tuning{}} }

// firstIntervals are those of a client's first jobs.
func firstIntervals() []int { return []int{DefaultSync, 4 * DefaultSync, DefaultSync / 4} }

// explore is how many jobs go from one that tries another interval to the next.
const explore = 5

// Decide closes gates as Priority does and learns from the jobs that ended.
func (a *Auto) Decide(now time.Duration, clients []Client, directives []Directive) time.Duration {
	next := Priority{}.Decide(now, clients, directives)
	forget(a.tuned, clients)
	for i, c := range clients {
		if directives[i].SyncEvery == 0 {
			continue
		}
		t, known := a.tuned[c.ID]
		if !known {
			t = &tuning{online: predictor.NewOnline(), jobs: c.Jobs, gpu: c.GPU, best: DefaultSync, sync: DefaultSync}
			a.tuned[c.ID] = t
		}
		t.learn(c)
		directives[i].SyncEvery = t.sync
	}
	return next
}

// learn takes in the last job, once, and sets the interval of the next.
func (t *tuning) learn(c Client) {
	if c.Jobs <= t.jobs {
		return
	}
	ended := c.Jobs - t.jobs
	gpu := (c.GPU - t.gpu) / time.Duration(ended)
	t.jobs, t.gpu = c.Jobs, c.GPU
	last := predictor.Job{Time: c.LastJob.JCT - c.LastJob.Gate, Syncs: c.LastJob.Syncs, Launches: c.LastJob.Launches, GPU: gpu}
	if err := t.online.Observe(last); err != nil {
		return // a job without launches says nothing
	}
	if first := firstIntervals(); t.online.Jobs() < len(first) {
		t.sync = first[t.online.Jobs()]
		return
	}
	possible := intervals(c.LastJob.Launches)
	if m, err := t.online.Model(); err == nil {
		if d, err := m.Best(possible); err == nil {
			t.best = d.Sync
		}
	}
	t.sync = t.best
	if n := t.online.Jobs() / explore; t.online.Jobs()%explore == 0 {
		t.sync = another(possible, t.best, n%2 == 0)
	}
}

// intervals are the candidates for a job of so many launches: those that give it
// two points or more, and the smallest.
func intervals(launches int) []int {
	all := predictor.Candidates()
	n := 1
	for n < len(all) && 2*all[n] <= launches {
		n++
	}
	return all[:n]
}

// another is the candidate two places above or below n, or, where there is none,
// on the other side.
func another(all []int, n int, above bool) int {
	i := slices.Index(all, n)
	step := 2
	if !above {
		step = -2
	}
	if i+step < 0 || i+step >= len(all) {
		step = -step
	}
	return all[min(max(i+step, 0), len(all)-1)]
}
