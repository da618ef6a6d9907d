package trace

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"time"
)

// Stats are figures of a trace. Durations are zone-aware, differences of
// instants and not of wall clocks, unless said otherwise.
type Stats struct {
	Rows         int     `json:"rows"`                  // usable jobs
	Users        int     `json:"users"`                 // distinct users
	PeakNodes    int     `json:"peak_nodes"`            // most nodes in use at one instant, ends before starts
	ZeroDuration int     `json:"zero_duration"`         // jobs of 0 s
	OverLimit60  int     `json:"over_limit_60s"`        // jobs that ran more than 60 s over their limit
	NodeHours    float64 `json:"zone_aware_node_hours"` // nodes times duration, summed
	// NaiveNodeHours are node-hours as the wall clock shows them: a job that
	// runs through a change of summer time counts an hour more or less. It is
	// the figure that readers without time zones arrive at.
	NaiveNodeHours float64 `json:"node_hours"`
	MeanWaitHours  float64 `json:"mean_wait_hours"`
	UnknownWaits   int     `json:"unknown_waits"` // jobs of which the log does not say when they started
	Held           int     `json:"held_jobs"`     // jobs that were held, or waited for another, before they could start
	HeldHours      float64 `json:"held_hours"`    // of those, summed
	MaxNodes       int     `json:"max_nodes"`     // of one job
	Pending        int     `json:"pending"`       // jobs that wait at the log's end
	Running        int     `json:"running"`       // and that run then
}

// Stats computes the trace's figures.
func (t *Trace) Stats() Stats {
	s := Stats{Rows: len(t.Jobs), PeakNodes: t.PeakNodes()}
	users := map[string]bool{}
	for i := range t.Jobs {
		j := &t.Jobs[i]
		users[j.User] = true
		d := j.Duration()
		s.NodeHours += float64(d) * float64(j.Nodes) / 3600
		s.NaiveNodeHours += float64(d+t.offset(j.End)-t.offset(j.Start)) * float64(j.Nodes) / 3600
		if j.Held > 0 {
			s.Held++
			s.HeldHours += float64(j.Held) / 3600
		}
		if j.NoStart {
			s.UnknownWaits++
		} else {
			s.MeanWaitHours += float64(j.Wait()) / 3600
		}
		s.MaxNodes = max(s.MaxNodes, j.Nodes)
		if d == 0 {
			s.ZeroDuration++
		}
		if d > j.Limit+60 {
			s.OverLimit60++
		}
	}
	for i := range t.Open {
		if t.Open[i].Start == Never {
			s.Pending++
		}
	}
	s.Users, s.Running = len(users), len(t.Open)-s.Pending
	s.MeanWaitHours /= float64(max(len(t.Jobs)-s.UnknownWaits, 1))
	return s
}

// offset returns the seconds by which the wall clock is ahead of UTC.
func (t *Trace) offset(unix int64) int64 {
	_, offset := time.Unix(unix, 0).In(t.Zone).Zone()
	return int64(offset)
}

// PeakNodes returns the most nodes in use at one instant; ends come before starts.
func (t *Trace) PeakNodes() int { return peak(t.each(), nodesInUse) }

// nodesInUse returns the nodes of a job that has started.
func nodesInUse(j *Job) int {
	if j.Start == Never {
		return 0
	}
	return j.Nodes
}

// A job of outlierFactor times the size of all others at once, among at least outlierJobs, is
// hardly one of the same machine.
const (
	outlierFactor = 10
	outlierJobs   = 100
)

// CheckSize returns an error if a log names no size and one job alone has many times the nodes
// that all others use at once: the log then does not tell the size of the machine. It wraps
// ErrOutlier.
func (t *Trace) CheckSize() error {
	if t.Size > 0 || len(t.Jobs) < outlierJobs {
		return nil
	}
	largest := &t.Jobs[0]
	for i := range t.Jobs {
		if t.Jobs[i].Nodes > largest.Nodes {
			largest = &t.Jobs[i]
		}
	}
	others := peak(t.each(), func(j *Job) int {
		if j == largest {
			return 0
		}
		return nodesInUse(j)
	})
	if largest.Nodes <= outlierFactor*others {
		return nil
	}
	return fmt.Errorf("%w: job %s has %d %s, and all others together at most %d", ErrOutlier, largest.ID, largest.Nodes, t.Unit, others)
}

// PeakUserJobs returns the most jobs that one user ran at once, and how many users did.
func PeakUserJobs(jobs []Job) (most, users int) {
	byUser := map[string][]*Job{}
	for i := range jobs {
		j := &jobs[i]
		byUser[j.User] = append(byUser[j.User], j)
	}
	for _, own := range byUser {
		n := peak(slices.Values(own), func(*Job) int { return 1 })
		if n > most {
			most, users = n, 0
		}
		if n == most {
			users++
		}
	}
	return most, users
}

// peak returns the largest sum of the weights of jobs that run at one time; at one
// instant ends come before starts.
func peak(jobs iter.Seq[*Job], weight func(*Job) int) int {
	type change struct {
		at int64
		by int
	}
	var changes []change
	for j := range jobs {
		w := weight(j)
		changes = append(changes, change{j.Start, w}, change{j.End, -w})
	}
	slices.SortFunc(changes, func(a, b change) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.by, b.by)) })
	now, most := 0, 0
	for _, c := range changes {
		now += c.by
		most = max(most, now)
	}
	return most
}
