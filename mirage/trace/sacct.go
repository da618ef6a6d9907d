package trace

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

func isSACCT(line string) bool { return strings.Contains(line, "|") }

// sacct reads what `sacct --parsable2` prints: fields between bars, found by
// the header. Needed are JobID (or JobIDRaw), Submit, Start, End, Timelimit
// (or TimelimitRaw) and NNodes (or AllocNodes, ReqNodes); read where present
// are User (or UID), JobName, Partition, QOS, Priority and ExitCode, and, for
// machines whose nodes are shared, AllocTRES, ReqTRES and SubmitLine. Rows of
// job steps and of jobs that never started or still run are skipped and
// counted.
func (p *parser) sacct(r *bufio.Reader) error {
	var header []string
	for header == nil {
		line, err := p.next(r)
		if errors.Is(err, io.EOF) {
			return fmt.Errorf("%w: no header", ErrLayout)
		}
		if err != nil {
			return err
		}
		if text := strings.TrimSpace(string(line)); text != "" {
			header = strings.Split(text, "|")
		}
	}
	columns, err := newSacctColumns(header)
	if err != nil {
		return err
	}
	if p.o.counted() {
		if max(columns.allocated, columns.asked) < 0 {
			return fmt.Errorf("%w AllocTRES or ReqTRES, to count %s", ErrColumn, p.o.Unit)
		}
		p.trace.Unit = p.o.Unit
	}
	for {
		line, err := p.next(r)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if len(bytes.TrimSpace(line)) > 0 {
			p.sacctRow(bytes.Split(line, []byte{'|'}), len(header), columns)
		}
	}
}

// sacctColumns are positions in the header, -1 for an absent column.
type sacctColumns struct {
	id, submit, start, end, limit, rawLimit, nodes      int
	user, name, partition, qos, priority, exit, comment int
	state, eligible, allocated, asked, command          int
}

func newSacctColumns(header []string) (sacctColumns, error) {
	find := func(names ...string) int {
		for _, name := range names {
			if i := indexOf(header, name); i >= 0 {
				return i
			}
		}
		return -1
	}
	c := sacctColumns{
		id: find("JobID", "JobIDRaw"), submit: find("Submit"), start: find("Start"), end: find("End"),
		limit: find("Timelimit"), rawLimit: find("TimelimitRaw"), nodes: find("NNodes", "AllocNodes", "ReqNodes"),
		user: find("User", "UID"), name: find("JobName"), partition: find("Partition"),
		qos: find("QOS"), priority: find("Priority"), exit: find("ExitCode"), comment: find("Comment"),
		state: find("State"), eligible: find("Eligible"),
		allocated: find("AllocTRES"), asked: find("ReqTRES"), command: find("SubmitLine"),
	}
	for _, needed := range []struct {
		at   int
		name string
	}{{c.id, "JobID"}, {c.submit, "Submit"}, {c.start, "Start"}, {c.end, "End"}, {max(c.limit, c.rawLimit), "Timelimit"}, {c.nodes, "NNodes"}} {
		if needed.at < 0 {
			return c, fmt.Errorf("%w %s", ErrColumn, needed.name)
		}
	}
	return c, nil
}

func (p *parser) sacctRow(fields [][]byte, width int, c sacctColumns) {
	if len(fields) == width+1 && len(fields[width]) == 0 { // --parsable ends rows with a bar
		fields = fields[:width]
	}
	if len(fields) != width {
		p.bad("%d fields, want %d", len(fields), width)
		return
	}
	cell := func(i int) []byte {
		if i < 0 {
			return nil
		}
		return bytes.TrimSpace(fields[i])
	}
	if bytes.ContainsRune(cell(c.id), '.') {
		p.skip("job step")
		return
	}
	state := string(cell(c.state))
	if state == "PENDING" || state == "RUNNING" {
		p.skip("pending or running")
		return
	}
	for _, i := range []int{c.start, c.end} {
		if s := string(cell(i)); s == "Unknown" || s == "None" || s == "" {
			p.skip("not started or not ended")
			return
		}
	}
	var naive [3]int64
	for i, column := range [...]int{c.submit, c.start, c.end} {
		var ok bool
		if naive[i], ok = naiveSeconds(string(cell(column))); !ok {
			p.bad("%q is not a time", clip(string(cell(column))))
			return
		}
	}
	limit, ok := p.sacctLimit(cell(c.limit), cell(c.rawLimit), naive[2]-naive[1])
	if !ok {
		return
	}
	nodes, ok := p.integer(cell(c.nodes), "NNodes")
	if !ok {
		return
	}
	if p.o.counted() {
		nodes = int64(cmp.Or(p.o.Unit.In(string(cell(c.allocated))), p.o.Unit.In(string(cell(c.asked)))))
		if nodes == 0 {
			p.skip("holds no " + string(p.o.Unit))
			return
		}
	}
	if nodes > math.MaxInt32 {
		p.bad("column NNodes: %d is out of range", nodes)
		return
	}
	var priority float64
	if text := cell(c.priority); len(text) > 0 {
		if priority, ok = p.number(text, "Priority"); !ok {
			return
		}
	}
	if strings.HasPrefix(state, "CANCELLED") && naive[1] == naive[2] {
		p.skip("cancelled while pending")
		return
	}
	eligible, held := naive[0], int64(0)
	if at, ok := naiveSeconds(string(cell(c.eligible))); ok && at > naive[0] && at <= naive[1] {
		eligible, held = at, at-naive[0]
	}
	submit, start, end := p.clock.resolve(eligible, naive[1], naive[2], limit)
	id := string(cell(c.id))
	if last, ran := p.runs[id]; ran {
		if start < last {
			p.skip("repeated")
			return
		}
		p.requeued++
		submit, id = max(submit, last), fmt.Sprintf("%s+%d", id, start)
	}
	if p.runs == nil {
		p.runs = map[string]int64{}
	}
	p.runs[string(cell(c.id))] = end
	p.add(Job{
		ID: id, Held: held, Name: p.intern(cell(c.name)), User: p.intern(cell(c.user)),
		Partition: p.intern(cell(c.partition)), QOS: p.intern(cell(c.qos)),
		Submit: submit, Start: start, End: end, Limit: limit, Nodes: int(nodes),
		Priority: priority, ExitCode: p.intern(cell(c.exit)),
		Need: p.need(cell(c.allocated), cell(c.asked), cell(c.command)),
	})
}

// sacctLimit reads a time limit in seconds. A job without a limit is given
// its own duration, rounded up to the minute, which plans it perfectly; the
// row is counted as such in the warnings.
func (p *parser) sacctLimit(text, raw []byte, duration int64) (int64, bool) {
	if minutes, err := strconv.ParseInt(string(raw), 10, 32); err == nil && minutes >= 0 {
		return minutes * 60, true
	}
	s := string(text)
	if s == "" {
		s = string(raw)
	}
	switch strings.ToUpper(s) {
	case "UNLIMITED", "PARTITION_LIMIT":
		if p.open++; p.open == 1 {
			p.warn("%s:%d: time limit %s: such jobs are given their own duration as limit", p.file, p.line, s)
		}
		return (max(duration, 0) + 59) / 60 * 60, true
	}
	limit, ok := SlurmSeconds(s)
	if !ok {
		p.bad("column Timelimit: %q is not a time limit", clip(s))
	}
	return limit, ok
}

// SlurmSeconds reads Slurm's forms of a span: M, M:S, H:M:S, D-H, D-H:M,
// D-H:M:S.
func SlurmSeconds(s string) (int64, bool) {
	days, rest, hasDays := strings.Cut(s, "-")
	if !hasDays {
		rest, days = s, "0"
	}
	parts := strings.Split(rest, ":")
	unit := [][]int64{{60}, {60, 1}, {3600, 60, 1}}
	if hasDays {
		unit = [][]int64{{3600}, {3600, 60}, {3600, 60, 1}}
	}
	if len(parts) > 3 {
		return 0, false
	}
	n, ok := digits(days)
	if !ok || days == "" || len(days) > 6 {
		return 0, false
	}
	seconds := int64(n) * 86400
	for i, part := range parts {
		n, ok := digits(part)
		if !ok || part == "" || len(part) > 9 {
			return 0, false
		}
		seconds += int64(n) * unit[len(parts)-1][i]
	}
	return seconds, true
}
