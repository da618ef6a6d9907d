package trace

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// swfFields is the width of a row of the Standard Workload Format.
const swfFields = 18

func isSWF(line string) bool {
	fields := strings.Fields(line)
	return strings.HasPrefix(line, ";") || len(fields) >= swfFields-1 && !slices.ContainsFunc(swfNumbers, func(i int) bool {
		_, err := strconv.ParseFloat(fields[min(i, len(fields)-1)], 64)
		return err != nil
	})
}

// swf reads the Standard Workload Format, version 2.2
// (https://www.cs.huji.ac.il/labs/parallel/workload/swf.html), with what real
// files do to it: fractional seconds, unsorted ids, names or numbers of any size for
// jobs, users and queues, 17 fields or more than 18 (of which the 20th is the queue's
// name), processors allocated given as -1 (then those requested count), limits in
// another field or none, run times over the request, unknown waits. Jobs that never
// ran, and the parts of jobs, which have a row as a whole too, are skipped and counted.
// Dependencies are not read.
func (p *parser) swf(r *bufio.Reader) error {
	header := swfHeader{limit: swfLimit}
	p.trace.Unit = Processors
	fields := make([][]byte, 0, swfFields)
	for {
		line, err := p.next(r)
		if errors.Is(err, io.EOF) {
			p.trace.Size = max(header.maxProcs, header.maxNodes)
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
	limit              int // the field of the time limit
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
	swfQueueName  = 19
)

// The values of the status of a part of a job (2: to be continued; 3 and 4: the last one),
// which has a row as a whole before it.
const (
	swfFirstPart = 2
	swfLastPart  = 4
)

// swfNumbers are the fields that are numbers; the others are names.
var swfNumbers = []int{swfSubmit, swfWait, swfRun, swfProcs, swfProcsAsked, swfLimit, swfStatus}

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
	for _, i := range swfNumbers {
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
	switch {
	case status >= swfFirstPart && status <= swfLastPart:
		p.skip("part of a job that has a row as a whole")
		return
	case v[swfRun] < 0, status == 5 && v[swfRun] == 0:
		p.skip("never ran")
		return
	case v[swfSubmit] < 0:
		p.bad("job %s: submitted at %d", id, v[swfSubmit])
		return
	}
	j := Job{
		ID: id, User: p.intern(fields[swfUser]), Partition: p.swfName(fields[swfPartition]),
		Submit: h.unixStart + v[swfSubmit], Limit: v[swfLimit], Nodes: int(procs),
		NoStart: v[swfWait] < 0,
	}
	if j.Limit <= 0 {
		j.Limit = Unlimited
	}
	j.Start = j.Submit + max(v[swfWait], 0)
	j.End = j.Start + v[swfRun]
	if len(fields) > swfQueueName {
		j.Partition = p.intern(fields[swfQueueName])
	}
	p.add(j)
}
