package trace

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// mirageColumns are the columns of the Mirage layouts that are needed.
var mirageColumns = [...]string{"JobID", "JobName", "UID", "Start", "Submit", "End", "Priority", "TimelimitR", "ExitCode", "NNodes"}

func isMirage(line string) bool { return strings.Fields(line)[0] == "JobID" }

// mirage reads the layouts of the Mirage logs: an optional count of lines, a
// header, a rule of dashes, then one job a row with tabs or runs of spaces
// between the fields. The count includes header and rule.
func (p *parser) mirage(r *bufio.Reader) error {
	header, count, err := p.mirageHeader(r)
	if err != nil {
		return err
	}
	columns, err := columnIndexes(header, mirageColumns[:])
	if err != nil {
		return err
	}
	rows := 0
	fields := make([][]byte, 0, len(header)+1)
	for {
		line, err := p.next(r)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		line = bytes.TrimSpace(line)
		if len(line) == 0 || rows == 0 && line[0] == '-' {
			continue
		}
		rows++
		if bytes.IndexByte(line, '\t') >= 0 {
			fields = splitTabs(fields[:0], line)
		} else {
			fields = splitSpaces(fields[:0], line)
		}
		if len(fields) != len(header) {
			p.bad("%d fields, want %d", len(fields), len(header))
			continue
		}
		p.mirageRow(fields, columns)
	}
	if count >= 0 && count != rows+2 && count != rows {
		p.warn("%s: the first line counts %d lines, the file has %d", p.file, count, rows+2)
	}
	return nil
}

// mirageHeader reads up to the header; count is -1 where the file has none.
func (p *parser) mirageHeader(r *bufio.Reader) (header []string, count int, err error) {
	count = -1
	for {
		line, err := p.next(r)
		if errors.Is(err, io.EOF) {
			return nil, 0, fmt.Errorf("%w: no header", ErrLayout)
		}
		if err != nil {
			return nil, 0, err
		}
		fields := bytes.Fields(line)
		if len(fields) == 0 {
			continue
		}
		if n, err := strconv.Atoi(string(fields[0])); err == nil && len(fields) == 1 {
			count = n
			continue
		}
		for _, f := range fields {
			header = append(header, string(f))
		}
		return header, count, nil
	}
}

// columnIndexes finds the columns by name.
func columnIndexes(header, names []string) ([]int, error) {
	columns := make([]int, len(names))
	for i, name := range names {
		columns[i] = indexOf(header, name)
		if columns[i] < 0 {
			return nil, fmt.Errorf("%w %s", ErrColumn, name)
		}
	}
	return columns, nil
}

func indexOf(header []string, name string) int {
	for i, h := range header {
		if h == name {
			return i
		}
	}
	return -1
}

func splitTabs(fields [][]byte, line []byte) [][]byte {
	for {
		i := bytes.IndexByte(line, '\t')
		if i < 0 {
			return append(fields, bytes.TrimSpace(line))
		}
		fields = append(fields, bytes.TrimSpace(line[:i]))
		line = line[i+1:]
	}
}

func splitSpaces(fields [][]byte, line []byte) [][]byte {
	for len(line) > 0 {
		i := bytes.IndexByte(line, ' ')
		if i < 0 {
			return append(fields, line)
		}
		fields = append(fields, line[:i])
		line = bytes.TrimLeft(line[i:], " ")
	}
	return fields
}

func (p *parser) mirageRow(fields [][]byte, columns []int) {
	cell := func(i int) []byte { return fields[columns[i]] }
	var naive [3]int64 // Start, Submit, End
	for i := range naive {
		var ok bool
		if naive[i], ok = naiveSeconds(string(cell(3 + i))); !ok {
			p.bad("column %s: %q is not a time", mirageColumns[3+i], clip(string(cell(3+i))))
			return
		}
	}
	priority, ok := p.number(cell(6), "Priority")
	if !ok {
		return
	}
	minutes, ok := p.integer(cell(7), "TimelimitR")
	if !ok {
		return
	}
	nodes, ok := p.integer(cell(9), "NNodes")
	if !ok {
		return
	}
	if minutes < 0 || minutes > math.MaxInt32 || nodes > math.MaxInt32 {
		p.bad("column TimelimitR or NNodes: %d minutes, %d nodes are out of range", minutes, nodes)
		return
	}
	submit, start, end := p.clock.resolve(naive[1], naive[0], naive[2], minutes*60)
	p.add(Job{
		ID: string(cell(0)), Name: p.intern(cell(1)), User: p.intern(cell(2)),
		Submit: submit, Start: start, End: end,
		Limit: minutes * 60, Nodes: int(nodes), Priority: priority, ExitCode: p.intern(cell(8)),
	})
}

// integer reads a whole number or records the row as bad.
func (p *parser) integer(cell []byte, column string) (int64, bool) {
	n, err := strconv.ParseInt(string(cell), 10, 64)
	if err != nil {
		p.bad("column %s: %q is not an integer", column, clip(string(cell)))
		return 0, false
	}
	return n, true
}

// number reads a finite number or records the row as bad.
func (p *parser) number(cell []byte, column string) (float64, bool) {
	x, err := strconv.ParseFloat(string(cell), 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
		p.bad("column %s: %q is not a finite number", column, clip(string(cell)))
		return 0, false
	}
	return x, true
}
