package slurmview

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/foretime/foretime/mirage/internal/simulator"
	"github.com/foretime/foretime/mirage/internal/trace"
)

// priorities describes how a Slurm orders its queue.
type priorities struct {
	multifactor bool          // each job has a priority of its own; else the queue is in order of submission
	agePoints   float64       // of the greatest age
	maxAge      time.Duration // from which on a job gets no more of them
	accrues     bool          // age counts from the submission, whatever a job waits for
	unread      string        // what of it could not be read: the points for age are then not taken off
}

// parsePriorities reads the configuration of a controller.
func parsePriorities(config map[string]string) (p priorities) {
	p.multifactor = config["PriorityType"] != "priority/basic"
	p.accrues = slices.Contains(strings.Split(config["PriorityFlags"], ","), "ACCRUE_ALWAYS")
	weight, known := config["PriorityWeightAge"]
	if !p.multifactor || !known || weight == "0" {
		return p
	}
	points, err := strconv.ParseFloat(weight, 64)
	seconds, ok := trace.SlurmSeconds(config["PriorityMaxAge"])
	if err != nil || !(points >= 0) || !ok || seconds <= 0 {
		p.unread = fmt.Sprintf("the place of a new job in the queue includes points for age: PriorityWeightAge is %q, PriorityMaxAge %q", weight, config["PriorityMaxAge"])
		return p
	}
	p.agePoints, p.maxAge = points, time.Duration(seconds)*time.Second
	return p
}

// young returns the priority of a job without the points for its age at a time.
func (p priorities) young(j *trace.Job, at int64) float64 {
	if !(p.agePoints > 0) {
		return j.Priority
	}
	age := float64(at-j.Submit) / p.maxAge.Seconds()
	return j.Priority - p.agePoints*min(max(age, 0), 1)
}

// forNew returns the priority that a job is expected to have when it is submitted, 0 if no
// job waits. It is that of the latest job of its user, first in its partition, as far as
// the controller or the accounting knows it: on Lonestar6 it places a new job 0.03 of the
// queue's length from where it was, the median of the queue 0.42 and its end 0.68
// (TestPlaceInQueue). A queue in order of submission places it last.
func (p priorities) forNew(job *trace.Job, st *simulator.Standing) float64 {
	lowest, waiting := math.Inf(1), make([]trace.Job, len(st.Pending))
	for i := range st.Pending {
		waiting[i] = st.Pending[i]
		waiting[i].Priority = p.young(&st.Pending[i], st.Now)
		lowest = min(lowest, st.Pending[i].Priority)
	}
	switch {
	case len(waiting) == 0:
		return 0
	case !p.multifactor:
		return lowest - 1
	}
	var latest, here *trace.Job
	for _, rows := range [][]trace.Job{st.Ended, st.Running, st.Own, st.Pending} {
		for i := range rows {
			j := &rows[i]
			if j.User == "" || j.User != job.User || !(j.Priority > 0) {
				continue
			}
			if latest == nil || j.Submit >= latest.Submit {
				latest = j
			}
			if j.Partition == job.Partition && (here == nil || j.Submit >= here.Submit) {
				here = j
			}
		}
	}
	if j := cmp.Or(here, latest); j != nil {
		at := j.Start
		if at == 0 || at > st.Now || j.NoStart {
			at = st.Now
		}
		return p.young(j, at)
	}
	inPartition := slices.DeleteFunc(slices.Clone(waiting), func(j trace.Job) bool { return j.Partition != job.Partition })
	if len(inPartition) > 0 {
		waiting = inPartition
	}
	return trace.MedianPriority(waiting)
}
