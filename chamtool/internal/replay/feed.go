package replay

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/foretime/foretime/chamtool/internal/event"
	"github.com/foretime/foretime/chamtool/internal/session"
	"github.com/foretime/foretime/chamtool/internal/task"
)

var remote = event.Remote.String()

// feed gives a table's runs to a session in the order of time, on a clock of its own whose ticks
// are nanoseconds. It numbers iterations without gaps.
type feed struct {
	*Table
	first  float64           // seconds at tick base
	events []happening       // in the order in which the session sees them
	open   map[uint32]*Task  // by row, created and not ended
	mhz    event.Frequencies // from the last row of each core
}

// Task is a task of a replayed log.
type Task = task.Task[session.TaskState]

// happening is an event of a row.
type happening struct {
	row  uint32
	kind kind
}

// kind says what happens to a row. At one tick, ends come first.
type kind uint8

const (
	ends kind = iota
	creates
	starts
	kinds
)

// newFeed prepares a table for being replayed. It changes the table.
func newFeed(t *Table) *feed {
	f := &feed{Table: t, open: map[uint32]*Task{}}
	t.sequence()
	t.number()
	f.first = min(0, t.fillCreated())
	f.events = make([]happening, 0, int(kinds)*t.Len())
	for row := range uint32(t.Len()) {
		for k := range kinds {
			f.events = append(f.events, happening{row, k})
		}
	}
	slices.SortFunc(f.events, f.compare)
	return f
}

// compare orders what happens to rows: by iteration, time, kind and row.
func (f *feed) compare(a, b happening) int {
	return cmp.Or(cmp.Compare(f.runs[a.row].iteration, f.runs[b.row].iteration), cmp.Compare(f.tick(a.row, a.kind), f.tick(b.row, b.kind)), cmp.Compare(a.kind, b.kind), cmp.Compare(a.row, b.row))
}

// tick returns the tick at which something happens to a row. A run takes a tick at least.
func (f *feed) tick(row uint32, k kind) uint64 {
	r := &f.runs[row]
	switch k {
	case creates:
		return f.tickAt(r.created)
	case starts:
		return f.tickAt(r.start)
	}
	return max(f.tickAt(r.start+r.seconds), f.tickAt(r.start)+1)
}

// tickAt returns the tick of a time in the log.
func (f *feed) tickAt(seconds float64) uint64 {
	const ns, base = 1e9, 1_000_000
	return base + uint64(math.Round((seconds-f.first)*ns))
}

// sequence makes the rows run one after the other if the log has no start times.
func (t *Table) sequence() {
	if slices.ContainsFunc(t.runs, func(r run) bool { return r.start != 0 }) {
		return
	}
	now := 0.0
	for i := range t.runs {
		t.runs[i].start = now
		now += t.runs[i].seconds
	}
}

// number numbers the iterations without gaps.
func (t *Table) number() {
	known := make([]int, len(t.runs))
	for i := range t.runs {
		known[i] = t.runs[i].iteration
	}
	slices.Sort(known)
	known = slices.Compact(known)
	for i := range t.runs {
		t.runs[i].iteration, _ = slices.BinarySearch(known, t.runs[i].iteration)
	}
}

// fillCreated sets unknown creation times to the first start of the iteration, and returns the
// first of all.
func (t *Table) fillCreated() float64 {
	begun := map[int]float64{}
	for _, r := range t.runs {
		first, known := begun[r.iteration]
		if !known || r.start < first {
			begun[r.iteration] = r.start
		}
	}
	first := math.Inf(1)
	for i := range t.runs {
		r := &t.runs[i]
		if math.IsNaN(r.created) {
			r.created = begun[r.iteration]
		}
		first = min(first, r.created)
	}
	return first
}

// symbol names entry addresses, which count from 1.
func (f *feed) symbol(address uint64) (name, build string) { return f.names[address-1], "" }

// play replays all rows. It calls progress with the number of events so far.
func (f *feed) play(ctx context.Context, s *session.Session, progress func(int)) error {
	const progressEvents = 1024 // between two calls
	observer := s.Observer()
	iteration := 0
	for i, e := range f.events {
		for ; iteration < f.runs[e.row].iteration; iteration++ {
			observer.IterationReported(iteration)
		}
		switch e.kind {
		case creates:
			f.open[e.row] = f.newTask(e.row)
			observer.TaskCreated(f.open[e.row], f.sizes[f.runs[e.row].size])
		case starts:
			if f.setClock(e.row) {
				s.SetFrequency(f.mhz)
			}
			observer.TaskStarted(f.open[e.row], false)
		case ends:
			observer.TaskEnded(f.open[e.row], task.Run{Seconds: f.runs[e.row].seconds, Core: f.coreOf(e.row)})
			delete(f.open, e.row)
		}
		if i%progressEvents == 0 || i == len(f.events)-1 {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			progress(i + 1)
		}
	}
	return nil
}

// newTask returns the task of a row. One from another rank was not created here.
func (f *feed) newTask(row uint32) *Task {
	r := &f.runs[row]
	t := &Task{Token: uint64(row) + 1, Flag: event.Local, Entry: uint64(r.entry) + 1, Iteration: r.iteration, Core: f.coreOf(row), Lane: int(r.lane)}
	if r.remote {
		t.Flag = event.Remote
	} else {
		t.Created = f.tick(row, creates)
	}
	return t
}

// setClock sets the frequency of a row's core, and reports whether it changed.
func (f *feed) setClock(row uint32) bool {
	core := f.coreOf(row)
	mhz := float64(f.runs[row].mhz)
	if mhz <= 0 || core >= maxCores {
		return false
	}
	for len(f.mhz) <= core {
		f.mhz = append(f.mhz, 0)
	}
	changed := f.mhz[core] != mhz
	f.mhz[core] = mhz
	return changed
}

// maxCores bounds the core numbers of a log.
const maxCores = 1 << 14

// coreOf returns the core of a row. A log without cores has one for each lane.
func (f *feed) coreOf(row uint32) int {
	if f.runs[row].core >= 0 {
		return int(f.runs[row].core)
	}
	return int(max(0, f.runs[row].lane))
}
