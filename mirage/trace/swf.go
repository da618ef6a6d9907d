package trace

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// swfFields is the width of a row of the Standard Workload Format.
const swfFields = 18

func isSWF(line string) bool {
	fields := strings.Fields(line)
	return strings.HasPrefix(line, ";") || len(fields) >= swfFields-1 && allNumbers(fields[:swfFields-1])
}

func allNumbers(fields []string) bool {
	return !slices.ContainsFunc(fields, func(f string) bool {
		_, err := strconv.ParseFloat(f, 64)
		return err != nil
	})
}

// swf reads the Standard Workload Format, version 2.2
// (https://www.cs.huji.ac.il/labs/parallel/workload/swf.html), with what real
// files do to it: fractional seconds, unsorted ids, 17 fields or more than 18
// (of which the 20th is the queue's name), processors allocated or time
// requested given as -1 (then those requested, or the run time, count), run
// times over the request, unknown waits. Jobs that never ran, and the parts of
// jobs that have a row as a whole too, are skipped and counted.
func (p *parser) swf(r *bufio.Reader) error {
	header := swfHeader{procsPerNode: p.o.ProcsPerNode, whole: map[string]bool{}}
	fields := make([][]byte, 0, swfFields)
	for {
		line, err := p.next(r)
		if errors.Is(err, io.EOF) {
			p.trace.Size, p.trace.Unit = header.size(), Nodes
			if header.perNode() == 1 && header.procsPerNode == 0 {
				p.trace.Unit = Processors
			}
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
			fields = fields[:0]
			for f := range bytes.FieldsSeq(line) {
				fields = append(fields, f)
			}
			p.swfRow(fields, &header)
		}
	}
}

// swfHeader is what the header comments say that matters here.
type swfHeader struct {
	maxNodes, maxProcs int
	unixStart          int64
	procsPerNode       int             // as asked for, or 0
	whole              map[string]bool // jobs that have had a row for all of them
}

func (h *swfHeader) read(p *parser, comment string) {
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

// swfNumbers reads the standard's fields; those behind them may be text.
func (p *parser) swfNumbers(fields [][]byte) (v [swfFields]int64, ok bool) {
	if len(fields) < swfFields-1 {
		p.bad("%d fields, want %d", len(fields), swfFields)
		return v, false
	}
	v[swfThink] = -1
	for i, f := range fields[:min(len(fields), swfFields)] {
		n, err := strconv.ParseInt(string(f), 10, 64)
		if err != nil {
			x, ok := p.number(f, strconv.Itoa(i+1))
			if !ok {
				return v, false
			}
			n = int64(math.Round(x))
		}
		if (n < math.MinInt32 || n > 1<<40) && slices.Contains(swfUsed, i) {
			p.bad("column %d: %d is out of range", i+1, n)
			return v, false
		}
		v[i] = n
	}
	return v, true
}

var swfUsed = []int{swfID, swfSubmit, swfWait, swfRun, swfProcs, swfProcsAsked, swfLimit, swfStatus, swfUser, swfPartition, swfAfter, swfThink}

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
	p.remember(key, n)
	return n
}

func (p *parser) swfRow(fields [][]byte, h *swfHeader) {
	v, ok := p.swfNumbers(fields)
	if !ok {
		return
	}
	procs, limit := v[swfProcs], v[swfLimit]
	if procs <= 0 {
		procs = v[swfProcsAsked]
	}
	id := strconv.FormatInt(v[swfID], 10)
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
	if limit <= 0 {
		limit = v[swfRun]
	}
	perNode := int64(h.perNode())
	j := Job{
		ID: id, User: p.intern(strconv.AppendInt(nil, v[swfUser], 10)),
		Submit: h.unixStart + v[swfSubmit], Limit: limit, Nodes: int((procs + perNode - 1) / perNode),
		NoStart: v[swfWait] < 0,
	}
	j.Start = j.Submit + max(v[swfWait], 0)
	j.End = j.Start + v[swfRun]
	if v[swfPartition] >= 0 {
		j.Partition = p.intern(strconv.AppendInt(nil, v[swfPartition], 10))
	}
	if len(fields) > swfQueueName {
		j.Partition = p.intern(fields[swfQueueName])
	}
	if len(fields) > swfNodes {
		j.Need = p.swfNeed(string(fields[swfNodes]), procs, v[swfMemory])
	}
	if v[swfAfter] > 0 {
		j.After, j.Think = strconv.FormatInt(v[swfAfter], 10), max(v[swfThink], 0)
	}
	if !part {
		h.whole[id] = true
	}
	p.add(j)
}
