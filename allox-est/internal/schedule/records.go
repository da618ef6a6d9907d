package schedule

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// readRecords reads a record file of the AlloX simulator. A record is four lines: "# ID";
// stages, name, iterations, arrival and, not always, queue and session; the stage; the
// number of its edges. The queue is the user, % begins a comment. A job of several stages
// or with edges, and a record that is cut short, is a diagnostic.
func readRecords(r io.Reader, file string) (*Workload, error) {
	w := &Workload{}
	var record []string
	begin, line := 0, 0
	end := func() {
		if begin > 0 {
			job, err := parseRecord(record)
			w.add(job, err, file, begin)
		}
	}
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		line++
		text := strings.TrimSpace(lines.Text())
		switch {
		case text == "" || text[0] == '%':
		case text[0] == '#':
			end()
			record, begin = nil, line
		case begin == 0:
			return nil, fmt.Errorf("%s:%d: %.40q before the first record", file, line, text)
		default:
			record = append(record, text)
		}
	}
	end()
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", file, line+1, err)
	}
	return w, nil
}

// errRecord is returned for lines that are not a job of one stage.
var errRecord = errors.New("want a job line, one stage and 0 edges after \"# ID\"")

// parseRecord returns the job of a record's lines after the first. The fields of a stage are
// its name, duration, then per device an amount, memory and seconds, the number of tasks and,
// not always, the relative errors of the estimates.
func parseRecord(lines []string) (r Record, err error) {
	if len(lines) != 3 {
		return r, fmt.Errorf("%w; there are %d lines", errRecord, len(lines))
	}
	job, stage := strings.Fields(lines[0]), strings.Fields(lines[1])
	switch {
	case len(job) < 4 || len(job) > 6:
		return r, fmt.Errorf("%w; the job has %d fields, want 4 to 6", errRecord, len(job))
	case job[0] != "1" || lines[2] != "0":
		return r, fmt.Errorf("%w; it has %s stages and %s edges", errRecord, job[0], lines[2])
	case len(stage) != 9 && len(stage) != 11:
		return r, fmt.Errorf("%w; the stage has %d fields, want 9 or 11", errRecord, len(stage))
	}
	number := func(what, text string) float64 {
		x, bad := strconv.ParseFloat(text, 64)
		if bad != nil && err == nil {
			err = fmt.Errorf("%s: %q is not a number", what, text)
		}
		return x
	}
	r = Record{Name: job[1], Arrival: number("arrival", job[3]), Actual: [Devices]float64{number("CPU seconds", stage[4]), number("GPU seconds", stage[7])}}
	if len(job) > 4 {
		r.User = job[4]
	}
	r.Reported = r.Actual
	if len(stage) == 11 {
		r.Reported[CPU] *= 1 + number("CPU error", stage[9])
		r.Reported[GPU] *= 1 + number("GPU error", stage[10])
	}
	return r, err
}
