package slurmview

import (
	"slices"
	"strings"

	"github.com/foretime/foretime/mirage/internal/simulator"
	"github.com/foretime/foretime/mirage/internal/trace"
)

// The values of PreemptType in slurm.conf under which jobs take the place of others.
const (
	byTier    = "preempt/partition_prio"
	byQuality = "preempt/qos"
)

// mayPreempt reports whether a job of a partition and QOS may take the place of one of
// another: by the tier of its partition, or because its QOS names the other's.
func (h *Hardware) mayPreempt(partition, qos, otherPartition, otherQOS string, l *limits) bool {
	own, other := h.partitions[partition], h.partitions[otherPartition]
	switch h.preemption {
	case byTier:
		return own.tier > other.tier && !other.spared && h.overlap(partition, otherPartition)
	case byQuality:
		return slices.Contains(strings.Split(l.qos[qos]["Preempt"], ","), otherQOS) && h.overlap(partition, otherPartition)
	}
	return false
}

// preemptors names the partitions or QOS whose jobs may take the place of a job.
func (h *Hardware) preemptors(partition, qos string, l *limits) (names []string) {
	for name := range h.partitions {
		if h.preemption == byTier && h.mayPreempt(name, "", partition, "", l) {
			names = append(names, "partition "+name)
		}
	}
	for name := range l.qos {
		if h.preemption == byQuality && h.mayPreempt(partition, name, partition, qos, l) {
			names = append(names, "QOS "+name)
		}
	}
	slices.Sort(names)
	return names
}

// overlap reports whether two partitions have a node in common; one of several names is not
// told apart.
func (h *Hardware) overlap(a, b string) bool {
	return slices.ContainsFunc(h.nodes, func(n seen) bool { return n.in(a) && n.in(b) })
}

// grace returns the seconds that a preempted job of a partition and QOS keeps its nodes.
func (h *Hardware) grace(partition, qos string, l *limits) int64 {
	if h.preemption == byTier {
		return h.partitions[partition].grace
	}
	seconds, _ := trace.SlurmSeconds(l.qos[qos]["GraceTime"])
	return seconds
}

// withoutPreempted leaves out the jobs whose place a job may take: it does not see them, except
// those that run for the time of their grace.
func (v *View) withoutPreempted(st simulator.Standing, s *subject) simulator.Standing {
	h := v.Hardware
	if h.preemption == "" {
		return st
	}
	quality := map[string]string{}
	for i := range v.Jobs {
		quality[rowID(&v.Jobs[i])] = v.Jobs[i].QOS
	}
	taken := func(row trace.Job) bool {
		return h.mayPreempt(s.partition, s.qos, row.Partition, quality[row.ID], v.limits)
	}
	var running []trace.Job
	for _, row := range st.Running {
		if taken(row) {
			grace := h.grace(row.Partition, quality[row.ID], v.limits)
			if grace == 0 {
				continue
			}
			row.Limit = min(row.Limit, v.Now-row.Start+grace)
		}
		running = append(running, row)
	}
	st.Running = running
	st.Pending = slices.DeleteFunc(slices.Clone(st.Pending), taken)
	st.Ended = slices.DeleteFunc(slices.Clone(st.Ended), taken)
	return st
}
