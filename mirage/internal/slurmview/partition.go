package slurmview

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/foretime/foretime/mirage/internal/cluster"
	"github.com/foretime/foretime/mirage/internal/trace"
	"github.com/foretime/foretime/shared/plural"
)

// Returned when no start can be predicted for a job.
var (
	// ErrNoStart says that the job would be queued, and that nobody can say when it
	// could start: its partition is closed or its nodes are out of service.
	ErrNoStart = errors.New("cannot predict a start")
	// ErrNotAdmitted says that the partition does not admit such a job.
	ErrNotAdmitted = errors.New("the job is not admitted")
)

// partition holds the rules of a partition that do not concern the size of its jobs.
type partition struct {
	state    string
	minNodes int
	seconds  int64  // limit of a job that names none; 0 is none
	qos      string // whose limits hold for all jobs; "" is none
	tier     int
	spared   bool  // no job of it is preempted
	whole    bool  // its nodes are not shared
	grace    int64 // seconds that a preempted job of it keeps its nodes
	lists    []list
}

// list is a list of names that a partition admits, or does not.
type list struct {
	what  string // account, QOS or group
	key   string
	names []string
	deny  bool
}

func partitionOf(f map[string]string) partition {
	p := partition{state: cmp.Or(f["State"], "UP")}
	p.minNodes, _ = strconv.Atoi(f["MinNodes"])
	p.tier, _ = strconv.Atoi(f["PriorityTier"])
	p.spared = f["PreemptMode"] == "OFF"
	p.whole = strings.HasPrefix(f["OverSubscribe"], "EXCLUSIVE")
	p.grace, _ = strconv.ParseInt(f["GraceTime"], 10, 64)
	if p.qos = f["QoS"]; p.qos == "N/A" || p.qos == "(null)" {
		p.qos = ""
	}
	if p.seconds, _ = trace.SlurmSeconds(f["DefaultTime"]); p.seconds == 0 {
		p.seconds, _ = trace.SlurmSeconds(f["MaxTime"])
	}
	for _, l := range []list{
		{what: "account", key: "AllowAccounts"}, {what: "account", key: "DenyAccounts", deny: true},
		{what: "QOS", key: "AllowQos"}, {what: "QOS", key: "DenyQos", deny: true}, {what: "group", key: "AllowGroups"},
	} {
		if text := f[l.key]; text != "" && text != "ALL" && text != "(null)" && text != "N/A" {
			l.names = strings.Split(text, ",")
			p.lists = append(p.lists, l)
		}
	}
	return p
}

// closures has the states in which a partition starts no jobs (scontrol(1), State of a partition).
var closures = map[string]string{
	"DOWN":     "down: it queues jobs and starts none",
	"DRAIN":    "draining: it accepts no jobs",
	"INACTIVE": "inactive: it neither accepts nor starts jobs",
}

// admit returns an error for a job that the partition does not start. It wraps
// ErrNoStart or ErrNotAdmitted.
func (p partition) admit(name string, a Ask) error {
	if why := closures[p.state]; why != "" {
		return fmt.Errorf("%w: partition %s is %s", ErrNoStart, name, why)
	}
	if a.Nodes < p.minNodes {
		return fmt.Errorf("%w: partition %s wants at least %s of a job", ErrNotAdmitted, name, plural.Count(p.minNodes, "node"))
	}
	for _, l := range p.lists {
		own := map[string][]string{"account": a.Accounts, "QOS": a.qualities(), "group": a.Groups}[l.what]
		inside := slices.ContainsFunc(own, func(x string) bool { return slices.Contains(l.names, x) })
		names := strings.Join(l.names, ", ")
		switch {
		case inside == !l.deny:
		case len(own) == 0 && l.deny:
		case len(own) == 0:
			return fmt.Errorf("%w: partition %s admits only the %s %s (%s), and the job's is unknown", ErrNoStart, name, l.what, names, l.key)
		case l.deny:
			return fmt.Errorf("%w: partition %s does not admit the %s %s (%s)", ErrNotAdmitted, name, l.what, strings.Join(own, ", "), l.key)
		default:
			return fmt.Errorf("%w: partition %s admits only the %s %s (%s), the job has %s", ErrNotAdmitted, name, l.what, names, l.key, strings.Join(own, ", "))
		}
	}
	return nil
}

// Ask is a job for which a start is predicted, as sbatch's options or squeue describe
// it.
type Ask struct {
	trace.Job
	Place
	Accounts []string // its account, or the accounts that the user may have; empty if unknown
	Groups   []string // of the user; empty if unknown
	Tasks    int      // of an array; else 1
	Array    int64    // id of an array that is in the queue; else 0
	Together int      // tasks of the array that may run at once; 0 is any
	Held     bool     // until somebody releases it
	Licenses string   // as sbatch's option names them
	Queued   *Job     // it, if it waits in the queue
	Either   bool     // one of the jobs that it comes after is enough
	Outcomes []string // of the jobs that it comes after, see Job
	// Singleton is its name if it comes after the user's jobs of that name; "" if not.
	Singleton string
	Spread    bool // over as few nodes as have room for it, from Nodes on
	// MostNodes is the largest number of nodes to spread it over; 0 is any.
	MostNodes int
	Amounts   // as sbatch's options name them, if it is to be spread
}

func (a Ask) qualities() []string {
	if a.QOS == "" {
		return nil
	}
	return []string{a.QOS}
}

// Place restricts the nodes of a job.
type Place struct {
	Features    string // constraint: names with &, | and brackets
	GPUType     string
	TypedGPUs   int // of that type, on each node
	Required    string
	Excluded    string
	Reservation string
}

// hasLists reports whether a partition admits some accounts or qualities of service only.
func (h *Hardware) hasLists() bool {
	for _, p := range h.partitions {
		if len(p.lists) > 0 {
			return true
		}
	}
	return false
}

// choosePartitions keeps the partitions of a job that would start it, and returns the error of
// the first if none would.
func (h *Hardware) choosePartitions(a Ask) (string, error) {
	var first error
	var names []string
	for name := range strings.SplitSeq(a.Partition, ",") {
		if p, known := h.partitions[name]; known {
			if err := p.admit(name, a); err != nil {
				first = cmp.Or(first, err)
				continue
			}
		}
		names = append(names, name)
	}
	if len(names) == 0 {
		return "", first
	}
	return strings.Join(names, ","), nil
}

// only returns the numbers of the nodes that a place allows; nil is any. The error says
// what of it is unknown.
func (h *Hardware) only(p Place, nodes int) ([]int32, error) {
	if p == (Place{}) {
		return nil, nil
	}
	match, err := constraint(p.Features)
	if err != nil {
		return nil, err
	}
	required, excluded := hosts(p.Required), hosts(p.Excluded)
	within := []string(nil)
	if p.Reservation != "" {
		r := h.reservation(p.Reservation)
		if r == nil {
			return nil, fmt.Errorf("%w: there is no reservation %s", ErrNotAdmitted, p.Reservation)
		}
		within = r.Nodes
	}
	on := []int32{}
	for i := range h.nodes {
		n := &h.nodes[i]
		if match(n.features) && (p.GPUType == "" || n.types[p.GPUType] >= max(p.TypedGPUs, 1)) &&
			!slices.Contains(excluded, n.name) && (within == nil || slices.Contains(within, n.name)) &&
			(len(required) == 0 || len(required) < nodes || slices.Contains(required, n.name)) {
			on = append(on, int32(i))
		}
	}
	return on, nil
}

// constraint reads an expression of features (sbatch(1), --constraint): names joined by
// & or |, the one before the other, in brackets or not, with counts that are left out.
func constraint(text string) (func(features []string) bool, error) {
	text = strings.Trim(text, "[]() ")
	if text == "" || text == "(null)" {
		return func([]string) bool { return true }, nil
	}
	if strings.ContainsAny(text, "[]()") {
		return nil, fmt.Errorf("%w: the constraint %s is not understood", ErrNoStart, text)
	}
	return func(features []string) bool {
		for group := range strings.SplitSeq(text, "|") {
			all := true
			for name := range strings.FieldsFuncSeq(group, func(r rune) bool { return r == '&' || r == ',' }) {
				name, _, _ = strings.Cut(name, "*")
				all = all && slices.Contains(features, name)
			}
			if all {
				return true
			}
		}
		return false
	}, nil
}

// outages returns an error that wraps ErrNoStart if fewer nodes that fit a job are in
// service than it wants.
func (h *Hardware) outages(l *cluster.Layout, job *trace.Job) error {
	share, _, err := l.Share(job)
	if err != nil && job.Need.Only != nil {
		return fmt.Errorf("%w (its constraint, GPU type, reservation and lists of nodes allow %s)", err, plural.Count(len(job.Need.Only), "node"))
	}
	if err != nil {
		return err
	}
	on, why := l.Fitting(share), map[string]int{}
	for _, n := range on {
		if int(n) < len(h.nodes) && h.nodes[n].out() {
			why[h.nodes[n].outage]++
		}
	}
	var parts []string
	out := 0
	for text, n := range why {
		out += n
		parts = append(parts, fmt.Sprintf("%d of %s %s %s", n, plural.Count(len(on), "node"), be(n), text))
	}
	if len(on)-out >= job.Nodes {
		return nil
	}
	slices.Sort(parts)
	wants := ""
	if out < len(on) {
		wants = fmt.Sprintf(", and the job wants %d", job.Nodes)
	}
	return fmt.Errorf("%w: %s%s", ErrNoStart, strings.Join(parts, ", "), wants)
}

func be(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}
