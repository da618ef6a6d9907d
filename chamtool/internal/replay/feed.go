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
	first  float64 // seconds at tick base
	orders [3][]uint32
	now    uint64

	creator *event.Ring
	created int               // iterations that the creator left
	lanes   map[int32][]*lane // rings of each lane: more than one where its runs overlap
	running map[uint32]*lane  // by row
	tokens  []uint32          // of each row, in the order of creation
	last    uint32            // token
	rings   []*event.Ring     // the creator's first
	mhz     event.Frequencies // from the last row of each core
}

// lane is a thread that runs one task at a time.
type lane struct {
	ring       *event.Ring
	until      uint64 // busy until this tick
	iterations int    // iterations that it left
}

// kind is an event of a row. At one tick, ends come first.
type kind int

const (
	ends kind = iota
	creates
	starts
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
	f := &feed{Table: t, now: 1, lanes: map[int32][]*lane{}, running: map[uint32]*lane{}, tokens: make([]uint32, t.Len()), creator: event.NewRing(creatorSlots)}
	f.rings = []*event.Ring{f.creator}
	t.sequence()
	t.number()
	f.first = min(0, t.fillCreated())
	for k := range f.orders {
		order := make([]uint32, t.Len())
		for i := range order {
			order[i] = uint32(i)
		}
		slices.SortFunc(order, func(a, b uint32) int { return f.compare(a, kind(k), b, kind(k)) })
		f.orders[k] = order
	}
	return f
}

// compare orders what happens to rows: by iteration, time, kind and row.
func (f *feed) compare(a uint32, of kind, b uint32, with kind) int {
	return cmp.Or(cmp.Compare(f.runs[a].iteration, f.runs[b].iteration), cmp.Compare(f.tick(a, of), f.tick(b, with)), cmp.Compare(of, with), cmp.Compare(a, b))
}

// tick returns the tick at which something happens to a row.
func (f *feed) tick(row uint32, k kind) uint64 {
	const ns, base = 1e9, 1_000_000
	switch k {
	case creates:
		return base + uint64((f.runs[row].created-f.first)*ns)
	case starts:
		return base + uint64((f.runs[row].start-f.first)*ns)
	}
	return f.tick(row, starts) + f.duration(row)
}

func (f *feed) duration(row uint32) uint64 { return max(1, uint64(f.runs[row].seconds*1e9)) }

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

// next returns the row to which something happens next, from the heads of the orders.
func (f *feed) next(heads *[3]int) (row uint32, k kind, ok bool) {
	for candidate, order := range f.orders {
		if heads[candidate] == len(order) {
			continue
		}
		if at := order[heads[candidate]]; !ok || f.compare(at, kind(candidate), row, k) < 0 {
			row = at
			k = kind(candidate)
			ok = true
		}
	}
	heads[k]++
	return row, k, ok
}

// play replays all rows. It calls progress with the number of events so far.
func (f *feed) play(ctx context.Context, s *session.Session, progress func(int)) (events int, err error) {
	var heads [3]int
	for i, last := 0, 3*f.Len()-1; i <= last; i++ {
		row, k, _ := f.next(&heads)
		switch k {
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
		if i%max(batch, len(f.rings)) == 0 || i == last {
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
	f.last++
	f.tokens[row] = f.last
	sizes := f.sizes[f.runs[row].size]
	sizes = sizes[:min(len(sizes), event.MaxSizes)]
	var s event.Slot
	s.SetHeader(kind, flag, len(sizes), 0)
	s[event.WordTicks] = at
	s[event.WordToken] = uint64(f.last)
	s[event.WordEntry] = uint64(f.runs[row].entry) + 1
	f.creator.Push(&s, sizes)
	if kind == event.Create {
		f.creator.Start()
	}
}

func (f *feed) begin(row uint32) error {
	at := f.tick(row, starts)
	l, err := f.free(f.runs[row].lane, at)
	if err != nil {
		return err
	}
	l.until = at + f.duration(row)
	leave(l.ring, &l.iterations, f.runs[row].iteration, at)
	l.ring.Begin(uint64(f.tokens[row]), at)
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
	s[event.WordToken] = uint64(f.tokens[row])
	s[event.WordEnd] = f.tick(row, ends)
	l.ring.Push(&s, nil)
	l.ring.Begin(0, 0)
}
