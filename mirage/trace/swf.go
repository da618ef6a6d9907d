package trace

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"
	"time"
)

// swfFields is the width of a row of the Standard Workload Format.
const swfFields = 18

// swf reads the Standard Workload Format, version 2.2
// (https://www.cs.huji.ac.il/labs/parallel/workload/swf.html), with what real
// files do to it: fractional seconds, unsorted ids, 17 fields, processors
// allocated or time requested given as -1 (then those requested, or the run
// time, count), run times over the request. Jobs that never ran are skipped
// and counted.
func (p *parser) swf(r *bufio.Reader) error {
	header := swfHeader{procsPerNode: p.o.ProcsPerNode}
	fields := make([][]byte, 0, swfFields)
	for {
		line, err := p.next(r)
		if errors.Is(err, io.EOF) {
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
	procsPerNode       int // as asked for, or 0
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

func (p *parser) swfRow(fields [][]byte, h *swfHeader) {
	if len(fields) != swfFields && len(fields) != swfFields-1 {
		p.bad("%d fields, want %d", len(fields), swfFields)
		return
	}
	var v [swfFields]int64
	v[swfFields-1] = -1
	for i, f := range fields {
		n, err := strconv.ParseInt(string(f), 10, 64)
		if err != nil {
			x, ok := p.number(f, strconv.Itoa(i+1))
			if !ok {
				return
			}
			n = int64(math.Round(x))
		}
		if n < math.MinInt32 || n > 1<<40 {
			p.bad("column %d: %d is out of range", i+1, n)
			return
		}
		v[i] = n
	}
	id, submit, wait, run, procs := v[0], v[1], v[2], v[3], v[4]
	limit, status, user := v[8], v[10], v[11]
	if procs <= 0 {
		procs = v[7]
	}
	switch {
	case run < 0, status == 5 && run == 0:
		p.skip("never ran")
		return
	case submit < 0:
		p.bad("job %d: submitted at %d", id, submit)
		return
	}
	if limit <= 0 {
		limit = run
	}
	perNode := int64(h.perNode())
	j := Job{
		ID: strconv.FormatInt(id, 10), User: p.intern(strconv.AppendInt(nil, user, 10)),
		Submit: h.unixStart + submit, Limit: limit, Nodes: int((procs + perNode - 1) / perNode),
	}
	j.Start = j.Submit + max(wait, 0)
	j.End = j.Start + run
	if v[15] >= 0 {
		j.Partition = p.intern(strconv.AppendInt(nil, v[15], 10))
	}
	if v[16] > 0 {
		j.After, j.Think = strconv.FormatInt(v[16], 10), max(v[17], 0)
	}
	p.add(j)
}
