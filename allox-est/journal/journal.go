package journal

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"
)

// Errors of a journal.
var (
	// ErrInUse is returned when another process has the journal open.
	ErrInUse = errors.New("journal is in use")
	// ErrLine is in a warning when a line is not a run.
	ErrLine = errors.New("not a run")
	// ErrTornLine is in a warning when the file ends in the middle of a line.
	ErrTornLine = errors.New("torn last line")
)

// Kinds of runs.
const (
	Sample = "sample" // a short run
	Full   = "full"   // the whole job
)

// Run is one run of a job. Times are in seconds.
type Run struct {
	Job     string    `json:"job"` // hash of what was executed
	Name    string    `json:"name"`
	Kind    string    `json:"kind"` // Sample or Full
	Device  string    `json:"device"`
	Threads int       `json:"threads"` // of the CPU, as the job was told
	Epochs  int       `json:"epochs"`
	Start   time.Time `json:"start"`

	Wall float64 `json:"wall_seconds"`
	CPU  float64 `json:"cpu_seconds"`
	Wait float64 `json:"wait_seconds"` // threads ready without a processor

	// Laps are the wall times that the job told: set-up, epochs, teardown.
	// Empty where it does not tell.
	Laps []float64 `json:"laps,omitempty"`
	// Before and After are the wall times that the laps leave out: from the
	// start of the process to the first lap, and from the last to its end.
	Before float64 `json:"before_seconds,omitempty"`
	After  float64 `json:"after_seconds,omitempty"`
	// LapCPU and LapWait are CPU and Wait in each lap, Before and After
	// included in the first and the last.
	LapCPU  []float64 `json:"lap_cpu,omitempty"`
	LapWait []float64 `json:"lap_wait,omitempty"`
	// Gap is the mean time between the readings of CPU and Wait that were cut
	// at the laps; 0 in older journals. On a busy machine they come late.
	Gap float64 `json:"gap_seconds,omitempty"`
	// FirstEpoch is the number, from 1, of the epoch in the second lap; 0
	// means 1. Epochs that no lap of their own tells are in the first or the
	// last lap.
	FirstEpoch int `json:"first_epoch,omitempty"`

	// Yardstick is the processor time of a fixed piece of work, done beside the
	// run again and again on the processor that it used: the speed it had.
	// LapYardstick is its mean in each lap, 0 where there was no reading.
	// YardstickWork names the work: only readings of the same work compare.
	// Older journals name none; their work was done before, during and after
	// the run on any processor.
	Yardstick     []float64 `json:"yardstick,omitempty"`
	LapYardstick  []float64 `json:"lap_yardstick,omitempty"`
	YardstickWork string    `json:"yardstick_work,omitempty"`
	PeakBytes     int64     `json:"peak_bytes"`
	Load          float64   `json:"load"` // load average over one minute at the start
	CPUs          int       `json:"cpus"` // processors of the machine

	Exit   int    `json:"exit"`             // exit code; -1 if killed
	Error  string `json:"error,omitempty"`  // why the run cannot be used
	Stderr string `json:"stderr,omitempty"` // its end, of a run that failed
	// Unavailable says that it failed because the machine has no such device.
	Unavailable bool     `json:"unavailable,omitempty"`
	Warnings    []string `json:"warnings,omitempty"`
}

// Key says which runs stand for the same execution.
type Key struct{ Job, Device string }

// Failed says that the run cannot be used.
func (r *Run) Failed() bool { return r.Error != "" }

// Journal is an open journal. It is not safe for concurrent use.
type Journal struct {
	// Runs are those of the file, in order, and those appended since.
	Runs []Run
	// Warnings name the lines that could not be read.
	Warnings []error

	f *os.File
}

// Open opens a journal to read it and add to it, and makes it if it does not
// exist. A torn last line is cut off.
func Open(path string) (*Journal, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, ErrInUse)
	}
	j := &Journal{f: f}
	end, err := j.read(f, path)
	if err == nil {
		err = f.Truncate(end)
	}
	if err == nil {
		_, err = f.Seek(end, io.SeekStart)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return j, nil
}

// Read reads a journal without opening it for more. A torn last line is left
// out.
func Read(path string) (*Journal, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	j := &Journal{}
	if _, err := j.read(f, path); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return j, nil
}

// read takes all whole lines and returns where the last one ends.
func (j *Journal) read(r io.Reader, name string) (end int64, err error) {
	in := bufio.NewReader(r)
	for line := 1; ; line++ {
		b, err := in.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return end, err
		}
		if err == io.EOF {
			if len(b) > 0 {
				j.Warnings = append(j.Warnings, fmt.Errorf("%s:%d: %w", name, line, ErrTornLine))
			}
			return end, nil
		}
		end += int64(len(b))
		if b = bytes.TrimSpace(b); len(b) == 0 {
			continue
		}
		var run Run
		err = json.Unmarshal(b, &run)
		if err == nil && run.Job == "" {
			err = errors.New("no job")
		}
		if err != nil {
			j.Warnings = append(j.Warnings, fmt.Errorf("%s:%d: %w: %w", name, line, ErrLine, err))
			continue
		}
		j.Runs = append(j.Runs, run)
	}
}

// Append adds a run and returns when it is on the disk.
func (j *Journal) Append(r Run) error {
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if _, err := j.f.Write(append(b, '\n')); err != nil {
		return err
	}
	if err := j.f.Sync(); err != nil {
		return err
	}
	j.Runs = append(j.Runs, r)
	return nil
}

// Of returns the runs of one kind and key, in order.
func (j *Journal) Of(k Key, kind string) []Run {
	var runs []Run
	for _, r := range j.Runs {
		if r.Job == k.Job && r.Device == k.Device && r.Kind == kind {
			runs = append(runs, r)
		}
	}
	return runs
}

// Close releases the file.
func (j *Journal) Close() error { return j.f.Close() }
