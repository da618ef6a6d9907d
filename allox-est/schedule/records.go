package schedule

import (
	"bufio"
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
	p := &parser{seen: map[int]bool{}}
	if err := p.read(r); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", file, p.at+1, err)
	}
	w := &Workload{}
	for len(p.left) > 0 {
		start := p.left[0].number
		job, err := p.record()
		w.Counts.Read++
		switch {
		case err != nil:
			w.drop(file, p.at, err)
			for len(p.left) > 0 && !p.left[0].title {
				p.left = p.left[1:]
			}
		case p.seen[job.ID]:
			w.drop(file, start, fmt.Errorf("job %d: %w", job.ID, ErrDuplicate))
		default:
			p.seen[job.ID] = true
			w.Counts.Used++
			w.Jobs = append(w.Jobs, job)
		}
	}
	w.sort()
	return w, nil
}

// parser takes records off the lines of a file.
type parser struct {
	left []line
	at   int // number of the line looked at last
	seen map[int]bool
}

// line is one that holds something.
type line struct {
	number int
	title  bool // it begins with #
	name   string
	fields []string
}

func (p *parser) read(r io.Reader) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	for ; lines.Scan(); p.at++ {
		if text := strings.TrimSpace(lines.Text()); text != "" && text[0] != '%' {
			name, title := strings.CutPrefix(text, "#")
			p.left = append(p.left, line{p.at + 1, title, strings.TrimSpace(name), strings.Fields(text)})
		}
	}
	return lines.Err()
}

// take returns the fields of the next line of a record, which holds its what.
func (p *parser) take(what string) ([]string, error) {
	if len(p.left) == 0 {
		return nil, fmt.Errorf("the record ends before its %s", what)
	}
	next := p.left[0]
	if p.at = next.number; next.title {
		return nil, fmt.Errorf("a new record begins before the %s of the last one", what)
	}
	p.left = p.left[1:]
	return next.fields, nil
}

// record takes one record.
func (p *parser) record() (job Record, err error) {
	job = Record{Iterations: 1, User: "default"}
	if first := p.left[0]; first.title {
		job.Name, p.at, p.left = first.name, first.number, p.left[1:]
	}
	f, err := p.take("job line")
	if err != nil {
		return job, err
	}
	stages, err := p.jobLine(&job, f)
	for i := 0; err == nil && i < stages; i++ {
		var on [Other]Demand
		if f, err = p.take("stages"); err == nil {
			on, err = parseStage(f)
		}
		for d := range on {
			if i > 0 {
				on[d] = job.On[d].then(on[d])
			}
			job.On[d] = on[d]
		}
	}
	edges := 0
	if err == nil {
		if f, err = p.take("number of edges"); err == nil {
			edges, err = count(f[0], "number of edges")
		}
	}
	for ; err == nil && edges > 0; edges-- {
		_, err = p.take("edges")
	}
	if err == nil {
		err = job.Check()
	}
	return job, err
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

func (p *parser) jobLine(job *Record, f []string) (stages int, err error) {
	if len(f) > 6 {
		return 0, fmt.Errorf("a job line has 1 to 6 fields, not %d", len(f))
	}
	if stages, err = count(f[0], "number of stages"); err == nil && stages == 0 {
		err = fmt.Errorf("number of stages: %w", ErrNoWork)
	}
	if len(f) == 1 { // the simulator then numbers the jobs
		for job.ID = len(p.seen) + 1; p.seen[job.ID]; {
			job.ID++
		}
	}
	if err == nil && len(f) > 1 {
		job.ID, err = count(f[1], "job id")
	}
	if err == nil && len(f) > 2 {
		job.Iterations, err = count(f[2], "iterations")
	}
	if err == nil && len(f) > 3 {
		if job.Arrival, err = strconv.ParseFloat(f[3], 64); err != nil || math.IsNaN(job.Arrival) || math.IsInf(job.Arrival, 0) {
			err = fmt.Errorf("arrival: %q is not a number", f[3])
		}
	}
	if len(f) > 4 {
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

func count(s, what string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || what != "job id" && n > most {
		return 0, fmt.Errorf("%s: %q is not a number from 0 to %d", what, s, most)
	}
	return n, nil
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
