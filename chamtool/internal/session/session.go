package session

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/foretime/foretime/chamtool/internal/config"
	"github.com/foretime/foretime/chamtool/internal/event"
	"github.com/foretime/foretime/chamtool/internal/forecast"
	"github.com/foretime/foretime/chamtool/internal/perfmodel"
	"github.com/foretime/foretime/chamtool/internal/summary"
	"github.com/foretime/foretime/chamtool/internal/task"
)

// Options holds the inputs of a session.
type Options struct {
	Config      *config.Config
	Rank, Ranks int
	Dialect     event.Dialect
	Model       *perfmodel.Model // nil learns from nothing

	// Rings returns the rings of the program's threads; new ones are appended. It is called
	// by one goroutine at a time.
	Rings func() []*event.Ring
	// Clock reads the ticks of the events and nanoseconds at one moment.
	Clock func() (ticks, ns uint64)
	// CPUTime is the CPU time of the calling thread; nil measures nothing.
	CPUTime func() time.Duration
	// Symbol names the function at an address, and the build of the program that
	// it is in; nil names it by the address.
	Symbol func(address uint64) (name, build string)
	// Body names the construct whose body the function at an address is, and the build; "" if
	// the function has none. Nil names no construct.
	Body func(address uint64) (name, build string)
	// Times returns the times of a ring's thread; nil knows none.
	Times func(r *event.Ring) []event.PlaceTime
	// Graph returns the graph of tasks so far; known is false without tasks. Nil knows none.
	Graph func() (g event.Graph, known bool)
	// OnRun is called with every run and its prediction, which has no value if nothing was known
	// yet; nil is not called.
	OnRun func(token uint64, predicted perfmodel.Prediction, r task.Run)
	// Create opens a log for writing; nil writes none.
	Create func(name string) (io.WriteCloser, error)
}

// Session is the online path of one rank. Its methods may be called from many
// goroutines; one at a time does the work.
type Session struct {
	mu                 sync.Mutex
	options            Options
	clock              task.Clock
	tracker            *task.Tracker[TaskState]
	model              *perfmodel.Model
	byEntry            map[uint64]*function
	bodies             map[body]*function
	lastFunction       *function // the last one looked up, at lastAddress
	lastAddress        uint64
	byName             map[string]*function
	placeNames         map[uint64]string
	order              []*function
	logs               []*logFile
	frequencies        event.Frequencies
	errors             summary.Errors
	loads              []float64       // of the iterations under way, from number rounds on
	history            []float64       // loads of complete iterations, in order
	patchedLoads       map[int]float64 // loads of iterations from the patched library
	announced          []TaskState     // tasks of the iteration under way, patched library only
	announcedIteration int             // that iteration
	runs               int             // runs
	tooShort           int             // of them, runs that began and ended at one reading of the clock
	bodySeconds        float64         // in task bodies
	cpu                time.Duration
	rounds             int
	roundSummaries     []summary.Round   // of the iterations, as far as they are distinguished
	unlisted           summary.Round     // of all further iterations
	unlogged           *summary.Unlogged // runs that the first log has no room for, or that came faster than they were read
	unread             []unreadRing      // by ring
	rings              []*event.Ring     // of the last drain
	warnings           []string
	closed             bool
}

// TaskState holds a session's state of a task.
type TaskState struct {
	function  *function
	footprint *perfmodel.Footprint
	predicted perfmodel.Prediction // before it started; without a value where nothing was
}

// body is a construct and the function that a compiler made of it.
type body struct{ entry, address uint64 }

// function is a task function.
type function struct {
	name   string
	entry  *perfmodel.Entry
	text   []byte
	varied variedSizes // of its tasks' integers, where the program speaks OpenMP
}

// texts holds the logs' texts of a footprint: its sizes in each log, and the last
// prediction, which many runs share.
type texts struct {
	sizes            [2][]byte
	value, low, high float64
	predicted        []byte
}

type logFile struct {
	name   string
	format task.Format
	file   io.WriteCloser
	w      *task.Writer
}

// New returns a session. It opens the logs; one that cannot be opened is a
// warning.
func New(o Options) *Session {
	s := &Session{options: o, model: o.Model, byEntry: map[uint64]*function{}, bodies: map[body]*function{}, byName: map[string]*function{}, placeNames: map[uint64]string{}, patchedLoads: map[int]float64{}}
	if s.model == nil {
		s.model = perfmodel.New(perfmodel.Auto)
	}
	s.tracker = task.NewTracker[TaskState]((*observer)(s), &s.clock)
	s.clock.Show(o.Clock())
	if o.Create == nil {
		return s
	}
	for _, format := range o.Config.LogFormats {
		s.open(task.Format(format))
	}
	return s
}

// LogName returns the name of a rank's log in a format.
func LogName(rank int, format task.Format) string {
	if format == task.FormatTab {
		return fmt.Sprintf("chamtool_logfile_rank_%d.csv", rank) // the original tool's name
	}
	return fmt.Sprintf("chamtool_rank_%d.csv", rank)
}

func (s *Session) open(format task.Format) {
	name := LogName(s.options.Rank, format)
	f, err := s.options.Create(name)
	if err != nil {
		s.warn(fmt.Errorf("no log: %w", err))
		return
	}
	w := task.NewWriter(f, format)
	w.SetLimit(s.options.Config.LogMegabytes * 1_000_000)
	s.logs = append(s.logs, &logFile{name, format, f, w})
}

func (s *Session) warn(err error) {
	if len(s.warnings) < 100 {
		s.warnings = append(s.warnings, err.Error())
	}
}

// Warn adds a warning to the summary.
func (s *Session) Warn(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.warn(err)
}

// Drain takes every event that the rings hold and returns how many.
func (s *Session) Drain() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.drain()
}

func (s *Session) drain() int {
	if s.closed {
		return 0
	}
	defer s.spend()()
	ticks, ns := s.options.Clock()
	s.clock.Show(ticks, ns)
	if !s.clock.Ready() {
		return 0 // its rate is known in a moment
	}
	cut := uint64(math.MaxUint64)
	if s.options.Dialect == event.OpenMP {
		cut = ticks
	}
	s.rings = s.options.Rings()
	events := s.tracker.Drain(s.rings, cut)
	s.countUnread()
	return events
}

// spend adds the CPU time until the returned function is called.
func (s *Session) spend() func() {
	if s.options.CPUTime == nil {
		return func() {}
	}
	before := s.options.CPUTime()
	return func() { s.cpu += max(0, s.options.CPUTime()-before) }
}

// Flush writes what is buffered of the logs.
func (s *Session) Flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.spend()()
	s.flush()
}

func (s *Session) flush() {
	for _, l := range s.logs {
		if err := l.w.Flush(); err != nil {
			s.warn(fmt.Errorf("the log is incomplete: %w", err))
		}
	}
}

// SetFrequency gives the session the core frequencies of about now.
func (s *Session) SetFrequency(f event.Frequencies) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.frequencies = f
}

// TakeLearned returns what the session's models learned since the last call, with the time now.
func (s *Session) TakeLearned(now time.Time) *perfmodel.Store {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.spend()()
	return s.model.TakeRuns(now)
}

// Summary returns the summary of the run so far.
func (s *Session) Summary() *summary.Summary {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.spend()()
	return s.summary()
}

// Close ends the last iterations, closes the logs and adds up.
func (s *Session) Close() *summary.Summary {
	s.mu.Lock()
	defer s.mu.Unlock()
	done := s.spend()
	s.tracker.Finish()
	s.iterationLines()
	s.flush()
	for _, l := range s.logs {
		if err := l.file.Close(); err != nil {
			s.warn(fmt.Errorf("%s: %w", filepath.Base(l.name), err))
		}
	}
	done()
	s.closed = true
	out := s.summary()
	out.Complete = true
	return out
}

// iterationLines ends a log in the tab layout as the original tool does: with the load of each
// iteration that has tasks, and its forecast from those before, 0 for the first two.
func (s *Session) iterationLines() {
	loads := slices.DeleteFunc(slices.Clone(s.history), func(load float64) bool { return load == 0 })
	forecasts := make([]float64, len(loads))
	if review, err := forecast.NewReview(loads); err == nil {
		for i, p := range review.Forecasts {
			forecasts[i+2] = p.Value
		}
	}
	for i, load := range loads {
		for _, l := range s.logs {
			l.w.Iteration(load, forecasts[i])
		}
	}
}

func (s *Session) summary() *summary.Summary {
	ticks, _ := s.options.Clock()
	out := &summary.Summary{
		Rank: s.options.Rank, Ranks: s.options.Ranks, Dialect: s.options.Dialect.String(),
		RunSeconds: s.clock.Seconds(ticks), Iterations: s.rounds, Counts: s.tracker.Counts(),
		TooShort: s.tooShort, ToolCPUSeconds: s.cpu.Seconds(), TaskSeconds: s.bodySeconds, Warnings: slices.Clone(s.warnings),
	}
	s.addGraph(out)
	out.Times = s.times()
	if s.options.Dialect == event.OpenMP {
		callbacks := uint64(0)
		for _, r := range s.rings {
			callbacks += r.CallbackTicks()
		}
		out.Depths = s.depths()
		out.Callbacks = summary.NewFigure(s.clock.Between(0, callbacks))
	}
	out.Score(&s.errors)
	if s.bodySeconds > 0 {
		out.ToolCPUPercent = 100 * s.cpu.Seconds() / s.bodySeconds
	}
	for _, l := range s.logs {
		out.RowsLost += l.w.Lost()
	}
	out.Rounds, out.Unlogged = slices.Clone(s.roundSummaries[:min(s.rounds, len(s.roundSummaries))]), s.unlogged
	for _, f := range s.order {
		if f.entry.HasDroppedKept() {
			out.Warnings = append(out.Warnings, f.name+": dropped the runs kept from earlier programs, since they predicted badly")
		}
	}
	return out
}

// depths returns the tasks by their depth, down to the deepest.
func (s *Session) depths() (depths []summary.Depth) {
	for depth := 1; depth < event.Depths; depth++ {
		var d summary.Depth
		for _, r := range s.rings {
			tasks, ticks := r.Depth(depth)
			d.Tasks += int(tasks)
			d.Work += s.clock.Between(0, ticks)
		}
		if d.Tasks == 0 {
			return depths
		}
		depths = append(depths, d)
	}
	return depths
}

// times returns the times of the threads by kind and place.
func (s *Session) times() (times []summary.PlaceTime) {
	if s.options.Times == nil {
		return nil
	}
	for _, r := range s.rings {
		for _, t := range s.options.Times(r) {
			name := ""
			if t.Place != 0 {
				name = s.nameOf(t.Place)
			}
			times = append(times, summary.PlaceTime{
				Lane: r.Lane(), Kind: t.Kind.String(), Place: name, Count: int(t.Count), Seconds: s.clock.Between(0, t.Ticks),
				Stopped: max(0, s.clock.Between(0, t.Measured)-float64(t.CPU)/1e9),
				Loop:    t.Work&event.WorkLoops != 0, Dynamic: t.Work&event.WorkDynamic != 0, Single: t.Work&event.WorkSingle != 0,
			})
		}
	}
	return times
}

// addGraph adds the graph of tasks and its critical path, longest part first, unless parts of
// tasks are missing or tasks did not end.
func (s *Session) addGraph(out *summary.Summary) {
	if s.options.Graph == nil {
		return
	}
	g, known := s.options.Graph()
	if !known || out.Incomplete > 0 || out.Open() > 0 {
		return
	}
	out.Graph = &summary.Graph{Work: s.clock.Between(0, g.Work), Span: s.clock.Between(0, g.Span), Lost: g.Lost}
	out.Critical = s.criticalPath(g.Parts)
}

// criticalPath returns the parts of a path by function, longest part first.
func (s *Session) criticalPath(path []event.PathPart) []summary.PathPart {
	var parts []summary.PathPart
	for _, p := range path {
		name := summary.Others
		switch {
		case p.Outside:
			name = summary.Outside
		case p.Place != 0:
			name = s.function(p.Place).name
		}
		i := slices.IndexFunc(parts, func(part summary.PathPart) bool { return part.Function == name })
		if i < 0 { // two constructs may have the same line
			i, parts = len(parts), append(parts, summary.PathPart{Function: name})
		}
		parts[i].Seconds += s.clock.Between(0, p.Ticks)
	}
	slices.SortStableFunc(parts, func(a, b summary.PathPart) int { return cmp.Compare(b.Seconds, a.Seconds) })
	return parts
}

// function returns the task function at an address.
func (s *Session) function(address uint64) *function {
	if s.lastFunction != nil && s.lastAddress == address {
		return s.lastFunction
	}
	f := s.byEntry[address]
	if f == nil {
		f = s.newFunction(address)
	}
	s.lastFunction, s.lastAddress = f, address
	return f
}

// nameOf returns the name of a place, which is that of no function of tasks.
func (s *Session) nameOf(place uint64) string {
	name, known := s.placeNames[place]
	if !known {
		name, _ = s.symbol(place)
		s.placeNames[place] = name
	}
	return name
}

// symbol returns the name of an address, and the build of the program that it is in.
func (s *Session) symbol(address uint64) (name, build string) {
	if s.options.Symbol != nil {
		if name, build = s.options.Symbol(address); name != "" {
			return name, build
		}
	}
	return fmt.Sprintf("%#x", address), ""
}

func (s *Session) newFunction(address uint64) *function {
	name, build := s.symbol(address)
	key := perfmodel.Key(name, build)
	f := s.functionNamed(key, name)
	s.byEntry[address] = f
	return f
}

// functionNamed returns the function of a name, or adds it.
func (s *Session) functionNamed(key, name string) *function {
	f := s.byName[key]
	if f == nil {
		f = &function{name: name, entry: s.model.Entry(key), text: task.EntryText(name)}
		f.entry.Hold(s.rounds < s.options.Config.FirstFitRounds)
		s.byName[key] = f
		s.order = append(s.order, f)
	}
	return f
}

// functionOf returns the function of a task. The return addresses of several constructs may have
// one line; the functions that gcc makes of them have lines of their own.
func (s *Session) functionOf(t *task.Task[TaskState]) *function {
	if t.Body == 0 || s.options.Body == nil {
		return s.function(t.Entry)
	}
	b := body{t.Entry, t.Body}
	f := s.bodies[b]
	if f != nil {
		return f
	}
	if name, build := s.options.Body(t.Body); name != "" {
		f = s.functionNamed(perfmodel.Key(name, build), name)
		s.byEntry[t.Entry] = f
		s.lastFunction = nil
	} else {
		f = s.function(t.Entry)
	}
	s.bodies[b] = f
	return f
}
