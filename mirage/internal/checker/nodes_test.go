package checker

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/foretime/foretime/mirage/internal/cluster"
	"github.com/foretime/foretime/mirage/internal/trace"
)

// room is the machine node by node, where it has kinds.
type room struct {
	kind  []cluster.Kind // of each node
	rules map[string]cluster.Partition
}

// newRoom is nil where nodes are only counted.
func newRoom(m cluster.Machine) *room {
	if len(m.Kinds) == 0 {
		return nil
	}
	r := &room{rules: map[string]cluster.Partition{}}
	for _, k := range m.Kinds {
		r.kind = append(r.kind, slices.Repeat([]cluster.Kind{k}, k.Nodes)...)
	}
	for _, p := range m.Partitions {
		r.rules[p.Name] = p
	}
	return r
}

// allowed are the partitions that take a job, of those that it names.
func (r *room) allowed(j *trace.Job) []string {
	return slices.DeleteFunc(strings.Split(j.Partition, ","), func(name string) bool {
		p := r.rules[name]
		return p.MaxSeconds > 0 && j.Limit > p.MaxSeconds || p.MaxNodes > 0 && j.Nodes > p.MaxNodes || !r.known(name)
	})
}

// admits says that a job's partitions let it onto a node.
func (r *room) admits(j *trace.Job, n int) bool {
	in := r.kind[n].Partitions
	return j.Partition == "" || slices.ContainsFunc(r.allowed(j), func(name string) bool {
		return len(in) == 0 || slices.Contains(in, name)
	})
}

// known says that some part of the machine's description names a partition.
func (r *room) known(name string) bool {
	_, listed := r.rules[name]
	return listed || slices.ContainsFunc(r.kind, func(k cluster.Kind) bool { return slices.Contains(k.Partitions, name) })
}

// tier is the highest of the partitions that take a job.
func (r *room) tier(j *trace.Job) int {
	tier := 0
	for _, name := range r.allowed(j) {
		tier = max(tier, r.rules[name].Tier)
	}
	return tier
}

// part is what is taken of a node.
type part struct {
	cpus, gpus int
	memory     int64
}

// of is what a job takes of one node.
func (r *room) of(j *trace.Job, n int) part {
	k := r.kind[n]
	if j.Need == nil || j.Need.Exclusive {
		return part{k.CPUs, k.GPUs, k.MemoryMB}
	}
	up := func(total int64) int64 { return (total + int64(j.Nodes) - 1) / int64(j.Nodes) }
	return part{max(int(up(int64(j.Need.CPUs))), 1), int(up(int64(j.Need.GPUs))), up(j.Need.MemoryMB)}
}

// over names what is taken of a node beyond what it has, or "".
func (r *room) over(n int, p part) string {
	switch k := r.kind[n]; {
	case p.cpus > k.CPUs:
		return "CPUs"
	case p.gpus > k.GPUs:
		return "GPUs"
	case k.MemoryMB > 0 && p.memory > k.MemoryMB:
		return "MB"
	}
	return ""
}

// accepts says that a job fits on the idle machine.
func (r *room) accepts(j *trace.Job) bool {
	if j.Nodes < 1 {
		return false
	}
	fit := 0
	for n := range r.kind {
		if r.admits(j, n) && r.over(n, r.of(j, n)) == "" {
			fit++
		}
	}
	return fit >= j.Nodes
}

// taken is what jobs take of a node together.
func (r *room) taken(n int, jobs []*run) part {
	var sum part
	for _, j := range jobs {
		if slices.Contains(j.on, n) {
			p := r.of(j.Job, n)
			sum.cpus, sum.gpus, sum.memory = sum.cpus+p.cpus, sum.gpus+p.gpus, sum.memory+p.memory
		}
	}
	return sum
}

// takes says that a node takes a job beside others.
func (r *room) takes(n int, j *run, others []*run) bool {
	p, q := r.of(j.Job, n), r.taken(n, others)
	if j.Need == nil || j.Need.Exclusive {
		return q == part{} && r.admits(j.Job, n)
	}
	return r.admits(j.Job, n) && r.over(n, part{p.cpus + q.cpus, p.gpus + q.gpus, p.memory + q.memory}) == ""
}

// down says that a window takes a node in some part of a span. Windows take the
// last nodes.
func (r *room) down(n int, windows []cluster.Window, from, to int64) bool {
	return slices.ContainsFunc(windows, func(w cluster.Window) bool {
		return n >= len(r.kind)-w.Nodes && w.From < to && w.To > from
	})
}

// place reads the nodes of an outcome; nil where they are no nodes of the
// machine, each once.
func (r *room) place(on string) []int {
	var nodes []int
	for _, field := range strings.Fields(on) {
		n, err := strconv.Atoi(field)
		if err != nil || n < 0 || n >= len(r.kind) || slices.Contains(nodes, n) {
			return nil
		}
		nodes = append(nodes, n)
	}
	return nodes
}

// placed checks invariants 1 and 2 of each resource of each node: where a job
// may be, and that no node gives more than it has. Where a node is down, limits
// count instead of ends.
func (r *room) placed(report *Report, t Table, ran []*run) {
	report.checked(1)
	onNode := make([][]*run, len(r.kind))
	for _, j := range ran {
		if len(j.on) != j.Nodes {
			report.breach(2, j.ID, j.start, "is on nodes %v, want %d of them", j.on, j.Nodes)
		}
		for _, n := range j.on {
			if !r.admits(j.Job, n) {
				report.breach(2, j.ID, j.start, "is on node %d, which is not in partition %s", n, j.Partition)
			}
			if r.down(n, t.Machine.Down, j.start, max(j.end, j.start+1)) {
				report.breach(1, j.ID, j.start, "is on node %d, which goes down", n)
			}
			onNode[n] = append(onNode[n], j)
		}
	}
	for n, jobs := range onNode {
		slices.SortStableFunc(jobs, func(a, b *run) int { return cmp.Compare(a.start, b.start) })
		for i, j := range jobs {
			var beside []*run
			for _, o := range jobs[:i+1] {
				if o.end > j.start && j.end > j.start {
					beside = append(beside, o)
				}
			}
			sum := r.taken(n, beside)
			if what := r.over(n, sum); what != "" || len(beside) > 1 && slices.ContainsFunc(beside, func(o *run) bool { return o.Need == nil || o.Need.Exclusive }) {
				report.breach(1, j.ID, j.start, "node %d has %d CPUs, %d GPUs, %d MB taken by %d jobs: %s", n, sum.cpus, sum.gpus, sum.memory, len(beside), cmp.Or(what, "one of them shares with nobody"))
			}
		}
	}
}

// fits says that a job could be placed at a moment beside others and run to its
// limit.
func (r *room) fits(j *run, others []*run, windows []cluster.Window, at int64) bool {
	fit := 0
	for n := range r.kind {
		if r.takes(n, j, others) && !r.down(n, windows, at, at+max(j.Limit, 1)) {
			fit++
		}
	}
	return fit >= j.Nodes
}

// reservation is when a job could be placed if running jobs go to their limits.
func (r *room) reservation(j *run, running []*run, now int64) int64 {
	moments := []int64{now}
	for _, o := range running {
		moments = append(moments, max(o.until(), now+1))
	}
	slices.Sort(moments)
	for _, at := range moments {
		left := slices.DeleteFunc(slices.Clone(running), func(o *run) bool { return max(o.until(), now+1) <= at })
		if r.fits(j, left, nil, at) {
			return at
		}
	}
	return moments[len(moments)-1]
}

// earliest is the first moment from a job's submission on at which it could be
// placed beside others until its limit.
func (r *room) earliest(j *run, others []*run) int64 {
	moments := []int64{j.Submit}
	for _, o := range others {
		if o.end > j.Submit {
			moments = append(moments, o.end)
		}
	}
	slices.Sort(moments)
	for _, at := range moments {
		fit := 0
		for n := range r.kind {
			if r.alwaysTakes(n, j, others, at) {
				fit++
			}
		}
		if fit >= j.Nodes {
			return at
		}
	}
	return moments[len(moments)-1]
}

// alwaysTakes says that a node takes a job beside others from a moment on until
// its limit.
func (r *room) alwaysTakes(n int, j *run, others []*run, at int64) bool {
	probes := []int64{at}
	for _, o := range others {
		if o.start > at && o.start < at+j.Limit {
			probes = append(probes, o.start)
		}
	}
	return !slices.ContainsFunc(probes, func(p int64) bool {
		there := slices.DeleteFunc(slices.Clone(others), func(o *run) bool { return p < o.start || p >= o.end })
		return !r.takes(n, j, there)
	})
}

// meet says that two jobs could be on one node.
func (r *room) meet(a, b *trace.Job) bool {
	for n := range r.kind {
		if r.admits(a, n) && r.admits(b, n) {
			return true
		}
	}
	return false
}
