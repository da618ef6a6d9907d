package summary

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"time"

	"github.com/foretime/foretime/chamtool/internal/event"
	"github.com/foretime/foretime/chamtool/internal/task"
	"github.com/foretime/foretime/shared/file"
	"github.com/foretime/foretime/shared/plural"
)

// Summary holds the counts and prediction errors of a rank's run.
type Summary struct {
	Rank       int      `json:"rank"`
	Ranks      int      `json:"ranks"`
	Dialect    string   `json:"dialect"`
	Program    string   `json:"program"` // name of its file
	Host       string   `json:"host"`
	Began      string   `json:"began"`           // RFC 3339
	Complete   bool     `json:"complete"`        // the run came to its end
	Signal     bool     `json:"ended_by_signal"` // the tool wrote this when a signal or MPI_Abort ended the program
	RunSeconds float64  `json:"run_seconds"`
	Early      Early    `json:"early"`
	Processors int      `json:"processors"`           // that the program may use; 0 if unknown
	Online     int      `json:"processors_online"`    // of the machine; 0 if unknown
	Others     *float64 `json:"processors_of_others"` // mean number that other programs kept busy during the run; nil if unknown
	Iterations int      `json:"iterations"`
	task.Counts

	TooShort  int      `json:"too_short"` // runs that began and ended at one reading of the clock: neither learned from nor scored
	Predicted int      `json:"predicted"`
	MAPE      *float64 `json:"mape_percent"`
	MedianAPE *float64 `json:"median_ape_percent"`

	Callbacks      *float64   `json:"callback_seconds"`      // of all threads; nil if the dialect does not measure them
	StartAndEnd    float64    `json:"start_and_end_seconds"` // in which the program waited for the tool; not in RunSeconds
	ToolCPUSeconds float64    `json:"tool_cpu_seconds"`      // reading, learning and writing; the callbacks themselves are not in it
	CPUSeconds     float64    `json:"cpu_seconds"`           // of the whole process with the tool; 0 if unknown
	ToolCPUPercent float64    `json:"tool_cpu_percent"`      // of the CPU time of the tasks
	TaskSeconds    float64    `json:"task_seconds"`
	RowsLost       int        `json:"rows_lost"` // log rows that could not be written
	Unlogged       *Unlogged  `json:"unlogged"`  // nil if the log holds all rows
	Depths         []Depth    `json:"depths"`    // of all tasks, from 1: those that no task created; the last one has all deeper ones
	Graph          *Graph     `json:"graph"`     // nil if unknown
	Critical       []PathPart `json:"critical_path"`

	Times    []PlaceTime `json:"times"`  // of the threads, by kind and place; empty if the runtime reports none
	Rounds   []Round     `json:"rounds"` // the iterations, of 20,000 at most
	Warnings []string    `json:"warnings"`
}

// Early holds the time from the loading of the tool to the first use of OpenMP.
type Early struct {
	Seconds float64 `json:"seconds"` // outside of MPI
	CPU     float64 `json:"cpu_seconds"`
	Calls   int     `json:"mpi_calls"`
}

// FirstRegion is the place of the serial work before the first use of OpenMP.
const FirstRegion = "the first region"

// AddEarly adds what was before the first use of OpenMP to the times of the first thread.
func (s *Summary) AddEarly(e Early) {
	s.Early = e
	if s.Graph != nil {
		s.addSerial(e.Seconds)
	}
	if len(s.Times) == 0 {
		return
	}
	s.Times = append(s.Times, PlaceTime{Kind: event.Serial.String(), Place: FirstRegion, Count: 1, Seconds: e.Seconds, Stopped: max(0, e.Seconds-e.CPU)})
	if e.Calls > 0 { // in which the other ranks' waiting is unknown, and no loss
		s.Times = append(s.Times, PlaceTime{Kind: event.InMPIAlone.String(), Count: e.Calls})
	}
}

// addSerial adds serial work to the graph of tasks.
func (s *Summary) addSerial(seconds float64) {
	s.Graph.Work += seconds
	s.Graph.Span += seconds
	i := slices.IndexFunc(s.Critical, func(p PathPart) bool { return p.Function == Outside })
	if i < 0 {
		i = len(s.Critical)
		s.Critical = append(s.Critical, PathPart{Function: Outside})
	}
	s.Critical[i].Seconds += seconds
	slices.SortStableFunc(s.Critical, func(a, b PathPart) int { return cmp.Compare(b.Seconds, a.Seconds) })
}

// AddWait adds the time in which the program waited for the tool's start and end, and takes the
// part of it that the run contains out of the run.
func (s *Summary) AddWait(all, within time.Duration) {
	s.StartAndEnd = all.Seconds()
	s.RunSeconds = max(0, s.RunSeconds-within.Seconds())
}

// Depth counts the tasks that as many others created one by the other.
type Depth struct {
	Tasks int     `json:"tasks"`
	Work  float64 `json:"work"` // seconds, without those of the tasks that ran within
}

// PlaceTime is the time of one kind that a thread spent at a place.
type PlaceTime struct {
	Lane    int     `json:"thread"`
	Kind    string  `json:"kind"`  // that of event.TimeKind
	Place   string  `json:"place"` // of the region, the wait or the call; "" sums up those beyond the first 120
	Count   int     `json:"count"`
	Seconds float64 `json:"seconds"`
	Stopped float64 `json:"stopped_seconds,omitempty"` // of computing: without a processor, or in the system
	Loop    bool    `json:"loop,omitempty"`            // the region has a work-sharing loop
	Dynamic bool    `json:"dynamic,omitempty"`         // with a schedule that is not static
	Single  bool    `json:"single,omitempty"`          // it has a single construct
}

// Graph holds times of the graph of tasks, in seconds.
type Graph struct {
	Work float64 `json:"work"` // in tasks, and in regions outside of waits
	Span float64 `json:"span"` // longest chain of work in which each part waits for the one before
	Lost uint64  `json:"lost"` // dependences without memory: the span is at least as long
}

// PathPart is the part of the longest chain of work that belongs to one function.
type PathPart struct {
	Function string  `json:"function"` // or Outside, or Others
	Seconds  float64 `json:"seconds"`
}

// Names of parts that belong to no function.
const (
	Outside = "outside of tasks"
	Others  = "functions after the first eight"
)

// Round is one iteration of a rank. It begins when the one before ends.
type Round struct {
	Created  int     `json:"created"`         // tasks
	Sent     int     `json:"sent"`            // of the tasks created in it, those sent to other ranks
	Waiting  float64 `json:"waiting_seconds"` // of all threads, in taskwaits and barriers
	End      float64 `json:"end_seconds"`     // since the tool started
	Unlogged *Tasks  `json:"unlogged,omitempty"`
}

// Unlogged holds the tasks that the log has no rows of, since it reached its limit or they came
// faster than they were read.
type Unlogged struct {
	Tasks
	Functions map[string]*Tasks `json:"functions"`
}

// Tasks counts runs of tasks.
type Tasks struct {
	Count   int     `json:"tasks"`
	Remote  int     `json:"remote"` // of them, created by another rank
	Seconds float64 `json:"seconds"`
	Longest float64 `json:"longest_seconds"`
}

// Add adds other tasks.
func (t *Tasks) Add(more Tasks) {
	t.Count += more.Count
	t.Remote += more.Remote
	t.Seconds += more.Seconds
	t.Longest = max(t.Longest, more.Longest)
}

// AddTo adds tasks to those of a function.
func (b *Unlogged) AddTo(function string, more Tasks) {
	if b.Functions == nil {
		b.Functions = map[string]*Tasks{}
	}
	if b.Functions[function] == nil {
		b.Functions[function] = &Tasks{}
	}
	b.Functions[function].Add(more)
	b.Add(more)
}

// NewFigure returns v, or nil where it is not a finite number.
func NewFigure(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// Score copies the figures of e.
func (s *Summary) Score(e *Errors) {
	s.Predicted = e.Count()
	s.MAPE = NewFigure(e.MAPE())
	s.MedianAPE = NewFigure(e.MedianAPE())
}

// Write writes the summary as indented JSON.
func (s *Summary) Write(w io.Writer) error { return file.EncodeJSON(w, s) }

// Short returns the line that a user sees at the end of a run.
func (s *Summary) Short() string {
	switch {
	case s.Ended == 0 && s.Dropped == 0:
		return "no tasks: the program created none that the tool can see"
	case s.MedianAPE == nil:
		return plural.Count(int(s.Ended), "task") + ", none predicted" + s.lacking()
	}
	return fmt.Sprintf("%s, %d predicted with a median error of %.3g %%%s", plural.Count(int(s.Ended), "task"), s.Predicted, *s.MedianAPE, s.lacking())
}

// lacking names the tasks that the log or the counts do not contain.
func (s *Summary) lacking() string {
	text := ""
	if s.Dropped > 0 && s.Dialect == event.OpenMP.String() {
		text = fmt.Sprintf("; %s of waits and dependences dropped (CHAMTOOL_RING_SLOTS makes the rings larger)", plural.Count(int(s.Dropped), "event"))
	} else if s.Dropped > 0 {
		text = fmt.Sprintf("; %s dropped, so tasks are missing in every count (CHAMTOOL_RING_SLOTS makes the rings larger)", plural.Count(int(s.Dropped), "event"))
	}
	if s.Unread > 0 {
		text += fmt.Sprintf("; %s only counted by function, since they came faster than they were read (CHAMTOOL_RING_SLOTS makes the rings larger)", plural.Count(int(s.Unread), "task"))
	}
	if s.RowsLost > 0 {
		text += fmt.Sprintf("; %s could not be written, so the log is incomplete", plural.Count(s.RowsLost, "row"))
	}
	if s.Incomplete > 0 && s.Dropped == 0 {
		text += fmt.Sprintf("; the creation, beginning or end of %s is missing", plural.Count(int(s.Incomplete), "task"))
	}
	if s.Cancelled > 0 {
		text += fmt.Sprintf("; %s cancelled before they began", plural.Count(int(s.Cancelled), "task"))
	}
	if n := s.Open(); n > 0 {
		text += fmt.Sprintf("; %s did not end", plural.Count(int(n), "task"))
	}
	if n := s.overLimit(); n > 0 {
		text += fmt.Sprintf("; %s only counted by function, since the log is at its limit (CHAMTOOL_LOG_MEGABYTES)", plural.Count(n, "task"))
	}
	return text
}

// Open returns the number of tasks that did not end. A rank of Chameleon gives tasks away.
func (s *Summary) Open() uint64 {
	if s.Dialect != event.OpenMP.String() {
		return 0
	}
	return s.Created - min(s.Created, s.Ended+s.Cancelled)
}

// overLimit returns the number of tasks that the log had no room for.
func (s *Summary) overLimit() int {
	if s.Unlogged == nil {
		return 0
	}
	return s.Unlogged.Count - int(s.Unread)
}

// Read reads a rank's summary.
func Read(path string) (*Summary, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var s Summary
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &s, nil
}

// FileName returns the name of a rank's summary file.
func FileName(rank int) string { return fmt.Sprintf("chamtool_summary_rank_%d.json", rank) }
