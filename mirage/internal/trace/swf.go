package trace

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/foretime/foretime/shared/file"
)

// swfFields is the width of a row of the Standard Workload Format.
const swfFields = 18

func isSWF(line string) bool {
	fields := strings.Fields(line)
	return strings.HasPrefix(line, ";") || len(fields) >= swfFields-1 && !slices.ContainsFunc(swfNumbers, func(i int) bool {
		_, err := strconv.ParseFloat(fields[min(i, len(fields)-1)], 64)
		return err != nil && i != swfThink
	})
}

// swf reads the Standard Workload Format, version 2.2
// (https://www.cs.huji.ac.il/labs/parallel/workload/swf.html), with what real
// files do to it: fractional seconds, unsorted ids, names or numbers of any size for
// jobs, users and queues, 17 fields or more than 18 (of which the 20th is the queue's
// name), processors allocated given as -1 (then those requested count), limits in
// another field or none, run times over the request, unknown waits. Jobs that never
// ran, and the parts of jobs that have a row as a whole too, are skipped and counted.
func (p *parser) swf(r *bufio.Reader) error {
	header := swfHeader{procsPerNode: p.o.ProcsPerNode, whole: map[string]bool{}, limit: swfLimit}
	fields := make([][]byte, 0, swfFields)
	for {
		line, err := p.next(r)
		if errors.Is(err, io.EOF) {
			p.trace.Size, p.trace.Unit = header.size(), Nodes
			if header.perNode() == 1 && header.procsPerNode == 0 {
				p.trace.Unit = Processors
			}
			p.limitsElsewhere()
			return nil
		}
		if err != nil {
			return err
		}
		line = bytes.TrimSpace(line)
		switch {
		case len(line) == 0:
		case line[0] == ';':
			header.read(p, string(line[1:]))
		default:
			fields = slices.AppendSeq(fields[:0], bytes.FieldsSeq(line))
			p.swfRow(fields, &header)
		}
	}
}

// swfHeader holds the header comments that are used.
type swfHeader struct {
	maxNodes, maxProcs int
	unixStart          int64
	procsPerNode       int             // as asked for, or 0
	whole              map[string]bool // jobs that have had a row for all of them
	limit              int             // the field of the time limit
}

// limitField matches the comment that names the field of the time limit.
var limitField = regexp.MustCompile(`(?i)field (\d+)\b.*(time limit|requested (run ?)?time|wall ?(clock )?(time|limit))`)

func (h *swfHeader) read(p *parser, comment string) {
	if m := limitField.FindStringSubmatch(comment); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil && n >= 1 && n <= swfFields {
			h.limit = n - 1
		}
	}
	key, value, found := strings.Cut(comment, ":")
	value = strings.TrimSpace(value)
	if !found || value == "" {
		return
	}
	number, err := strconv.ParseInt(strings.Fields(value)[0], 10, 64)
	switch strings.TrimSpace(key) {
	case "MaxNodes":
		h.maxNodes = int(max(number, 0))
	case "MaxProcs":
		h.maxProcs = int(max(number, 0))
	case "UnixStartTime":
		if err == nil && number >= 0 && number < 1<<40 {
			h.unixStart = number
		}
	case "TimeZoneString":
		if zone, err := time.LoadLocation(value); err == nil && p.o.Zone == time.UTC {
			p.trace.Zone = zone // for dates only: the times are Unix seconds
		}
	}
}

func (h *swfHeader) perNode() int {
	switch {
	case h.procsPerNode > 0:
		return h.procsPerNode
	case h.maxNodes > 0 && h.maxProcs > h.maxNodes:
		return h.maxProcs / h.maxNodes
	}
	return 1
}

func (h *swfHeader) size() int {
	if h.perNode() == 1 {
		return max(h.maxProcs, h.maxNodes)
	}
	return h.maxNodes
}

// The fields of a row that are used, from 0, and those that some logs have
// behind the standard's.
const (
	swfID = iota
	swfSubmit
	swfWait
	swfRun
	swfProcs
	swfCPU        = 5
	swfProcsAsked = 7
	swfLimit      = 8
	swfStatus     = 10
	swfUser       = 11
	swfPartition  = 15
	swfAfter      = 16
	swfThink      = 17
	swfQueueName  = 19
	swfNodes      = 20
	swfMemory     = 9 // bytes, in logs that have the nodes too
)

// The values of the status of a part of a job (2: to be continued; 3 and 4:
// the last one), which has a row as a whole before it.
const (
	swfFirstPart = 2
	swfLastPart  = 4
)

// swfNumbers are the fields that are numbers; the others are names.
var swfNumbers = []int{swfSubmit, swfWait, swfRun, swfProcs, swfProcsAsked, swfLimit, swfStatus, swfThink}

// swfNumber reads a field, rounded; ok is false where it is no number or out of range.
func swfNumber(f []byte) (n int64, ok bool) {
	n, err := strconv.ParseInt(string(f), 10, 64)
	if err != nil {
		x, err := strconv.ParseFloat(string(f), 64)
		if err != nil || !(math.Abs(x) < 1<<62) {
			return 0, false
		}
		n = int64(math.Round(x))
	}
	return n, n >= math.MinInt32 && n <= 1<<40
}

// swfValues reads the numbers of a row.
func (p *parser) swfValues(fields [][]byte) (v [swfFields]int64, ok bool) {
	if len(fields) < swfFields-1 {
		p.bad("%d fields, want %d", len(fields), swfFields)
		return v, false
	}
	v[swfThink] = -1
	for _, i := range swfNumbers {
		if i == swfThink && len(fields) < swfFields {
			continue
		}
		if v[i], ok = swfNumber(fields[i]); !ok {
			p.bad("column %d: %q is not a number, or out of range", i+1, clip(string(fields[i])))
			return v, false
		}
	}
	return v, true
}

// swfName returns a field that names something; "" where that is not known.
func (p *parser) swfName(f []byte) string {
	if f[0] == '-' {
		return ""
	}
	return p.intern(f)
}

// swfLimits are the fields that hold the time limit in some logs, in place of the
// standard's.
var swfLimits = [...]int{swfCPU, swfCPU + 1, swfMemory}

// limitsElsewhere looks for the limits of a log whose own field of them is empty: in
// a field that is a whole number of minutes, and not below the run time but mostly
// above, in 99 of 100 rows, as no time used and no memory is.
func (p *parser) limitsElsewhere() {
	jobs := p.trace.Jobs
	if slices.ContainsFunc(jobs, func(j Job) bool { return j.Limit != Unlimited }) {
		return
	}
	for k, field := range swfLimits {
		fits, above := 0, 0
		for i := range jobs {
			d := jobs[i].Duration()
			if n := p.other[i][k]; n > 0 && n%60 == 0 && n+foldSlack >= d {
				fits++
				above += min(int(n/(d+foldSlack)), 1)
			}
		}
		if 100*fits < 99*len(jobs) || 2*above < len(jobs) {
			continue
		}
		p.warn("%s: time limits read from field %d", p.file, field+1)
		for i := range jobs {
			if n := p.other[i][k]; n > 0 {
				jobs[i].Limit = n
			}
		}
		return
	}
}

// swfNeed reads what was asked of the nodes, as PBS has it: how many, or their
// names with + between them, and properties, such as 2:ppn=8:cl_zegox#excl. A
// property that begins with cl_ is the kind of node; what is for one node says so
// little that it is not looked at.
func (p *parser) swfNeed(asked string, procs, bytes int64) *Need {
	key := fmt.Sprintf("%s|%d|%d", asked, procs, bytes)
	if n, ok := p.needs[key]; ok {
		return n
	}
	asked, exclusive := strings.CutSuffix(asked, "#excl")
	parts := strings.Split(asked, ":")
	nodes, err := strconv.Atoi(parts[0])
	if err != nil {
		nodes = strings.Count(parts[0], "+") + 1
	}
	n := &Need{Nodes: max(nodes, 1), CPUs: int(procs), Exclusive: exclusive}
	if bytes > 0 && bytes < 1<<50 { // what is more is a mistake
		n.MemoryMB = (bytes + 1<<20 - 1) >> 20
	}
	for _, property := range parts[1:] {
		if kind, ok := strings.CutPrefix(property, "cl_"); ok {
			n.Kind = kind
		}
	}
	p.needs[key] = n
	return n
}

func (p *parser) swfRow(fields [][]byte, h *swfHeader) {
	v, ok := p.swfValues(fields)
	if !ok {
		return
	}
	if h.limit != swfLimit {
		v[swfLimit], _ = swfNumber(fields[min(h.limit, len(fields)-1)])
	}
	procs := v[swfProcs]
	if procs <= 0 {
		procs = v[swfProcsAsked]
	}
	id := string(fields[swfID])
	status := v[swfStatus]
	part := status >= swfFirstPart && status <= swfLastPart
	switch {
	case part && h.whole[id]:
		p.skip("part of a job that has a row as a whole")
		return
	case v[swfRun] < 0, status == 5 && v[swfRun] == 0:
		p.skip("never ran")
		return
	case v[swfSubmit] < 0:
		p.bad("job %s: submitted at %d", id, v[swfSubmit])
		return
	}
	if !part {
		h.whole[id] = true
	}
	perNode := int64(h.perNode())
	j := Job{
		ID: id, User: p.intern(fields[swfUser]), Partition: p.swfName(fields[swfPartition]),
		Submit: h.unixStart + v[swfSubmit], Limit: v[swfLimit], Nodes: int((procs + perNode - 1) / perNode),
		NoStart: v[swfWait] < 0,
	}
	if j.Limit <= 0 {
		j.Limit = Unlimited
	}
	j.Start = j.Submit + max(v[swfWait], 0)
	j.End = j.Start + v[swfRun]
	p.swfMore(&j, fields, v, procs)
	kept := len(p.trace.Jobs)
	p.add(j)
	if len(p.trace.Jobs) > kept {
		var other [len(swfLimits)]int64
		for k, field := range swfLimits {
			other[k], _ = swfNumber(fields[field])
		}
		p.other = append(p.other, other)
	}
}

// swfMore adds what follows what, and what some logs have behind the standard's fields.
func (p *parser) swfMore(j *Job, fields [][]byte, v [swfFields]int64, procs int64) {
	if after := p.swfName(fields[swfAfter]); after != "" && after != "0" {
		j.After, j.Think = after, max(v[swfThink], 0)
	}
	if len(fields) > swfQueueName {
		j.Partition = p.intern(fields[swfQueueName])
	}
	if len(fields) > swfNodes {
		bytes, err := strconv.ParseInt(string(fields[swfMemory]), 10, 64)
		if err != nil {
			bytes = 0
		}
		j.Need = p.swfNeed(string(fields[swfNodes]), procs, bytes)
	}
}

// ErrMachines is returned when a file of machines makes no sense.
var ErrMachines = errors.New("invalid .machines file")

// Machines is a group of equal nodes of the machine on which a log was recorded.
type Machines struct {
	Name  string
	Nodes int
	CPUs  int // of a node
	// MemoryMB is that of a node; 0 if unknown.
	MemoryMB int64
}

// machinesOf reads the file of machines next to a log: LOG.machines, or else the one in its
// directory whose name, without .swf.machines, is the beginning of the log's name; nil if there
// is none.
func machinesOf(log string) ([]Machines, error) {
	base := strings.TrimSuffix(filepath.Base(log), ".gz")
	found, err := filepath.Glob(filepath.Join(filepath.Dir(log), "*.machines"))
	if err != nil {
		return nil, nil // a directory that is a pattern has no such file
	}
	best, longest := "", 0
	for _, path := range found {
		stem := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(path), ".machines"), ".swf")
		if strings.HasPrefix(base, stem) && len(stem) > longest {
			best, longest = path, len(stem)
		}
	}
	if best == "" {
		return nil, nil
	}
	return ReadMachines(best)
}

// ReadMachines reads a file with a line for each group of equal nodes, tabs
// between its columns: number, name, nodes, CPUs of a node, speed, memory of a node
// in KB, the last two of which may be missing. The error wraps ErrMachines.
func ReadMachines(path string) (groups []Machines, err error) {
	f, err := file.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		text := strings.TrimSpace(lines.Text())
		if text == "" {
			continue
		}
		field := strings.Split(text, "\t")
		if len(field) < 4 {
			return nil, fmt.Errorf("%s:%d: %w: %d columns, want at least 4", path, n, ErrMachines, len(field))
		}
		nodes, err1 := strconv.Atoi(field[2])
		cpus, err2 := strconv.Atoi(field[3])
		if err1 != nil || err2 != nil || nodes < 1 || cpus < 1 || nodes > 1<<24 || cpus > 1<<16 {
			return nil, fmt.Errorf("%s:%d: %w: %s nodes of %s CPUs", path, n, ErrMachines, field[2], field[3])
		}
		g := Machines{Name: field[1], Nodes: nodes, CPUs: cpus}
		if len(field) > 5 {
			kb, _ := strconv.ParseInt(field[5], 10, 64)
			g.MemoryMB = max(kb, 0) >> 10
		}
		groups = append(groups, g)
	}
	return groups, lines.Err()
}

// describe takes over what a file of machines says of an SWF log's.
func (t *Trace) describe(groups []Machines, procsPerNode int) {
	cpus := 0
	for _, g := range groups {
		cpus += g.Nodes * g.CPUs
	}
	t.Size, t.Machines = cpus/procsPerNode, groups
	if procsPerNode == 1 {
		t.Unit = Processors
	}
}
