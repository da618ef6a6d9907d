package main

// #cgo CFLAGS: -O2 -std=gnu11 -Wall
// #cgo LDFLAGS: -ldl -lpthread
// #include <stdlib.h>
// #include "tool.h"
import "C"

import (
	"errors"
	"fmt"
	"io"
	"math/bits"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/foretime/foretime/chamtool/internal/config"
	"github.com/foretime/foretime/chamtool/internal/event"
	"github.com/foretime/foretime/chamtool/internal/job"
	"github.com/foretime/foretime/chamtool/internal/session"
	"github.com/foretime/foretime/chamtool/internal/summary"
	"github.com/foretime/foretime/shared/crash"
	"github.com/foretime/foretime/shared/file"
)

// consumer is the Go side of the tool in this process.
type consumer struct {
	config  *config.Config
	session *session.Session
	rank    int
	ranks   int
	dialect event.Dialect
	quit    chan struct{}
	done    chan struct{}

	decisions decisions
	lines     sync.Map // printed
	began     time.Time
	load      machineLoad               // when the tool was loaded
	early     summary.Early             // what was before
	mpiInit   time.Duration             // later
	waited    time.Duration             // the program waited for the tool's start
	opened    time.Time                 // the session, when its clock began
	preparing time.Duration             // of waited, after that
	stopped   time.Time                 // the program began to wait for the tool's end
	program   string                    // name of its file
	dir       string                    // of the logs; absolute, since programs change their directory
	symbols   map[string]*event.Symbols // by path; nil where a file cannot be read
	unloads   uint64                    // libraries unloaded before symbols was filled

	// Only the goroutine that holds the session's turn uses these.
	rings []*event.Ring
	last  unsafe.Pointer // the newest ring in rings
}

// running is the one consumer of the process.
var running atomic.Pointer[consumer]

// disable switches the C side off. It may be called twice.
func disable() { C.chamtool_disable() }

// start reads the environment and begins to consume. It reports whether the
// tool is to be kept.
func start(process, settings unsafe.Pointer) bool {
	p, s := (*C.struct_process)(process), (*C.struct_settings)(settings)
	cfg, warnings := config.Read(environment)
	c := &consumer{
		config: cfg, rank: int(p.rank), ranks: int(p.ranks), dialect: event.Dialect(p.dialect),
		quit: make(chan struct{}), done: make(chan struct{}), began: time.Now(), load: readMachineLoad(), symbols: map[string]*event.Symbols{},
	}
	early, began := readEarly()
	c.early = early
	if exe, err := os.Readlink("/proc/self/exe"); err == nil {
		c.program = filepath.Base(exe)
	}
	warnings = append(warnings, config.Unknown(os.Environ())...)
	s.ring_slots = C.uint64_t(1) << bits.Len64(uint64(cfg.RingSlots-1))
	if c.dialect == event.OpenMP {
		s.ring_slots *= 4 // its tasks are short, and take twice the slots
	}
	if cfg.Balance {
		s.balance = 1
	}
	if err := c.place(); err != nil {
		warnings = append(warnings, err)
	}
	p.rank, p.ranks = C.int32_t(c.rank), C.int32_t(c.ranks)
	if cfg.Verbose {
		c.printSettings()
	}
	model, err := c.model()
	if err != nil {
		warnings = append(warnings, err)
	}
	for _, w := range warnings {
		c.say("%v", w)
	}
	c.opened = time.Now()
	c.session = session.New(session.Options{
		Config: cfg, Model: model, Rank: c.rank, Ranks: c.ranks, Dialect: c.dialect,
		Rings: c.attach, Clock: clock, CPUTime: threadCPU, Symbol: c.symbol, Body: c.body, Times: times, Graph: graph, Create: c.create,
	})
	for _, w := range c.session.Summary().Warnings {
		c.say("%s", w)
	}
	for _, w := range warnings {
		c.session.Warn(w)
	}
	c.checkpoint(false)
	c.load = readMachineLoad()
	c.preparing = time.Since(c.opened)
	c.waited = time.Since(c.began)
	if began > 0 {
		_, now := clock()
		c.waited = time.Duration(now - began)
	}
	running.Store(c)
	if _, given := environment("GOMAXPROCS"); !given {
		runtime.GOMAXPROCS(1) // one goroutine works; others' threads would only look for work
	}
	debug.SetGCPercent(50) // memory is the program's
	crash.Go(c.run)
	crash.Go(c.watchFrequency)
	return true
}

// say gives a text to the program's threads, which print it: those of Go have no
// standard error.
func say(text string) {
	line := C.CString(text)
	defer C.free(unsafe.Pointer(line))
	C.chamtool_say(line)
}

// say prints a line with the rank in front, since all ranks share stderr. It prints a line
// once: a full disk is met at every flush.
func (c *consumer) say(format string, args ...any) {
	line := fmt.Sprintf("chamtool: rank %d: %s\n", c.rank, fmt.Sprintf(format, args...))
	if _, repeated := c.lines.LoadOrStore(line, true); !repeated {
		say(line)
	}
}

// printSettings prints the effective configuration.
func (c *consumer) printSettings() {
	var b strings.Builder
	fmt.Fprintf(&b, "chamtool: rank %d of %d, %s interface\n", c.rank, c.ranks, c.dialect)
	for _, s := range c.config.Effective {
		source := "default"
		if s.Given {
			source = "environment"
		}
		fmt.Fprintf(&b, "chamtool: rank %d: %s=%s (%s)\n", c.rank, s.Name, s.Value, source)
	}
	say(b.String())
}

// environment looks a variable up as it is now: Go's own copy dates from when
// the library was loaded.
func environment(name string) (string, bool) {
	key := C.CString(name)
	defer C.free(unsafe.Pointer(key))
	value := C.getenv(key)
	if value == nil {
		return "", false
	}
	return C.GoString(value), true
}

func clock() (ticks, ns uint64) {
	var t, n C.uint64_t
	C.chamtool_clock(&t, &n)
	return uint64(t), uint64(n)
}

// threadCPU returns the CPU time of this thread. The caller keeps the goroutine on
// it. It is the clock's and not getrusage's, which stands still between the
// kernel's ticks: most drains are shorter.
func threadCPU() time.Duration { return time.Duration(C.chamtool_thread_cpu()) }

// times returns the times of a thread.
func times(r *event.Ring) []event.PlaceTime {
	all := make([]event.PlaceTime, event.Places)
	C.chamtool_times(r.Memory(), unsafe.Pointer(&all[0]))
	return slices.DeleteFunc(all, func(t event.PlaceTime) bool { return t.Kind == 0 })
}

// graph returns the graph of the program's tasks so far.
func graph() (g event.Graph, known bool) {
	var c C.struct_graph
	known = C.chamtool_graph(&c) != 0
	g = event.Graph{Work: uint64(c.work), Span: uint64(c.span), Lost: uint64(c.lost)}
	for i, ticks := range c.parts {
		if ticks > 0 {
			g.Parts = append(g.Parts, event.PathPart{Place: uint64(c.places[i]), Outside: i == 0, Ticks: uint64(ticks)})
		}
	}
	return g, known
}

// readEarly returns what the program did before its first use of OpenMP, less MPI_Init after it, since
// the last call, and when the tool began to start, in ns; 0 if it did so before.
func readEarly() (e summary.Early, began uint64) {
	var ns, cpu, calls, at C.uint64_t
	C.chamtool_early(&ns, &cpu, &calls, &at)
	return summary.Early{Seconds: float64(int64(ns)) / 1e9, CPU: float64(int64(cpu)) / 1e9, Calls: int(calls)}, uint64(at)
}

// place fixes where files are read and written, whatever directory the program
// changes to later, and finds this process's rank and the directory of its logs.
func (c *consumer) place() error {
	for _, path := range []*string{&c.config.LogDir, &c.config.Home} {
		if abs, err := filepath.Abs(*path); *path != "" && err == nil {
			*path = abs
		}
	}
	c.dir = c.config.LogDir
	where, err := job.Locate(job.System{
		Lookup: environment, Proc: os.DirFS("/proc"), PID: os.Getpid(),
		Name: fmt.Sprintf("%s-%d", c.began.Format("20060102-150405"), os.Getpid()),
	})
	if c.dialect == event.OpenMP { // Chameleon says itself
		c.rank, c.ranks = where.Rank, where.Ranks
	}
	if len(c.config.LogFormats) == 0 {
		return err
	}
	dir, unclaimed := job.Claim(c.config.LogDir, where.Job, c.rank)
	if unclaimed == nil {
		c.dir = dir
		return err
	}
	c.config.LogFormats = nil // another run may own what is there
	return errors.Join(err, fmt.Errorf("no log: %w", unclaimed))
}

// symbol returns the name of the function at a place and the build of its file. The name is the
// file's and the symbol, or the offset in the file if it has no symbol. All ranks and all runs
// of one program agree on it.
func (c *consumer) symbol(place uint64) (name, build string) {
	if unloads := place >> C.UNLOADS; unloads != c.unloads {
		clear(c.symbols)
		c.unloads = unloads
	}
	path, f, offset := c.locate(place)
	if path == "" {
		return "", ""
	}
	base := filepath.Base(path)
	switch {
	case f == nil:
		return fmt.Sprintf("%s+%#x", base, offset), ""
	case c.dialect == event.OpenMP:
		return base + f.Construct(offset), f.Build
	case f.Function(offset) != "":
		return base + ":" + f.Function(offset), f.Build
	}
	return fmt.Sprintf("%s+%#x", base, offset), f.Build
}

// body returns the name of the construct that gcc made a function of, at a place, and the build
// of its file.
func (c *consumer) body(place uint64) (name, build string) {
	path, f, offset := c.locate(place)
	if f == nil || !f.IsTaskBody(offset) {
		return "", ""
	}
	return filepath.Base(path) + f.TaskBody(offset), f.Build
}

// locate returns the path of the file that holds a place, "" if none does, its symbols, nil if it
// cannot be read, and the offset in it.
func (c *consumer) locate(place uint64) (path string, f *event.Symbols, offset uint64) {
	var file *C.char
	var at C.uint64_t
	if C.chamtool_symbol(C.uint64_t(place), &file, &at) == 0 {
		return "", nil, 0
	}
	path = C.GoString(file)
	return path, c.file(path), uint64(at)
}

// file reads a loaded file once. The program itself is known to the loader by the
// name that it was called by, which may not lead to it from here.
func (c *consumer) file(path string) *event.Symbols {
	f, read := c.symbols[path]
	if !read {
		from := path
		if exe, err := os.Readlink("/proc/self/exe"); err == nil && filepath.Base(exe) == filepath.Base(path) {
			from = "/proc/self/exe"
		}
		f, _ = event.ReadSymbols(from) // without it the file's name and the offset must do
		c.symbols[path] = f
	}
	return f
}

// create opens a log in the directory of the logs, which it makes.
func (c *consumer) create(name string) (io.WriteCloser, error) {
	if err := os.MkdirAll(c.dir, 0o755); err != nil {
		return nil, err
	}
	return os.OpenFile(filepath.Join(c.dir, name), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o644)
}

// stop ends the run: the last events, the logs, the summary.
func stop() {
	c := running.Swap(nil)
	if c == nil {
		return
	}
	stopped := time.Now()
	close(c.quit)
	C.chamtool_wake()
	select {
	case <-c.done:
	case <-time.After(10 * time.Second):
		c.say("the reader did not stop in time; the last events are lost")
		return
	}
	c.stopped = stopped
	for tries := 0; c.drain() > 0 || tries == 0; tries++ {
		if tries == 0 {
			time.Sleep(time.Millisecond) // a run of no length: let the clock find its rate
			c.drain()
		}
	}
	c.finish()
}

func (c *consumer) finish() {
	if n := uint64(C.chamtool_unplaced()); n > 0 {
		c.session.Warn(fmt.Errorf("lost %d events: no memory for a ring", n))
	}
	c.store()
	summary := c.session.Close()
	c.summarize(summary)
	switch {
	case c.config.Verbose:
		c.say("%s", summary.Short())
	case c.rank == 0 && len(c.config.LogFormats) > 0:
		say(fmt.Sprintf("chamtool: rank 0 of %d: %s; logs in %s\n", c.ranks, summary.Short(), c.dir))
	}
}

// checkpoint writes what a program that ends without its tool would lose.
func (c *consumer) checkpoint(signal bool) {
	c.session.Flush()
	s := c.session.Summary()
	s.Signal = signal
	c.summarize(s)
}

// store keeps what was learned since it was last called.
func (c *consumer) store() {
	if err := c.keep(); err != nil {
		c.say("models are not kept: %v", err)
		c.session.Warn(fmt.Errorf("models are not kept: %w", err))
	}
}

func (c *consumer) summarize(s *summary.Summary) {
	s.Processors = runtime.NumCPU()
	s.Host, _ = os.Hostname()
	now := readMachineLoad()
	s.Online, s.Others = c.load.others(now)
	s.CPUSeconds = max(0, (now.own - c.load.own).Seconds())
	later, _ := readEarly()
	c.mpiInit += time.Duration(-1e9 * later.Seconds)
	c.early.Calls += later.Calls
	s.AddEarly(c.early)
	ending := time.Duration(0)
	if !c.stopped.IsZero() {
		ending = time.Since(c.stopped)
	}
	s.AddWait(c.waited+ending, c.preparing+c.mpiInit+ending)
	s.Program, s.Began = c.program, c.began.Format(time.RFC3339)
	if len(c.config.LogFormats) == 0 {
		return
	}
	path := filepath.Join(c.dir, summary.FileName(c.rank))
	err := file.Write(path, s.Write)
	if err != nil && s.RowsLost > 0 && c.cutLog() == nil {
		err = file.Write(path, s.Write)
	}
	if err != nil {
		c.say("no summary: %v", err)
	}
}

// cutLog makes room for the summary on a full disk: of a log that lacks rows it keeps the first
// half.
func (c *consumer) cutLog() error {
	path := filepath.Join(c.dir, fmt.Sprintf("chamtool_rank_%d.csv", c.rank))
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return errors.Join(err, os.ErrInvalid)
	}
	return os.Truncate(path, info.Size()/2)
}
