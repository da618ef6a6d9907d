package replay

import (
	"cmp"
	"context"
	"slices"

	"github.com/foretime/foretime/chamtool/internal/event"
	"github.com/foretime/foretime/chamtool/internal/session"
	"github.com/foretime/foretime/chamtool/internal/task"
)

// feed writes a log's runs as events, in the order of time, on a clock of its own
// whose ticks are nanoseconds.
type feed struct {
	rows    []task.Row
	moments []moment
	now     uint64
	names   []string
	index   map[string]uint64

	creator *event.Ring
	created int             // iterations that the creator left
	lanes   map[int][]*lane // rings of each lane: more than one where its runs overlap
	of      []*lane         // of each row
	tokens  []uint64        // of each row, in the order of creation
	last    uint64          // token
	rings   []*event.Ring   // the creator's first
	mhz     []float64       // of each core, as the log told it last
}

// lane is a thread that runs one task at a time.
type lane struct {
	ring  *event.Ring
	until uint64 // busy until this tick
	left  int    // iterations that it left
}

// moment is when something happens to a row.
type moment struct {
	at  uint64
	row int
	is  what
}

type what int

const (
	ends what = iota // first, where more happens at once
	isCreated
	starts
)

const (
	// batch is how many moments pass before the rings are read.
	batch = 64
	// laneSlots and creatorSlots hold what a batch may write.
	laneSlots, creatorSlots = 256, batch * 32
)

func newFeed(rows []task.Row) *feed {
	f := &feed{rows: rows, now: 1, index: map[string]uint64{}, lanes: map[int][]*lane{}, of: make([]*lane, len(rows)), tokens: make([]uint64, len(rows)), creator: event.NewRing(creatorSlots)}
	f.rings = []*event.Ring{f.creator}
	f.rows = inARow(oneByOne(rows))
	created := creations(f.rows)
	first := slices.Min(append([]float64{0}, created...))
	const ns, base = 1e9, 1_000_000
	at := func(seconds float64) uint64 { return base + uint64((seconds-first)*ns) }
	for i := range f.rows {
		r := &f.rows[i]
		start := at(r.Start)
		f.moments = append(f.moments, moment{at(created[i]), i, isCreated}, moment{start, i, starts}, moment{start + max(1, uint64(r.Seconds*ns)), i, ends})
	}
	slices.SortStableFunc(f.moments, func(a, b moment) int {
		return cmp.Or(cmp.Compare(f.rows[a.row].Iteration, f.rows[b.row].Iteration), cmp.Compare(a.at, b.at), cmp.Compare(a.is, b.is))
	})
	return f
}

// oneByOne are rows that run one after the other, where the log does not tell when.
func oneByOne(rows []task.Row) []task.Row {
	if slices.ContainsFunc(rows, func(r task.Row) bool { return r.Start != 0 }) {
		return rows
	}
	out, now := slices.Clone(rows), 0.0
	for i := range out {
		out[i].Start = now
		now += out[i].Seconds
	}
	return out
}

// inARow are rows whose iterations are numbered without gaps: one that ran no task
// tells nothing, however many there are.
func inARow(rows []task.Row) []task.Row {
	var known []int
	for i := range rows {
		known = append(known, rows[i].Iteration)
	}
	slices.Sort(known)
	known = slices.Compact(known)
	out := slices.Clone(rows)
	for i := range out {
		out[i].Iteration, _ = slices.BinarySearch(known, out[i].Iteration)
	}
	return out
}

// creations are when the rows' tasks were created: where it is not told, when the
// first task of their iteration started.
func creations(rows []task.Row) []float64 {
	begun := map[int]float64{}
	for i := range rows {
		r := &rows[i]
		if at, ok := begun[r.Iteration]; !ok || r.Start < at {
			begun[r.Iteration] = r.Start
		}
	}
	out := make([]float64, len(rows))
	for i := range rows {
		out[i] = begun[rows[i].Iteration]
		if q := rows[i].Queue; q != nil {
			out[i] = rows[i].Start - *q
		}
	}
	return out
}

func (f *feed) clock() (ticks, ns uint64) {
	f.now += 1000
	return f.now, f.now
}

// symbol names entry addresses, which count from 1.
func (f *feed) symbol(address uint64) (name, build string) { return f.names[address-1], "" }

func (f *feed) entry(name string) uint64 {
	if f.index[name] == 0 {
		f.names = append(f.names, name)
		f.index[name] = uint64(len(f.names))
	}
	return f.index[name]
}

func (f *feed) play(ctx context.Context, s *session.Session) (events int, err error) {
	for i, m := range f.moments {
		switch m.is {
		case isCreated:
			f.create(m)
		case starts:
			if f.clocks(m) { // what began before ran at what it was
				events += s.Drain(f.rings)
				s.SetFrequency(event.FrequenciesOf(slices.Clone(f.mhz)))
			}
			f.start(m)
		case ends:
			f.end(m)
		}
		if i%max(batch, len(f.rings)) == 0 || i == len(f.moments)-1 {
			events += s.Drain(f.rings)
			if ctx.Err() != nil {
				return events, ctx.Err()
			}
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

func (f *feed) create(m moment) {
	row := &f.rows[m.row]
	kind, flag := event.Create, event.Local
	if row.Flag == event.Remote.String() {
		kind, flag = event.Arrive, event.Remote
	}
	leave(f.creator, &f.created, row.Iteration, m.at)
	f.last++
	f.tokens[m.row] = f.last
	sizes := row.Sizes[:min(len(row.Sizes), event.MaxSizes)]
	var s event.Slot
	s.SetHeader(kind, flag, len(sizes), 0)
	s[event.WordTicks], s[event.WordToken], s[event.WordEntry] = m.at, f.last, f.entry(row.Entry)
	f.creator.Push(&s, sizes)
	if kind == event.Create {
		f.creator.Start()
	}
}

func (f *feed) start(m moment) {
	row := &f.rows[m.row]
	l := f.lane(row.Lane, m.at)
	l.until = m.at + max(1, uint64(row.Seconds*1e9))
	leave(l.ring, &l.left, row.Iteration, m.at)
	l.ring.Begin(f.tokens[m.row], m.at)
	f.of[m.row] = l
}

// clocks takes the frequency at which a row's core ran, and reports whether it is
// another one than before.
func (f *feed) clocks(m moment) bool {
	row := &f.rows[m.row]
	core := core(row)
	if row.MHz == nil || *row.MHz <= 0 || core >= mostCores {
		return false
	}
	for len(f.mhz) <= core {
		f.mhz = append(f.mhz, 0)
	}
	changed := f.mhz[core] != *row.MHz
	f.mhz[core] = *row.MHz
	return changed
}

// mostCores bounds what a log may name.
const mostCores = 1 << 14

// core is where a row ran; a log that does not say has a core for each lane.
func core(r *task.Row) int {
	if r.Core >= 0 {
		return r.Core
	}
	return max(0, r.Lane)
}

// lane is a ring of a lane that is free at a tick.
func (f *feed) lane(number int, at uint64) *lane {
	for _, l := range f.lanes[number] {
		if l.until <= at {
			return l
		}
	}
	l := &lane{ring: event.NewRing(laneSlots)}
	f.lanes[number] = append(f.lanes[number], l)
	f.rings = append(f.rings, l.ring)
	return l
}

func (f *feed) end(m moment) {
	row, l := &f.rows[m.row], f.of[m.row]
	var s event.Slot
	s.SetHeader(event.Run, event.Local, 0, event.Place(core(row), 0))
	s[event.WordTicks], s[event.WordToken], s[event.WordEnd] = m.at-max(1, uint64(row.Seconds*1e9)), f.tokens[m.row], m.at
	l.ring.Push(&s, nil)
	l.ring.Begin(0, 0)
}
