package trace

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// field identifies the meaning of a column.
type field int

const (
	fieldID field = iota
	fieldSubmit
	fieldStart
	fieldEnd
	fieldEligible
	fieldLimit
	fieldNodes
	fieldUser
	fieldPartition
	fieldPriority
	fieldState
	fieldReason
	fieldAllocated
	fieldAsked
	fieldCommand
	fieldCluster
	fields
)

// columns are the names of a field's columns, in lower letters, the best first: those
// of sacct(1), of data frames made of them, and of the Mirage logs, which are sacct's cut short.
var columns = [fields][]string{
	fieldID:        {"jobid", "jobidraw", "job_id", "job_unique_id"},
	fieldSubmit:    {"submit", "submit_time"},
	fieldStart:     {"start", "start_time"},
	fieldEnd:       {"end", "end_time"},
	fieldEligible:  {"eligible", "eligible_time"},
	fieldLimit:     {"timelimitraw", "timelimitr", "timelimit", "time_limit"},
	fieldNodes:     {"nnodes", "allocnodes", "alloc_nodes", "reqnodes", "nodes"},
	fieldUser:      {"user", "uid", "account_id"},
	fieldPartition: {"partition", "partition_id_x"},
	fieldPriority:  {"priority", "priority_x"},
	fieldState:     {"state"},
	fieldReason:    {"reason"},
	fieldAllocated: {"alloctres"},
	fieldAsked:     {"reqtres", "req_tres"},
	fieldCommand:   {"submitline"},
	fieldCluster:   {"cluster"},
}

// nothing are the cells that say nothing.
var nothing = []string{"", "Unknown", "None", "NONE", "N/A", "(null)", "INVALID"}

// table is a header and the row below it that is being read.
type table struct {
	names []string
	by    byte          // between columns; 0 is white space
	spans [][2]int      // of the columns of an aligned table, by the rule under its header
	at    [fields][]int // columns of a field
	cells [][]byte

	part  []byte // the beginning of a row that goes on in the next line
	from  int    // its line
	whole bool   // the line before was a row

	barred bool // a bar at the end of the row was left out
}

func isSACCT(line string) bool {
	return strings.Contains(line, "|") || len(newTable(line).at[fieldID]) > 0
}

// isMirage: their header is sacct's, aligned, with the columns that were asked for.
func isMirage(line string) bool {
	t := newTable(line)
	return t.by == 0 && t.names[0] == "JobID" && slices.Contains(t.names, "TimelimitR") && !slices.Contains(t.names, "State")
}

// newTable returns the table with such a header, which is not blank.
func newTable(header string) *table {
	t := &table{}
	for _, by := range []byte("|;\t,") {
		if strings.IndexByte(header, by) >= 0 {
			t.by = by
			break
		}
	}
	t.names = strings.Fields(header)
	if t.by != 0 {
		t.names = strings.Split(strings.TrimRight(header, string(t.by)), string(t.by))
	}
	for i, n := range t.names {
		t.names[i] = strings.Trim(n, ` "`)
	}
	for f := range columns {
		for _, name := range columns[f] {
			same := func(n string) bool { return strings.EqualFold(n, name) }
			if i := slices.IndexFunc(t.names, same); i >= 0 {
				t.at[f] = append(t.at[f], i)
			}
		}
	}
	return t
}

// check says which column is missing.
func (t *table) check(o Options) error {
	for _, needed := range []struct {
		field
		name string
	}{{fieldID, "JobID"}, {fieldSubmit, "Submit"}, {fieldStart, "Start"}, {fieldEnd, "End"}, {fieldNodes, "NNodes"}} {
		if len(t.at[needed.field]) == 0 {
			return fmt.Errorf("%w %s", ErrColumn, needed.name)
		}
	}
	if o.countsResources() && len(t.at[fieldAllocated])+len(t.at[fieldAsked]) == 0 {
		return fmt.Errorf("%w AllocTRES or ReqTRES, to count %s", ErrColumn, o.Unit)
	}
	return nil
}

// table reads what sacct prints, with bars, commas, tabs or white space
// between the columns, which are found by their names, and the Mirage logs: an
// optional count of lines, a header, a rule of dashes, then a job a row. Needed are
// the job's id, its submission, start and end, and nodes. Rows of
// job steps and of jobs that never started are skipped and counted; those of jobs
// that wait or run are the queue at the log's end.
func (p *parser) table(r *bufio.Reader) error {
	t, count, err := p.head(r)
	if err != nil {
		return err
	}
	if err := t.check(p.o); err != nil {
		return err
	}
	if p.o.countsResources() {
		p.trace.Unit = p.o.Unit
	}
	rows := 0
	for {
		line, err := p.next(r)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		switch text := bytes.TrimSpace(line); {
		case len(text) == 0:
			continue
		case rows == 0 && text[0] == '-':
			t.rule(line)
			continue
		}
		rows++
		p.assemble(t, line)
	}
	p.dropUnfinished(t)
	if p.trace.Layout == Mirage && count >= 0 && count != rows+2 && count != rows {
		p.warn("%s: the first line announces %d lines, the file has %d", p.file, count, rows+2)
	}
	return nil
}

// head reads up to the header; count is -1 where the file has none.
func (p *parser) head(r *bufio.Reader) (t *table, count int, err error) {
	count = -1
	for {
		line, err := p.next(r)
		if errors.Is(err, io.EOF) {
			return nil, 0, fmt.Errorf("%w: no header", ErrLayout)
		}
		if err != nil {
			return nil, 0, err
		}
		text := strings.TrimSpace(string(line))
		if n, err := strconv.Atoi(text); err == nil {
			count = n
		} else if text != "" {
			return newTable(text), count, nil
		}
	}
}

// rule takes the widths of the columns from the dashes under the header.
func (t *table) rule(line []byte) {
	for from := 0; ; {
		dash := bytes.IndexByte(line[from:], '-')
		if dash < 0 {
			return
		}
		begin := from + dash
		from = begin + len(line[begin:]) - len(bytes.TrimLeft(line[begin:], "-"))
		t.spans = append(t.spans, [2]int{begin, from})
	}
}

// split finds the cells of a row.
func (t *table) split(line []byte) {
	t.cells = t.cells[:0]
	switch {
	case t.by == ',' && bytes.IndexByte(line, '"') >= 0:
		words, _ := csv.NewReader(bytes.NewReader(line)).Read()
		for _, w := range words {
			t.cells = append(t.cells, []byte(w))
		}
	case t.by != 0:
		t.cells = slices.AppendSeq(t.cells, bytes.SplitSeq(line, []byte{t.by}))
	case bytes.IndexByte(line, '\t') >= 0:
		t.cells = slices.AppendSeq(t.cells, bytes.SplitSeq(bytes.TrimSpace(line), []byte("\t")))
	case t.isAligned(line):
		for _, s := range t.spans {
			t.cells = append(t.cells, line[min(s[0], len(line)):min(s[1], len(line))])
		}
	default:
		t.cells = slices.AppendSeq(t.cells, bytes.FieldsSeq(line))
	}
	if t.by == ',' && len(t.cells) > len(t.names) {
		t.rejoin()
	}
	t.barred = false
	if n := len(t.names); len(t.cells) == n+1 && len(t.cells[n]) == 0 { // --parsable ends rows with a bar
		t.cells, t.barred = t.cells[:n], true
	}
	for i := range t.cells {
		t.cells[i] = bytes.TrimSpace(t.cells[i])
	}
}

// isAligned says that nothing stands between the columns of a rule.
func (t *table) isAligned(line []byte) bool {
	if len(t.spans) != len(t.names) {
		return false
	}
	for i, s := range t.spans[1:] {
		gap := line[min(t.spans[i][1], len(line)):min(s[0], len(line))]
		if len(bytes.TrimSpace(gap)) > 0 || len(gap) == 0 {
			return false
		}
	}
	return true
}

// rejoin puts trackable resources together again, cpu=8,mem=4G, that a comma between
// the columns has taken apart.
func (t *table) rejoin() {
	joined := t.cells[:1]
	for _, c := range t.cells[1:] {
		last := joined[len(joined)-1]
		if bytes.IndexByte(c, '=') > 0 && bytes.IndexByte(last, '=') > 0 {
			joined[len(joined)-1] = slices.Concat(last, []byte{','}, c)
			continue
		}
		joined = append(joined, c)
	}
	t.cells = joined
}

// cell returns the first cell of a field that says something, with its column; nil where
// there is none.
func (t *table) cell(f field) (text []byte, column string) {
	for _, i := range t.at[f] {
		if c := t.cells[i]; !slices.Contains(nothing, string(c)) {
			return c, t.names[i]
		}
	}
	return nil, ""
}

func (t *table) text(f field) []byte { c, _ := t.cell(f); return c }

// row takes in a job. What is bad, and what is no job, is recorded.
func (p *parser) row(t *table) {
	id := string(t.text(fieldID))
	if strings.Contains(id, ".") {
		p.skip("job step")
		return
	}
	if strings.HasSuffix(id, "+") { // cut short, and so not its own any more
		id += strconv.Itoa(p.line)
	}
	j := Job{ID: id, User: p.intern(t.text(fieldUser)), Partition: p.intern(t.text(fieldPartition))}
	if cluster := string(t.text(fieldCluster)); cluster != "" {
		if p.o.Cluster != "" && cluster != p.o.Cluster {
			p.skip("other cluster")
			return
		}
		p.clusters[cluster] = true
	}
	state := stateOf(string(t.text(fieldState)))
	if state == "REQUEUED" && t.text(fieldEnd) != nil { // this attempt is over, the next one is another row
		state = "ENDED"
	}
	var at times
	if at.read(p, t, state) && p.limitOf(t, &j) && p.sizeOf(t, &j) && p.priorityOf(t, &j) {
		j.Need = p.need(t.text(fieldAllocated), t.text(fieldAsked), t.text(fieldCommand))
		at.resolve(p.clock, j.Limit)
		p.place(t, j, at, state)
	}
}

// place puts a job where its state says: to those that ran, that run, or that wait.
func (p *parser) place(t *table, j Job, at times, state State) {
	submit := at.at[whenSubmitted]
	start := at.at[whenStarted]
	end := at.at[whenEnded]
	j.Submit = submit
	if e := at.at[whenEligible]; at.known[whenEligible] && e > submit && (e <= start || !at.known[whenStarted]) {
		j.Submit, j.Held = e, e-submit
	}
	switch {
	case at.pending(state):
		p.waits(t, j)
	case at.running(state):
		j.Start, j.End = start, Never
		p.add(j)
	case !at.known[whenStarted] || !at.known[whenEnded]:
		p.skip("not started or not ended")
	case state == "CANCELLED" && start == end:
		p.skip("cancelled while pending")
	default:
		j.Start, j.End = start, end
		p.rerun(j)
	}
}

// waits takes in a job that waits, each task of an array on its own.
func (p *parser) waits(t *table, j Job) {
	if hold, _ := ReadReason(string(t.text(fieldReason))); hold > ForRoom {
		p.skip("held")
		return
	}
	j.Start = Never
	j.End = Never
	j.NoStart = true
	_, list, _ := strings.Cut(j.ID, "[")
	tasks, err := Tasks(strings.TrimSuffix(list, "]"))
	if err != nil {
		tasks = 1 // the column is too narrow for its list
	}
	if _, text, limited := strings.Cut(list, "%"); limited { // the others wait for these
		together, err := strconv.Atoi(strings.TrimSuffix(text, "]"))
		if err == nil && together > 0 {
			tasks = min(tasks, together)
		}
	}
	for range tasks {
		p.add(j)
	}
}

// requeueSeconds is the longest time between the end of a run and the submission that Slurm
// records for the next run of the same job.
const requeueSeconds = 60

// run is an earlier run of a job id.
type run struct{ submit, start, end int64 }

// rerun takes in a run of a job id: the first, one more after a requeue, that of another job
// with an id that was used before, or a row that is in the log twice.
func (p *parser) rerun(j Job) {
	id, now := j.ID, run{j.Submit, j.Start, j.End}
	last, ran := p.runs[id]
	switch {
	case !ran, now.start < now.submit, now.end < now.start, j.Nodes < 1: // add rejects the last three
	case now == last, now.submit == last.submit && now.start < last.end:
		p.skip("repeated")
		return
	case now.submit != last.submit && max(now.submit-last.end, last.end-now.submit) > requeueSeconds:
		p.recycled++
		j.ID = fmt.Sprintf("%s+%d", id, j.Submit)
	default:
		p.requeued++
		j.Submit = max(j.Submit, last.end)
		j.ID = fmt.Sprintf("%s+%d", id, j.Start)
	}
	p.runs[id] = now
	p.add(j)
}

// limitOf reads a time limit; without one, or with UNLIMITED, it is not known.
func (p *parser) limitOf(t *table, j *Job) (ok bool) {
	text, column := t.cell(fieldLimit)
	s := string(text)
	if strings.EqualFold(s, "PARTITION_LIMIT") {
		j.Limit = partitionLimit
		return true
	}
	if s == "" || strings.EqualFold(s, "UNLIMITED") {
		j.Limit = Unlimited
		return true
	}
	if days, rest, found := strings.Cut(s, " day"); found { // as data frames print it
		s = days + "-" + strings.TrimSpace(strings.TrimPrefix(rest, "s"))
	}
	if j.Limit, ok = SlurmSeconds(s); !ok {
		p.bad("column %s: %q is not a time limit", column, clip(s))
	}
	return ok
}

// sizeOf reads how many nodes a job has, or what it is counted in.
func (p *parser) sizeOf(t *table, j *Job) bool {
	text, column := t.cell(fieldNodes)
	n, err := nodeCount(string(text))
	if err != nil {
		p.bad("column %s: %q is not an integer", cmp.Or(column, "NNodes"), clip(string(text)))
		return false
	}
	if p.o.countsResources() {
		n = int64(cmp.Or(p.o.Unit.In(string(t.text(fieldAllocated))), p.o.Unit.In(string(t.text(fieldAsked)))))
		if n == 0 {
			p.skip("holds no " + string(p.o.Unit))
			return false
		}
	}
	if n > math.MaxInt32 {
		p.bad("column %s: %d is out of range", column, n)
		return false
	}
	j.Nodes = int(n)
	return true
}

// nodeCount reads a number of nodes, as it is, with K (1024) or M as sacct prints it
// without --noconvert, or the least of a range that a pending job accepts.
func nodeCount(text string) (int64, error) {
	least, most, ranged := strings.Cut(text, "-")
	if ranged && least != "" && most != "" {
		text = least
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, nil
	}
	factor := map[byte]float64{'K': 1 << 10, 'M': 1 << 20}[lastByte(text)]
	x, err := strconv.ParseFloat(strings.TrimRight(text, "KM"), 64)
	if err != nil || factor == 0 || !(x >= 0 && x*factor < 1<<40) {
		return 0, strconv.ErrSyntax
	}
	return int64(math.Round(x * factor)), nil
}

func lastByte(s string) byte {
	if s == "" {
		return 0
	}
	return s[len(s)-1]
}

func (p *parser) priorityOf(t *table, j *Job) (ok bool) {
	text, column := t.cell(fieldPriority)
	if text == nil {
		return true
	}
	j.Priority, ok = p.number(text, column)
	return ok
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
