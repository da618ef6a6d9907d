package policy

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// EDF meets deadlines: the running jobs that have one are served earliest
// deadline first (Liu and Layland 1973), and others are let in as long as the
// slack allows. The slack of a job is the time to its deadline less the device
// time that it, and those before it, are predicted to need: the mean of the
// client's last jobs less what this one has had. If the least slack is small
// compared with the need, all but the first in the queue stop. Without any deadline it
// is Priority. A client's first job counts as urgent, as its need is unknown.
type EDF struct {
	presence presence
	accounts map[int]account
	priority *Priority // without any deadline
}

var _ Policy = (*EDF)(nil)

// account holds the device time of a client's jobs.
type account struct {
	begin   time.Duration // of the job under way
	atBegin time.Duration // device time when it began
	jobs    int
	perJob  float64 // ns of device time, exponential mean; 0 unknown
}

// NewEDF returns the policy.
func NewEDF(s Settings) *EDF {
	return &EDF{presence: newPresence(s), accounts: map[int]account{}, priority: NewPriority(s)}
}

// Set by hand.
const (
	newestWeight = 0.3 // weight of the last job in the mean
	// slackPerNeed is the slack, as a share of the predicted need, below which a job is
	// urgent; slackFloor is added for the kernels that others have queued.
	slackPerNeed = 0.5
	slackFloor   = 2 * time.Millisecond
)

// queued describes a running job with a deadline.
type queued struct {
	index    int
	deadline time.Duration
	need     time.Duration
	known    bool
}

// Decide serves the earliest deadline first if slack is short.
func (e *EDF) Decide(now time.Duration, clients []Client, directives []Directive) time.Duration {
	e.observe(clients)
	if !slices.ContainsFunc(clients, func(c Client) bool { return c.Deadline > 0 }) {
		return e.priority.Decide(now, clients, directives)
	}
	e.presence.observe(now, clients)
	line := e.deadlineQueue(clients)
	urgent, next := isUrgent(now, line)
	if urgent { // is there a gap?
		next = min(next, e.presence.decide(now, clients, anotherHasJob(clients)))
		line = slices.DeleteFunc(line, func(w queued) bool { return !e.presence.usesDevice(clients[w.index]) })
	}
	if urgent && len(line) > 0 {
		for i, c := range clients {
			directives[i].Closed = i != line[0].index && (!c.Active || e.presence.usesDevice(c))
		}
	}
	for i, c := range clients {
		if c.Deadline == 0 || urgent {
			c.boundQueue(&directives[i])
		}
	}
	e.presence.setBounds(clients, directives)
	return next
}

// observe learns the device time of jobs.
func (e *EDF) observe(clients []Client) {
	dropAbsent(e.accounts, clients)
	for _, c := range clients {
		a, known := e.accounts[c.ID]
		if !known {
			a = account{begin: c.Begin, atBegin: c.GPU, jobs: c.Jobs}
		}
		if c.Jobs > a.jobs {
			had := float64(c.GPU-a.atBegin) / float64(c.Jobs-a.jobs)
			if a.perJob == 0 {
				a.perJob = had
			}
			a.perJob += newestWeight * (had - a.perJob)
			a.jobs, a.atBegin = c.Jobs, c.GPU
		}
		if c.Begin != a.begin {
			a.begin, a.atBegin = c.Begin, c.GPU
		}
		e.accounts[c.ID] = a
	}
}

// deadlineQueue returns the running jobs with a deadline, earliest first.
func (e *EDF) deadlineQueue(clients []Client) []queued {
	var line []queued
	for i, c := range clients {
		if !c.Active || c.Deadline == 0 {
			continue
		}
		a := e.accounts[c.ID]
		left := time.Duration(max(a.perJob-float64(c.GPU-a.atBegin), 0))
		line = append(line, queued{i, c.Begin + c.Deadline, left, a.perJob > 0})
	}
	slices.SortStableFunc(line, func(a, b queued) int { return cmp.Compare(a.deadline, b.deadline) })
	return line
}

// isUrgent says whether a job in the queue is short of slack, and when one will be.
func isUrgent(now time.Duration, line []queued) (urgent bool, next time.Duration) {
	if len(line) == 0 {
		return false, Never
	}
	need, spare := time.Duration(0), time.Duration(math.MaxInt64)
	for _, w := range line {
		if !w.known {
			return true, now + slackFloor
		}
		need += w.need
		margin := time.Duration(slackPerNeed*float64(need)) + slackFloor
		spare = min(spare, w.deadline-now-need-margin)
	}
	if spare <= 0 {
		return true, now + slackFloor
	}
	return false, now + spare
}
