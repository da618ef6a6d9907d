package trace

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/foretime/foretime/shared/dataset"
	"github.com/foretime/foretime/shared/file"
	"github.com/foretime/foretime/shared/plural"
	"github.com/foretime/foretime/shared/registry"
)

// Returned when a file as a whole cannot be used. They arrive wrapped with
// the file.
var (
	// ErrLayout is returned when the layout is none of the package's.
	ErrLayout = errors.New("unknown trace layout")
	// ErrColumn is returned when the header lacks a column.
	ErrColumn = errors.New("missing column")
	// ErrNoJobs is returned when no row of the file is a usable job.
	ErrNoJobs = errors.New("no usable job")
	// ErrOutlier is returned when a log does not tell the size of its machine.
	ErrOutlier = errors.New("the log does not tell the size of the cluster")
	// ErrClusters is returned when a log has the jobs of several clusters.
	ErrClusters = errors.New("several clusters")
)

// Layout is the way a file lays out its jobs.
type Layout string

// The layouts. Mirage covers both of its forms, with a count line and tabs or with padding
// spaces alone; the reader distinguishes them.
const (
	Mirage Layout = "mirage"
	SACCT  Layout = "sacct"
	JSON   Layout = "json"
	SWF    Layout = "swf"
)

// Format recognises and reads the files of a layout.
type Format struct {
	// Begins says that a file of this layout may begin with such a line, the first
	// that is neither blank nor a number alone.
	Begins func(line string) bool
	read   func(*parser, *bufio.Reader) error
}

// Layouts returns the layouts by name, in the order in which they are tried on a file. A new
// layout is one line here and one file.
func Layouts() registry.List[Format] {
	return registry.List[Format]{
		{Name: string(SWF), Help: "Standard Workload Format", New: Format{isSWF, (*parser).swf}},
		{Name: string(Mirage), Help: "the published Mirage logs", New: Format{isMirage, (*parser).table}},
		{Name: string(JSON), Help: "what sacct --json prints", New: Format{isJSON, (*parser).json}},
		{Name: string(SACCT), Help: "what sacct prints, with bars, commas, tabs or white space between columns", New: Format{isSACCT, (*parser).table}},
	}
}

// Options say how to read a file. The zero value works.
type Options struct {
	// Zone of wall-clock times; nil is America/Chicago for the Mirage layouts
	// and UTC for the others.
	Zone *time.Location
	// Unit is the unit in which jobs of a sacct log are counted, by their AllocTRES or else
	// ReqTRES; "" is nodes.
	Unit Unit
	// Partition keeps only the jobs of one partition; "" keeps all. Cluster does so with one
	// cluster of sacct --clusters; "" is the only one.
	Partition, Cluster string
}

// Open reads a file.
func Open(path string, o Options) (*Trace, error) {
	f, err := file.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return Read(f, path, o)
}

// Read reads a log. The file name is for messages only. It returns an error
// that wraps ErrLayout, ErrColumn or ErrNoJobs where nothing can be read.
func Read(r io.Reader, file string, o Options) (*Trace, error) {
	t, err := readAs(r, file, o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return t, nil
}

func readAs(r io.Reader, file string, o Options) (*Trace, error) {
	buffered, err := plain(r)
	if err != nil {
		return nil, err
	}
	head, err := buffered.Peek(1 << 15)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull) {
		return nil, err
	}
	layout, format, err := layoutOf(head)
	if err != nil {
		return nil, err
	}
	if o.Zone == nil {
		if o.Zone, err = time.LoadLocation(defaultZones[layout]); err != nil {
			return nil, err
		}
	}
	if o.countsResources() && layout != SACCT && layout != JSON {
		return nil, fmt.Errorf("%w with %s: only the sacct layout has it", ErrColumn, o.Unit)
	}
	t := &Trace{Zone: o.Zone, Layout: layout, Unit: Nodes, Skipped: map[string]int{}}
	p := &parser{
		trace: t, file: file, clock: &clock{zone: o.Zone}, o: o, interned: map[string]string{}, needs: map[string]*Need{}, clusters: map[string]bool{},
		runs: map[string]run{}, kinds: map[string]int{}, first: map[string]*dataset.SyntaxError{},
	}
	if err := format.read(p, buffered); err != nil {
		return nil, err
	}
	sortBySubmit(t.Jobs)
	sortBySubmit(t.Open)
	p.stray()
	if len(t.Jobs) == 0 {
		return nil, fmt.Errorf("%w: %d bad rows%s%s", ErrNoJobs, len(t.Bad), listSkipped(t.Skipped), firstBad(t.Bad))
	}
	if len(p.clusters) > 1 {
		return nil, fmt.Errorf("%w, whose queues are apart: %s; select one by --set log.cluster=NAME", ErrClusters, strings.Join(slices.Sorted(maps.Keys(p.clusters)), ", "))
	}
	p.limitByPartition()
	p.runaway()
	p.pools()
	p.doubt()
	return t, nil
}

// plain returns what a reader holds, or what that is compressed from.
func plain(r io.Reader) (*bufio.Reader, error) {
	buffered := bufio.NewReaderSize(r, 1<<16)
	magic, err := buffered.Peek(4)
	switch {
	case err != nil:
		return buffered, nil
	case magic[0] == 0x1f && magic[1] == 0x8b:
		unzipped, err := gzip.NewReader(buffered)
		if err != nil {
			return nil, err
		}
		return plain(unzipped)
	}
	return buffered, nil
}

// strayGap is the time without any job after which a few last rows are taken to have a
// wrong date, and strays how large a share of the rows they may be.
const (
	strayGap = 365 * 86400
	strays   = 0.01
)

// stray drops rows whose date lies a year or more after all others, as of a machine with
// a wrong clock: they would move the end of the log.
func (p *parser) stray() {
	t := p.trace
	var all []int64
	for j := range t.each() {
		all = append(all, j.lastEvent())
	}
	slices.Sort(all)
	end := int64(Never)
	for i := len(all) - 1; i > 0 && len(all)-i <= max(int(strays*float64(len(all))), 1); i-- {
		if all[i]-all[i-1] > strayGap {
			end = all[i-1]
		}
	}
	drop := func(j Job) bool {
		at := j.lastEvent()
		if at <= end {
			return false
		}
		p.drop("wrong date", &dataset.SyntaxError{File: p.file, Msg: fmt.Sprintf("job %s: the time %s is more than a year after all others", j.ID, t.Clock(at))})
		return true
	}
	t.Jobs, t.Open = slices.DeleteFunc(t.Jobs, drop), slices.DeleteFunc(t.Open, drop)
}

// graceSeconds is the time that a running job may be past its limit: a day.
const graceSeconds = 86400

// runaway drops rows that say that a job runs though its limit ran out a day before the
// log's end: the accounting never learnt that it ended (sacctmgr show runawayjobs).
func (p *parser) runaway() {
	t := p.trace
	if len(t.Open) == 0 {
		return
	}
	end, lost := int64(math.MinInt64), ""
	for j := range t.each() { // starts of jobs that are not over may be expected ones
		end = max(end, j.Submit)
		if j.End != Never {
			end = max(end, j.End)
		}
	}
	t.Open = slices.DeleteFunc(t.Open, func(j Job) bool {
		gone := !j.NoStart && j.Start != Never && j.Limit != Unlimited && j.Start+j.Limit+graceSeconds < end
		if gone {
			p.skip("runaway")
			lost = j.ID
		}
		return gone
	})
	if n := t.Skipped["runaway"]; n > 0 {
		p.warn("%s: %s, such as %s, a day or more past the limit at the log's end: not counted; sacctmgr show runawayjobs lists them", p.file, plural.Count(n, "running job"), lost)
	}
}

// pools warns of what was merged: partitions, and runs of one job.
func (p *parser) pools() {
	count := map[string]int{}
	for i := range p.trace.Jobs {
		if name := p.trace.Jobs[i].Partition; name != "" {
			count[name]++
		}
	}
	if p.requeued > 0 {
		p.warn("%s: %d further runs of requeued jobs count as separate jobs, submitted when the previous run ended", p.file, p.requeued)
	}
	if p.recycled > 0 {
		p.warn("%s: %s an id that was used before", p.file, plural.Count(p.recycled, "job")+map[bool]string{true: " has", false: " have"}[p.recycled == 1])
	}
	if len(count) < 2 {
		return
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(count)) {
		parts = append(parts, fmt.Sprintf("%s (%d)", name, count[name]))
	}
	p.warn("%s: the log has %d partitions, treated as one pool of nodes: %s; select one by --set log.partition=NAME", p.file, len(parts), strings.Join(parts, ", "))
}

// partitionLimit is the limit of a job that has that of its partition.
const partitionLimit = Unlimited + 1

// limitByPartition gives such jobs the longest limit that is known of their partition, which
// is no longer than its own.
func (p *parser) limitByPartition() {
	longest := map[string]int64{}
	for j := range p.trace.each() {
		if j.Limit < Unlimited {
			longest[j.Partition] = max(longest[j.Partition], j.Limit)
		}
	}
	for j := range p.trace.each() {
		if j.Limit == partitionLimit {
			j.Limit = cmp.Or(longest[j.Partition], Unlimited)
		}
	}
}

// doubt says what is doubtful about the log as a whole: rows that are bad, limits that
// are missing, and more in use than there is.
func (p *parser) doubt() {
	t := p.trace
	rows := len(t.Jobs) + len(t.Open) + p.dropped
	if p.dropped*100 > rows {
		most := slices.MaxFunc(slices.Sorted(maps.Keys(p.kinds)), func(a, b string) int { return cmp.Compare(p.kinds[a], p.kinds[b]) })
		t.Doubt = fmt.Sprintf("%d of %d rows cannot be used, most of them as line %d: %s", p.dropped, rows, p.first[most].Line, p.first[most].Msg)
	}
	unlimited := 0
	for j := range t.each() {
		if j.Limit == Unlimited {
			unlimited++
		}
	}
	if unlimited > 0 {
		p.warn("%s: the time limits of %d of %d jobs are unknown", p.file, unlimited, len(t.Jobs)+len(t.Open))
	}
	if peak := t.PeakNodes(); t.Size > 0 && peak > t.Size {
		p.warn("%s: %d %s are in use at once, but the log gives the cluster only %d", p.file, peak, t.Unit, t.Size)
	}
}

func firstBad(bad []*dataset.SyntaxError) string {
	if len(bad) == 0 {
		return ""
	}
	return "; the first bad one: " + bad[0].Error()
}

// listSkipped returns the number of rows left out by reason, as text.
func listSkipped(counts map[string]int) (text string) {
	for _, reason := range slices.Sorted(maps.Keys(counts)) {
		text += fmt.Sprintf(", %d skipped (%s)", counts[reason], reason)
	}
	return text
}

// layoutOf finds the layout from the first lines of a file.
func layoutOf(head []byte) (Layout, Format, error) {
	for line := range bytes.Lines(head) {
		text := strings.TrimSpace(strings.TrimPrefix(string(line), "\ufeff"))
		if _, notNumber := strconv.Atoi(text); text == "" || notNumber == nil { // a count line, or nothing
			continue
		}
		for _, l := range Layouts() {
			if l.New.Begins(text) {
				return Layout(l.Name), l.New, nil
			}
		}
		return "", Format{}, fmt.Errorf("%w: the first line is %q", ErrLayout, clip(text))
	}
	if len(bytes.TrimSpace(head)) == 0 {
		return "", Format{}, fmt.Errorf("%w: the file is empty", ErrNoJobs)
	}
	return "", Format{}, fmt.Errorf("%w: no header", ErrLayout)
}

func clip(s string) string {
	if len(s) <= 60 {
		return s
	}
	return strings.ToValidUTF8(s[:60], "") + "..."
}

// parser is the common part of the layouts: numbered lines, and the jobs, bad rows and warnings
// found.
type parser struct {
	trace    *Trace
	file     string
	line     int
	clock    *clock
	o        Options
	interned map[string]string
	needs    map[string]*Need
	runs     map[string]run // by job id, the latest one
	requeued int            // runs after a job's first
	recycled int            // jobs with an id that was used before
	clusters map[string]bool
	dropped  int            // bad rows
	kinds    map[string]int // of them, by what is wrong
	first    map[string]*dataset.SyntaxError
}

// next returns the next line without its line end and any byte-order mark.
// The bytes are valid until the following call.
func (p *parser) next(r *bufio.Reader) ([]byte, error) {
	line, err := r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		long := bytes.Clone(line)
		line, err = r.ReadBytes('\n')
		line = append(long, line...)
	}
	if err != nil && (!errors.Is(err, io.EOF) || len(line) == 0) {
		return nil, err
	}
	p.line++
	if p.line == 1 {
		line = bytes.TrimPrefix(line, []byte("\ufeff"))
	}
	return bytes.TrimRight(line, "\r\n"), nil
}

// intern returns s as a string that equal cells share.
func (p *parser) intern(s []byte) string {
	if t, ok := p.interned[string(s)]; ok {
		return t
	}
	t := string(s)
	p.interned[t] = t
	return t
}

func (p *parser) bad(format string, args ...any) {
	p.drop(format, &dataset.SyntaxError{File: p.file, Line: p.line, Msg: fmt.Sprintf(format, args...)})
}

// drop records a bad row, of a kind.
func (p *parser) drop(kind string, bad *dataset.SyntaxError) {
	if p.kinds[kind]++; p.first[kind] == nil {
		p.first[kind] = bad
	}
	p.trace.Bad = append(p.trace.Bad, bad)
	p.dropped++
}

func (p *parser) skip(reason string) { p.trace.Skipped[reason]++ }

func (p *parser) warn(format string, args ...any) {
	p.trace.Warnings = append(p.trace.Warnings, fmt.Errorf(format, args...))
}

// add checks a job and keeps it.
func (p *parser) add(j Job) {
	switch {
	case p.o.Partition != "" && !slices.Contains(strings.Split(j.Partition, ","), p.o.Partition):
		p.skip("other partition")
	case j.Start < j.Submit:
		p.bad("job %s: started %d s before it was submitted", j.ID, j.Submit-j.Start)
	case j.End < j.Start:
		p.bad("job %s: ended %d s before it started", j.ID, j.Start-j.End)
	case j.Limit < 0:
		p.bad("job %s: time limit of %d s", j.ID, j.Limit)
	case j.Nodes < 1:
		p.bad("job %s: %d nodes", j.ID, j.Nodes)
	case j.End == Never:
		if first, _, list := strings.Cut(j.Partition, ","); list { // it waits for one of several
			j.Partition = cmp.Or(p.o.Partition, first)
		}
		p.trace.Open = append(p.trace.Open, j)
	default:
		p.trace.Jobs = append(p.trace.Jobs, j)
	}
}
