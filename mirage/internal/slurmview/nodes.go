package slurmview

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/foretime/foretime/mirage/internal/cluster"
	"github.com/foretime/foretime/mirage/internal/trace"
)

// Hardware is a cluster as its controller describes it.
type Hardware struct {
	// Machine has the nodes that cannot take jobs last, and down for good.
	Machine cluster.Machine
	// Default is the partition of a job that names none.
	Default string
	nodes   []seen
	names   map[string]int32 // number of each node
	linear  bool             // no nodes are shared
	// preemption is the way in which jobs take the place of others; "" is none.
	preemption string
	// unexplained are the nodes that a reservation keeps that is not shown.
	unexplained []string

	partitions   map[string]partition
	reservations []Reservation
}

// Hardware asks for the nodes and partitions, and how they are shared.
func (c *Client) Hardware(ctx context.Context, k Controller) (*Hardware, error) {
	nodes, err := c.Runner.Run(ctx, []string{"scontrol", "--oneliner", "show", "nodes"}, nil)
	if err != nil {
		return nil, err
	}
	partitions, err := c.Runner.Run(ctx, []string{"scontrol", "--oneliner", "show", "partitions"}, nil)
	if err != nil {
		return nil, err
	}
	return ParseHardware(nodes, partitions, k)
}

// ParseHardware reads what scontrol --oneliner show nodes and show partitions
// print. The error wraps ErrAnswer or cluster.ErrMachine.
func ParseHardware(nodes, partitions []byte, k Controller) (*Hardware, error) {
	h := &Hardware{names: map[string]int32{}, partitions: map[string]partition{}, linear: k.Linear, preemption: k.Preemption}
	if err := h.read(nodes, k); err != nil {
		return nil, err
	}
	for _, line := range Lines(partitions) {
		h.partition(fieldsOf(line))
	}
	h.describeMachine()
	return h, h.Machine.Check()
}

// Lines returns the lines of an output that are not blank.
func Lines(b []byte) []string {
	return slices.DeleteFunc(strings.Split(string(b), "\n"), func(l string) bool { return strings.TrimSpace(l) == "" })
}

// fieldsOf returns the Key=Value words of a line; values with spaces are cut short.
func fieldsOf(line string) map[string]string {
	fields := map[string]string{}
	for word := range strings.FieldsSeq(line) {
		if key, value, ok := strings.Cut(word, "="); ok && fields[key] == "" {
			fields[key] = value
		}
	}
	return fields
}

// seen is a node as its controller describes it.
type seen struct {
	name     string
	kind     cluster.Kind
	outage   string         // why it takes no jobs, such as "drained (Reason disk)"; "" if it does
	reserved bool           // a reservation keeps it
	asleep   bool           // it is powered down, or on its way
	taken    int            // CPUs that jobs hold, from 1 if only that some do is known
	features []string       // that are active
	types    map[string]int // GPUs of each type
}

// out reports whether the node takes no jobs.
func (n *seen) out() bool { return n.outage != "" }

// in reports whether the node is in one of some partitions, with commas between.
func (n *seen) in(partitions string) bool {
	return slices.ContainsFunc(strings.Split(partitions, ","), func(p string) bool { return slices.Contains(n.kind.Partitions, p) })
}

func (h *Hardware) read(b []byte, k Controller) error {
	for i, line := range Lines(b) {
		f := fieldsOf(line)
		n := seen{name: f["NodeName"], types: gpuTypes(f["Gres"])}
		var held bool
		n.outage, n.reserved, held = outage(f["State"], reasonOf(line))
		n.taken, _ = strconv.Atoi(f["CPUAlloc"])
		n.taken = max(n.taken, bit(held))
		n.asleep = strings.ContainsAny(f["State"], "~#%") || strings.Contains(f["State"], "POWER")
		if list := cmp.Or(f["ActiveFeatures"], f["AvailableFeatures"]); list != "(null)" {
			n.features = strings.Split(list+","+f["AvailableFeatures"], ",")
		}
		var err error
		if n.kind.CPUs, err = strconv.Atoi(cmp.Or(f["CPUEfctv"], f["CPUTot"])); err != nil || n.name == "" {
			return fmt.Errorf("scontrol show nodes:%d: %w: no name or no CPUs", i+1, ErrAnswer)
		}
		n.kind.GPUs = max(trace.GPUs.In(f["CfgTRES"]), gpusOf(f["Gres"]))
		if k.Memory {
			n.kind.MemoryMB, _ = strconv.ParseInt(f["RealMemory"], 10, 64)
		}
		n.kind.Partitions = []string{""} // in none, unlike a kind that names none
		if p := f["Partitions"]; p != "" {
			n.kind.Partitions = strings.Split(p, ",")
		}
		h.nodes = append(h.nodes, n)
	}
	return nil
}

// forGood is the end of an outage that nobody knows the end of.
const forGood = math.MaxInt32 * 4

// describeMachine fills in the machine, with the nodes that take no jobs last.
func (h *Hardware) describeMachine() {
	slices.SortStableFunc(h.nodes, func(a, b seen) int { return cmp.Compare(bit(a.out()), bit(b.out())) })
	out := 0
	for i, n := range h.nodes {
		h.names[n.name] = int32(i)
		out += bit(n.out())
		h.add(n)
	}
	if out > 0 {
		h.Machine.Down = []cluster.Window{{From: 0, To: forGood, Nodes: out}}
	}
}

// add adds a node, to the last kind where it is one like those.
func (h *Hardware) add(n seen) {
	m := &h.Machine
	m.Nodes++
	if len(m.Kinds) > 0 {
		k := &m.Kinds[len(m.Kinds)-1]
		if k.CPUs == n.kind.CPUs && k.GPUs == n.kind.GPUs && k.MemoryMB == n.kind.MemoryMB && slices.Equal(k.Partitions, n.kind.Partitions) {
			k.Nodes++
			return
		}
	}
	n.kind.Name, n.kind.Nodes = n.name, 1
	m.Kinds = append(m.Kinds, n.kind)
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// nodeStates has the words of a node's state (scontrol(1), NODE STATES) with why it takes no
// jobs, "" if it does. A word that is not here takes none.
var nodeStates = map[string]string{
	"IDLE": "", "MIXED": "", "MIX": "", "ALLOCATED": "", "ALLOC": "", "COMPLETING": "", "COMP": "", "PLANNED": "", "MAINT": "", "MAINTENANCE": "", "RESERVED": "", "RESV": "",
	"CLOUD": "", "DYNAMIC_NORM": "", "PERFCTRS": "",
	"POWERED_DOWN": "", "POWERING_UP": "", "POWERING_DOWN": "", "POWER_DOWN": "", "POWER_UP": "", "POWER_SAVING": "",
	"DRAIN": drained, "DRAINED": drained, "DRAINING": drained,
	"DOWN": "down", "FAIL": "fail", "FAILING": "failing", "ERROR": "error", "FUTURE": "future",
	"NOT_RESPONDING": "not responding", "REBOOT_ISSUED": "rebooting", "REBOOT_REQUESTED": "waiting for a reboot", "REBOOT": "waiting for a reboot",
}

// stateMarks has the marks behind a state (sinfo(1), NODE STATE CODES), likewise.
var stateMarks = map[rune]string{'~': "", '#': "", '!': "", '%': "", '$': "", '-': "", '*': "not responding", '@': "waiting for a reboot", '^': "rebooting"}

// drained is the outage that is named before others.
const drained = "drained"

// outage says why a node in a state, words with + between them, takes no jobs, whether a
// reservation keeps it, and whether jobs hold a part of it.
func outage(state, reason string) (outage string, reserved, held bool) {
	for word := range strings.SplitSeq(state, "+") {
		plain := strings.TrimRight(word, "*~#!%$@^-")
		why, known := nodeStates[plain]
		if !known {
			why = strings.TrimSpace("in state " + strings.ToLower(plain))
		}
		for _, mark := range word[len(plain):] {
			why = cmp.Or(why, stateMarks[mark])
			reserved = reserved || mark == '$'
		}
		outage = cmp.Or(outage, why)
		if why == drained {
			outage = drained
		}
		reserved = reserved || strings.HasPrefix(plain, "MAINT") || plain == "RESERVED" || plain == "RESV"
		held = held || strings.HasPrefix(plain, "ALLOC") || strings.HasPrefix(plain, "MIX") || strings.HasPrefix(plain, "COMP")
	}
	if reason != "" && outage != "" {
		outage += " (Reason " + reason + ")"
	}
	return outage, reserved, held
}

// reasonOf returns the reason in a line about a node, which may contain spaces; who set
// it and when is left out.
func reasonOf(line string) string {
	_, reason, _ := strings.Cut(line, " Reason=")
	if at := nextField.FindStringIndex(reason); at != nil {
		reason = reason[:at[0]]
	}
	reason, _, _ = strings.Cut(reason, " [")
	return strings.TrimSpace(reason)
}

// nextField finds the field after a value with spaces.
var nextField = regexp.MustCompile(` [A-Z][A-Za-z]+=`)

func (h *Hardware) partition(f map[string]string) {
	h.partitions[f["PartitionName"]] = partitionOf(f)
	p := cluster.Partition{Name: f["PartitionName"]}
	p.MaxSeconds, _ = trace.SlurmSeconds(f["MaxTime"])
	p.MaxNodes, _ = strconv.Atoi(f["MaxNodes"])
	p.Tier, _ = strconv.Atoi(f["PriorityTier"])
	h.Machine.Partitions = append(h.Machine.Partitions, p)
	if f["Default"] == "YES" {
		h.Default = p.Name
	}
}

// need returns the part of its nodes that a job needs; nil is whole ones.
func (h *Hardware) need(n *trace.Need, partition string, on []int32) *trace.Need {
	if n == nil {
		n = &trace.Need{}
	}
	need := *n
	need.On = on
	need.Exclusive = need.Exclusive || h.linear || h.partitions[partition].whole || need.CPUs == 0
	return &need
}

// detail adds what a job has of its nodes to a row of it.
func (h *Hardware) detail(row *trace.Job, j *Job) {
	need := trace.NeedOf(j.TRES)
	if need != nil && j.Exclusive {
		need.Exclusive = true
	}
	row.Partition = j.Partition
	row.Need = h.need(need, j.Partition, h.numbers(j.On))
	if j.State.Pending() {
		// Doubts about the names of others' jobs are not the asker's.
		row.Need.Only, _ = h.only(j.Place, max(j.Nodes, 1))
	}
}

// numbers returns the nodes of a list such as n[0-3,7],gpu01; nil where one is not
// known.
func (h *Hardware) numbers(list string) []int32 {
	names := hosts(list)
	if on := h.numbersOf(names); len(on) == len(names) {
		return on
	}
	return nil
}

// numbersOf returns the numbers of the nodes that are known.
func (h *Hardware) numbersOf(names []string) (on []int32) {
	for _, name := range names {
		if n, ok := h.names[name]; ok {
			on = append(on, n)
		}
	}
	return on
}

// mostHosts is more nodes than a list may name.
const mostHosts = 1 << 20

// hosts returns the names in a list of nodes as Slurm prints it; nil where it is none.
func hosts(list string) (names []string) {
	for list != "" {
		open, comma := strings.IndexByte(list, '['), strings.IndexByte(list, ',')
		if open < 0 || comma >= 0 && comma < open {
			name, rest, _ := strings.Cut(list, ",")
			names, list = append(names, name), rest
			continue
		}
		inside, rest, closed := strings.Cut(list[open+1:], "]")
		suffix, after, _ := strings.Cut(rest, ",")
		if !closed {
			return nil
		}
		for span := range strings.SplitSeq(inside, ",") {
			from, to, ranged := strings.Cut(span, "-")
			if !ranged {
				to = from
			}
			a, err1 := strconv.Atoi(from)
			b, err2 := strconv.Atoi(to)
			if err1 != nil || err2 != nil || b-a > mostHosts {
				return nil
			}
			for n := a; n <= b; n++ {
				names = append(names, fmt.Sprintf("%s%0*d%s", list[:open], len(from), n, suffix))
			}
		}
		list = after
	}
	return names
}

// liveRules returns the rules of a Slurm as its controller describes it: present
// priorities, which hold age and everything else, and its backfill settings.
func liveRules(parameters string) cluster.Rules {
	r := cluster.Defaults(cluster.Slurm)
	r.LoggedPriority = true
	r.Weights.Age = 0
	r.Weights.Size = 0
	for part := range strings.SplitSeq(parameters, ",") {
		key, text, _ := strings.Cut(part, "=")
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 0 || n > math.MaxInt32 {
			continue
		}
		switch b := &r.Backfill; key {
		case "bf_interval":
			b.IntervalSeconds = n
		case "bf_window":
			b.WindowMinutes = n
		case "bf_resolution":
			b.ResolutionSeconds = n
		case "bf_max_job_test":
			b.MaxJobTest = int(n)
		case "default_queue_depth":
			r.QueueDepth = int(n)
		}
	}
	return r
}
