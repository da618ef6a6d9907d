package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/foretime/foretime/allox-est/internal/progress"
	"github.com/foretime/foretime/shared/file"
)

// Errors of a journal.
var (
	// ErrLine is in a warning when a line is not a run.
	ErrLine = errors.New("not a run")
	// ErrTornLine is in a warning when the file ends in the middle of a line.
	ErrTornLine = errors.New("torn last line")
)

// Kinds of entries.
const (
	Sample = "sample" // a short run
	Full   = "full"   // the whole job
	Fresh  = "fresh"  // no run: the job's runs before it do not count
)

// Run is one run of a job. Times are in seconds.
type Run struct {
	Job     string `json:"job"` // hash of what was executed
	Name    string `json:"name"`
	Kind    string `json:"kind"`
	Device  string `json:"device"`
	Threads int    `json:"threads"` // of the CPU, as the job was given
	Epochs  int    `json:"epochs"`
	// Stage is the unit after which the run began, with a stage of the work.
	Stage int `json:"stage_from,omitempty"`
	// Asked is the number that the job was to do if it ended by itself after Epochs.
	Asked int `json:"asked_epochs,omitempty"`
	// Stopped says why allox-est ended the run after Epochs; its teardown is unknown.
	Stopped string `json:"stopped,omitempty"`
	// Timeout is the limit in seconds that ended the run; 0 if none did.
	Timeout float64   `json:"timeout_seconds,omitempty"`
	Start   time.Time `json:"start"`
	// Command and Dir are the words of a whole run's command and its working directory.
	Command []string `json:"command,omitempty"`
	Dir     string   `json:"dir,omitempty"`

	Identity

	Wall float64 `json:"wall_seconds"`
	CPU  float64 `json:"cpu_seconds"`
	Wait float64 `json:"wait_seconds"` // threads ready without a processor

	// Parallel is the mean number of threads that wanted a processor at a time; 0 if unknown.
	Parallel float64 `json:"parallel_threads,omitempty"`

	// Marks holds the times at which the job had done so many of Epochs, from its reports and
	// lines.
	Marks []progress.Mark `json:"marks,omitempty"`
	// Laps holds the wall times between the marks, see [progress.Laps]; for a report its own:
	// set-up, epochs, teardown. Empty if the job reports none.
	Laps []float64 `json:"laps,omitempty"`
	// Before and After are the wall times that the laps leave out: from the
	// start of the process to the first lap, and from the last to its end.
	Before float64 `json:"before_seconds,omitempty"`
	After  float64 `json:"after_seconds,omitempty"`
	// LapCPU and LapWait are CPU and Wait in each lap, Before and After
	// included in the first and the last.
	LapCPU  []float64 `json:"lap_cpu,omitempty"`
	LapWait []float64 `json:"lap_wait,omitempty"`

	PeakBytes int64 `json:"peak_bytes"`
	// GPUPeakBytes is the most by which memory in use on GPUs grew; 0 if that is not known.
	GPUPeakBytes int64   `json:"gpu_peak_bytes,omitempty"`
	Load         float64 `json:"load"` // load average over one minute at the start
	CPUs         int     `json:"cpus"` // processors of the machine

	Exit     int      `json:"exit"`             // exit code, as a shell shows it; -1 without one
	Signal   int      `json:"signal,omitempty"` // that ended the job
	Error    string   `json:"error,omitempty"`  // why the run cannot be used
	Stderr   string   `json:"stderr,omitempty"` // its end, of a run that failed
	Warnings []string `json:"warnings,omitempty"`
}

// Identity says where and with what a run was made.
type Identity struct {
	Host      string `json:"host,omitempty"`
	Processor string `json:"processor,omitempty"` // model
	Inputs    string `json:"inputs,omitempty"`    // digest of variables and files
}

// Differs says in what a run was made otherwise than now; empty if in nothing.
func (id Identity) Differs(now Identity) string {
	switch {
	case id.Host != now.Host || id.Processor != now.Processor:
		return "another machine"
	case id.Inputs != now.Inputs:
		return "other variables or files"
	}
	return ""
}

// Exclude takes the runs of a job for which there is a reason out of Runs. It returns the
// number of runs by reason, and the job's other runs. Failed samples after which one
// succeeded are in neither. The file keeps them all.
func (j *Journal) Exclude(job string, reason func(Run) string) (excluded map[string]int, left []Run) {
	j.excludeMended(job)
	excluded = map[string]int{}
	j.Runs = slices.DeleteFunc(j.Runs, func(r Run) bool {
		if r.Job != job {
			return false
		}
		why := reason(r)
		if why == "" {
			left = append(left, r)
			return false
		}
		excluded[why]++
		return true
	})
	return excluded, left
}

// Timeline returns the marks of a run: units done, which grow, and seconds since
// the start of its process. Laps[i] ends at mark i, the last one at the run's end.
// Of a run without marks they follow from the laps of its report; nil where there are
// none.
func (r *Run) Timeline() []progress.Mark {
	if len(r.Marks) > 0 || len(r.Laps) == 0 {
		return r.Marks
	}
	var marks []progress.Mark
	at := r.Before
	for i, lap := range r.Laps[:len(r.Laps)-1] {
		at += lap
		marks = append(marks, progress.Mark{Number: float64(i), Of: float64(r.Epochs), Seconds: at})
	}
	return marks
}

// HasFailed reports whether the run cannot be used.
func (r *Run) HasFailed() bool { return r.Error != "" }

// Journal is an open journal. It is not safe for concurrent use.
type Journal struct {
	// Runs holds those of the file, in order, and those appended since.
	Runs []Run
	// Warnings name the lines that could not be read.
	Warnings []error

	log *file.Log
}

// Open opens a journal to read it and add to it, and makes it if it does not
// exist. A torn last line is cut off. A file whose first line is not a run is
// left as it is: the error matches [file.ErrForeign]; it matches [file.ErrInUse]
// where another process has the journal open.
func Open(path string) (*Journal, error) {
	j := &Journal{}
	log, err := file.OpenLog(path, j.lines(path))
	if err != nil {
		return nil, err
	}
	j.log = log
	j.torn(path, log.Torn)
	if log.Unlocked != nil {
		j.Warnings = append(j.Warnings, log.Unlocked)
	}
	return j, nil
}

// Read reads a journal without opening it for more. A torn last line is left
// out.
func Read(path string) (*Journal, error) {
	j := &Journal{}
	torn, err := file.ReadLog(path, j.lines(path))
	if err != nil {
		return nil, err
	}
	j.torn(path, torn)
	return j, nil
}

// lines takes each line as a run. One that is none, after the first, is left
// where it is, with a warning.
func (j *Journal) lines(path string) file.Lines {
	number := 0
	return file.Lines{
		Begin: `{"job":"`,
		Start: func(first []byte) error {
			_, err := parse(first)
			return err
		},
		Read: func(line []byte) error {
			number++
			if len(bytes.TrimSpace(line)) == 0 {
				return nil
			}
			run, err := parse(line)
			if err != nil {
				j.Warnings = append(j.Warnings, fmt.Errorf("%s:%d: %w: %w", path, number, ErrLine, err))
				return nil
			}
			j.take(run)
			return nil
		},
	}
}

func (j *Journal) torn(path string, bytes int) {
	if bytes > 0 {
		j.Warnings = append(j.Warnings, fmt.Errorf("%s: %w (%d bytes)", path, ErrTornLine, bytes))
	}
}

// parse reads one line.
func parse(line []byte) (Run, error) {
	var run Run
	if err := json.Unmarshal(line, &run); err != nil {
		return run, err
	}
	if run.Job == "" {
		return run, errors.New("no job")
	}
	return run, nil
}

// Append adds an entry and returns when it is on the disk.
func (j *Journal) Append(r Run) error {
	if err := j.log.AppendJSON(r); err != nil {
		return err
	}
	j.take(r)
	return nil
}

// take adds a run, or leaves out those that do not count from an entry on.
func (j *Journal) take(r Run) {
	if r.Kind == Fresh {
		j.Runs = slices.DeleteFunc(j.Runs, func(old Run) bool { return old.Job == r.Job })
		return
	}
	j.Runs = append(j.Runs, r)
}

// excludeMended takes the failed samples of a job out of Runs after which one succeeded.
func (j *Journal) excludeMended(job string) {
	good := slices.DeleteFunc(j.Of(job, Sample), func(r Run) bool { return r.HasFailed() })
	j.Runs = slices.DeleteFunc(j.Runs, func(r Run) bool {
		return r.Job == job && r.Kind == Sample && r.HasFailed() && len(good) > 0 && r.Start.Before(good[len(good)-1].Start)
	})
}

// Add appends a run to the journal at a path. If another process has that one open, the run
// goes to a journal of its own next to it, named after the time; used is its path.
func Add(path string, r Run) (used string, err error) {
	j, err := Open(path)
	if errors.Is(err, file.ErrInUse) {
		ext := filepath.Ext(path)
		path = strings.TrimSuffix(path, ext) + r.Start.Local().Format("-20060102-150405") + ext
		j, err = Open(path)
	}
	if err != nil {
		return path, err
	}
	return path, errors.Join(j.Append(r), j.Close())
}

// ReadAll reads a journal and those that Add has put next to it. Without any there are no
// runs.
func ReadAll(path string) (*Journal, error) {
	all := &Journal{}
	ext := filepath.Ext(path)
	others, _ := filepath.Glob(strings.TrimSuffix(path, ext) + "-[0-9]*-[0-9]*" + ext)
	for _, name := range append(others, path) {
		j, err := Read(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		all.Runs, all.Warnings = append(all.Runs, j.Runs...), append(all.Warnings, j.Warnings...)
	}
	return all, nil
}

// Of returns the runs of one kind of a job, in order.
func (j *Journal) Of(job, kind string) []Run {
	var runs []Run
	for _, r := range j.Runs {
		if r.Job == job && r.Kind == kind {
			runs = append(runs, r)
		}
	}
	return runs
}

// Close releases the file.
func (j *Journal) Close() error { return j.log.Close() }
