package replay

import (
	"encoding/binary"
	"math"

	"github.com/foretime/foretime/chamtool/internal/task"
)

// Table holds the runs of one log, in about 60 bytes each.
type Table struct {
	Name string

	names   []string
	entries map[string]uint32
	sizes   [][]int64
	sizeIDs map[string]uint32
	key     []byte
	runs    []run
}

// run is one run of a table.
type run struct {
	start     float64 // seconds, as the next two
	seconds   float64
	created   float64 // NaN if unknown
	iteration int
	entry     uint32 // its place in names
	size      uint32 // and in sizes, which differ between functions
	lane      int32
	core      int32
	mhz       float32 // 0 if unknown
	remote    bool
}

// NewTable returns an empty table. The name is for messages.
func NewTable(name string) *Table {
	return &Table{Name: name, entries: map[string]uint32{}, sizeIDs: map[string]uint32{}}
}

// Len returns the number of runs.
func (t *Table) Len() int { return len(t.runs) }

// Add appends a run. It keeps nothing of the row.
func (t *Table) Add(r *task.Row) {
	entry, known := t.entries[r.Entry]
	if !known {
		entry = uint32(len(t.names))
		t.names = append(t.names, string([]byte(r.Entry)))
		t.entries[t.names[entry]] = entry
	}
	one := run{
		start: r.Start, seconds: r.Seconds, created: math.NaN(), iteration: r.Iteration, entry: entry, size: t.sizeID(entry, r.Sizes),
		lane: int32(r.Lane), core: int32(r.Core), remote: r.Flag == remote,
	}
	if r.MHz != nil {
		one.mhz = float32(*r.MHz)
	}
	if r.Queue != nil {
		one.created = r.Start - *r.Queue
	}
	t.runs = append(t.runs, one)
}

// sizeID returns the number of a combination of sizes of a function.
func (t *Table) sizeID(entry uint32, sizes []int64) uint32 {
	t.key = binary.LittleEndian.AppendUint32(t.key[:0], entry)
	for _, s := range sizes {
		t.key = binary.LittleEndian.AppendUint64(t.key, uint64(s))
	}
	id, known := t.sizeIDs[string(t.key)]
	if !known {
		id = uint32(len(t.sizes))
		t.sizes = append(t.sizes, append([]int64(nil), sizes...))
		t.sizeIDs[string(t.key)] = id
	}
	return id
}
