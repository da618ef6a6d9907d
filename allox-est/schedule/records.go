package schedule

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// maxLine bounds a line of a record.
const maxLine = 1 << 20

// ReadRecords reads the text records of the AlloX simulator. A record is
//
//	# NAME
//	STAGES ID ITERATIONS ARRIVAL QUEUE [SESSION]
//	STAGE DURATION CPU MEMORY CPU_SECONDS GPU GPU_MEMORY GPU_SECONDS TASKS [CPU_ERROR GPU_ERROR]
//	EDGES
//	FROM TO PATTERN
//
// with STAGES stage lines and EDGES edge lines; a job takes the time of all tasks
// of its stages, one after the other. The line of the job may end
// after any field (ITERATIONS is then 1, ARRIVAL 0, QUEUE "default"), the
// line "# NAME" may be absent, and blank lines and lines that begin with %
// are comments. DURATION is ignored, as the simulator ignores it. A time of
// "inf" means that the job cannot run on the device. SESSION and edges have no
// bearing on a schedule.
//
// A bad record is a diagnostic, and reading goes on at the next line that
// begins with #. ReadRecords returns an error only where the source cannot be read.
func ReadRecords(r io.Reader, file string) (*Workload, error) {
	w := &Workload{}
	p := &parser{lines: bufio.NewScanner(r), seen: make(map[int]bool)}
	p.lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	for p.next() {
		start := p.line
		job, err := p.record()
		if err == nil && p.seen[job.ID] {
			err = fmt.Errorf("job %d: %w", job.ID, ErrDuplicate)
		}
		w.Counts.Read++
		if err == nil {
			p.seen[job.ID] = true
			w.Counts.Used++
			w.Jobs = append(w.Jobs, job)
			continue
		}
		if p.lines.Err() != nil {
			break
		}
		if !errors.Is(err, ErrDuplicate) {
			start = p.line
			p.skip()
		}
		w.drop(file, start, err)
	}
	if err := p.lines.Err(); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", file, p.line+1, err)
	}
	w.sort()
	return w, nil
}

// parser reads records line by line.
type parser struct {
	lines  *bufio.Scanner
	line   int
	fields []string // of the current line
	name   string   // text after the # of the current line
	title  bool     // the current line begins with #
	held   bool     // the current line is to be read again
	seen   map[int]bool
}

// next advances to the next line that holds something.
func (p *parser) next() bool {
	if p.held {
		p.held = false
		return true
	}
	for p.lines.Scan() {
		p.line++
		text := strings.TrimSpace(p.lines.Text())
		if text == "" || text[0] == '%' {
			continue
		}
		p.name, p.title = strings.CutPrefix(text, "#")
		p.name = strings.TrimSpace(p.name)
		p.fields = strings.Fields(text)
		return true
	}
	p.fields, p.title = nil, false
	return false
}

// skip goes to the next record, leaving its first line to be read.
func (p *parser) skip() {
	for !p.title {
		if !p.next() {
			return
		}
	}
	p.held = true
}

// within advances to a further line of the same record.
func (p *parser) within(what string) error {
	if !p.next() {
		return fmt.Errorf("the record ends before its %s", what)
	}
	if p.title {
		return fmt.Errorf("a new record begins before the %s of the last one", what)
	}
	return nil
}

// record reads one record, of which the first line is the current one.
func (p *parser) record() (job Record, err error) {
	job = Record{Iterations: 1, User: "default"}
	if p.title {
		job.Name = p.name
		if err := p.within("job line"); err != nil {
			return job, err
		}
	}
	stages, err := p.jobLine(&job)
	if err != nil {
		return job, err
	}
	for i := range stages {
		if err := p.within("stages"); err != nil {
			return job, err
		}
		on, err := parseStage(p.fields)
		if err != nil {
			return job, err
		}
		for d := range on {
			if i > 0 {
				on[d] = job.On[d].then(on[d])
			}
			job.On[d] = on[d]
		}
	}
	if err := p.edges(); err != nil {
		return job, err
	}
	return job, job.Check()
}

// then is one stage after another on the same device.
func (d Demand) then(next Demand) Demand {
	seconds := d.Seconds + next.Seconds
	if min(d.Seconds, next.Seconds) <= 0 {
		seconds = 0 // which Check refuses
	}
	reported := d.Seconds*(1+d.Error) + next.Seconds*(1+next.Error)
	sum := Demand{Units: max(d.Units, next.Units), Memory: max(d.Memory, next.Memory), Seconds: seconds}
	if !math.IsInf(seconds, 1) {
		sum.Error = reported/seconds - 1
	}
	return sum
}

// most is how many stages or edges a record may announce.
const most = 1 << 16

func (p *parser) jobLine(job *Record) (stages int, err error) {
	f := p.fields
	if len(f) > 6 {
		return 0, fmt.Errorf("a job line has 1 to 6 fields, not %d", len(f))
	}
	if stages, err = count(f[0], "number of stages"); err != nil {
		return 0, err
	}
	if stages == 0 {
		return 0, fmt.Errorf("number of stages: %w", ErrNoWork)
	}
	if len(f) == 1 { // the simulator then numbers the jobs
		for job.ID = len(p.seen) + 1; p.seen[job.ID]; {
			job.ID++
		}
	}
	if len(f) > 1 {
		job.ID, err = count(f[1], "job id")
	}
	if err == nil && len(f) > 2 {
		job.Iterations, err = count(f[2], "iterations")
	}
	if err == nil && len(f) > 3 {
		job.Arrival, err = decimal(f[3], "arrival")
	}
	if err == nil && len(f) > 4 {
		job.User = f[4]
	}
	return stages, err
}

// parseStage returns what all tasks of a stage take on CPU and GPU.
func parseStage(f []string) (on [Other]Demand, err error) {
	if len(f) != 9 && len(f) != 11 {
		return on, fmt.Errorf("a stage line has 9 or 11 fields, not %d", len(f))
	}
	numbers := make([]float64, 0, 10)
	for i, text := range f[1:] {
		x, err := strconv.ParseFloat(text, 64)
		forever := err == nil && math.IsInf(x, 1) && (i == 3 || i == 6) // the two times
		if !forever && (err != nil || math.IsInf(x, 0) || math.IsNaN(x)) {
			return on, fmt.Errorf("field %d of the stage: %q is not a number", i+2, text)
		}
		numbers = append(numbers, x)
	}
	n, err := count(f[8], "number of tasks")
	if err != nil {
		return on, err
	}
	if n == 0 {
		return on, fmt.Errorf("number of tasks: %w", ErrNoWork)
	}
	tasks := float64(n)
	on[CPU] = Demand{Units: numbers[1], Memory: numbers[2], Seconds: tasks * numbers[3]}
	on[GPU] = Demand{Units: numbers[4], Memory: numbers[5], Seconds: tasks * numbers[6]}
	if len(numbers) == 10 {
		on[CPU].Error, on[GPU].Error = numbers[8], numbers[9]
	}
	return on, nil
}

// edges passes over the edges between stages.
func (p *parser) edges() error {
	if err := p.within("number of edges"); err != nil {
		return err
	}
	n, err := count(p.fields[0], "number of edges")
	for ; err == nil && n > 0; n-- {
		err = p.within("edges")
	}
	return err
}

func count(s, what string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || what != "job id" && n > most {
		return 0, fmt.Errorf("%s: %q is not a number from 0 to %d", what, s, most)
	}
	return n, nil
}

func decimal(s, what string) (float64, error) {
	x, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
		return 0, fmt.Errorf("%s: %q is not a number", what, s)
	}
	return x, nil
}

// WriteRecords writes jobs, of one stage each, as the records that ReadRecords
// reads. It refuses a job that Check refuses, and names that hold white space.
func WriteRecords(w io.Writer, jobs []Record) error {
	b := bufio.NewWriter(w)
	for i := range jobs {
		j := &jobs[i]
		if err := j.writable(); err != nil {
			return err
		}
		name := j.Name
		if name == "" {
			name = strconv.Itoa(j.ID)
		}
		c, g := j.On[CPU], j.On[GPU]
		fmt.Fprintf(b, "# %s\n1 %d %d %s %s\n", name, j.ID, j.Iterations, number(j.Arrival), j.User)
		fmt.Fprintf(b, "stage -1 %s %s %s %s %s %s 1 %s %s\n0\n",
			number(c.Units), number(c.Memory), number(c.Seconds), number(g.Units), number(g.Memory), number(g.Seconds),
			number(c.Error), number(g.Error))
	}
	return b.Flush()
}

func (r *Record) writable() error {
	if err := r.Check(); err != nil {
		return err
	}
	for d := Other; d < Devices; d++ {
		if !r.absent(d) {
			return fmt.Errorf("job %d: records hold cpu and gpu alone", r.ID)
		}
	}
	if fields := strings.Fields(r.User); len(fields) != 1 || fields[0] != r.User || r.User[0] == '#' || r.User[0] == '%' {
		return fmt.Errorf("job %d: %q is not one word", r.ID, r.User)
	}
	if r.Name != strings.TrimSpace(r.Name) || strings.ContainsAny(r.Name, "\r\n") {
		return fmt.Errorf("job %d: name %q is not one line", r.ID, r.Name)
	}
	return nil
}

// number writes a float so that it reads back equal; infinity as "inf".
func number(x float64) string {
	if math.IsInf(x, 1) {
		return "inf"
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}
