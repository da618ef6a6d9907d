package replay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/foretime/foretime/chamtool/internal/event"
	"github.com/foretime/foretime/chamtool/internal/session"
)

// ErrOverlap is returned for a log that has more runs at once on a thread than can be
// replayed: its start times are wrong.
var ErrOverlap = errors.New("too many runs at once on one thread")

var remote = event.Remote.String()

// feed writes a table's runs as events, in the order of time, on a clock of its own
// whose ticks are nanoseconds. It numbers iterations without gaps.
type feed struct {
	*Table
	first  float64     // seconds at tick base
	events []happening // in the order in which the session sees them
	now    uint64

	creator *event.Ring
	created int               // iterations that the creator left
	lanes   map[int32][]*lane // rings of each lane: more than one where its runs overlap
	running map[uint32]*lane  // by row
	rings   []*event.Ring     // the creator's first
	mhz     event.Frequencies // from the last row of each core
}

// lane is a thread that runs one task at a time.
type lane struct {
	ring       *event.Ring
	until      uint64 // busy until this tick
	iterations int    // iterations that it left
}

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

const (
	// batch is the number of events that pass before the rings are read.
	batch = 64
	// laneSlots and creatorSlots hold what a batch may write.
	laneSlots, creatorSlots = 256, batch * 32
	// mostOverlapping bounds the rings of one lane.
	mostOverlapping = 1024
)

// newFeed prepares a table for being replayed. It changes the table.
func newFeed(t *Table) *feed {
	f := &feed{Table: t, now: 1, lanes: map[int32][]*lane{}, running: map[uint32]*lane{}, creator: event.NewRing(creatorSlots)}
	f.rings = []*event.Ring{f.creator}
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

func (f *feed) clock() (ticks, ns uint64) {
	f.now += 1000
	return f.now, f.now
}

// symbol names entry addresses, which count from 1.
func (f *feed) symbol(address uint64) (name, build string) { return f.names[address-1], "" }

// play replays all rows. It calls progress with the number of events so far.
func (f *feed) play(ctx context.Context, s *session.Session, progress func(int)) (events int, err error) {
	for i, e := range f.events {
		row := e.row
		switch e.kind {
		case creates:
			f.create(row)
		case starts:
			if f.clocks(row) { // what began before ran at the old frequency
				events += s.Drain()
				s.SetFrequency(slices.Clone(f.mhz))
			}
			if err := f.begin(row); err != nil {
				return events, err
			}
		case ends:
			f.end(row)
		}
		if i%max(batch, len(f.rings)) == 0 || i == len(f.events)-1 {
			events += s.Drain()
			if ctx.Err() != nil {
				return events, ctx.Err()
			}
			progress(i + 1)
		}
	}
	return events, nil
}

// leave writes that a thread left the iterations before one.
func leave(r *event.Ring, left *int, iteration int, at uint64) {
	for ; *left < iteration; *left++ {
		var s event.Slot
		s.SetHeader(event.WaitEnd, event.Local, 0, 0)
		s[event.WordTicks] = at
		r.Push(&s, nil)
	}
}

func (f *feed) create(row uint32) {
	kind, flag := event.Create, event.Local
	if f.runs[row].remote {
		kind, flag = event.Arrive, event.Remote
	}
	at := f.tick(row, creates)
	leave(f.creator, &f.created, f.runs[row].iteration, at)
	sizes := f.sizes[f.runs[row].size]
	sizes = sizes[:min(len(sizes), event.MaxSizes)]
	var s event.Slot
	s.SetHeader(kind, flag, len(sizes), 0)
	s[event.WordTicks] = at
	s[event.WordToken] = token(row)
	s[event.WordEntry] = uint64(f.runs[row].entry) + 1
	f.creator.Push(&s, sizes)
	if kind == event.Create {
		f.creator.Start()
	}
}

// token returns the token of a row's task.
func token(row uint32) uint64 { return uint64(row) + 1 }

func (f *feed) begin(row uint32) error {
	at := f.tick(row, starts)
	l, err := f.free(f.runs[row].lane, at)
	if err != nil {
		return err
	}
	l.until = f.tick(row, ends)
	leave(l.ring, &l.iterations, f.runs[row].iteration, at)
	l.ring.Begin(token(row), at)
	f.running[row] = l
	return nil
}

// clocks sets the frequency of a row's core, and reports whether it changed.
func (f *feed) clocks(row uint32) bool {
	core, mhz := f.coreOf(row), float64(f.runs[row].mhz)
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

// free returns a ring of a lane that runs nothing at a tick.
func (f *feed) free(number int32, at uint64) (*lane, error) {
	for _, l := range f.lanes[number] {
		if l.until <= at {
			return l, nil
		}
	}
	if len(f.lanes[number]) == mostOverlapping {
		return nil, fmt.Errorf("%s: %w: %d in lane %d", f.Name, ErrOverlap, mostOverlapping+1, number)
	}
	l := &lane{ring: event.NewRing(laneSlots)}
	f.lanes[number] = append(f.lanes[number], l)
	f.rings = append(f.rings, l.ring)
	return l, nil
}

func (f *feed) end(row uint32) {
	l := f.running[row]
	delete(f.running, row)
	var s event.Slot
	s.SetHeader(event.Run, event.Local, 0, event.Place(f.coreOf(row), 0))
	s[event.WordTicks] = f.tick(row, starts)
	s[event.WordToken] = token(row)
	s[event.WordEnd] = f.tick(row, ends)
	l.ring.Push(&s, nil)
	l.ring.Begin(0, 0)
}
