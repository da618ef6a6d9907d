package replay

import (
	"encoding/binary"
	"math"

	"github.com/foretime/foretime/chamtool/internal/task"
)

// Table holds the runs of one log by column, in about 60 bytes each.
type Table struct {
	Name string

	names     []string
	entries   map[string]uint32
	sizes     [][]int64
	sizeIDs   map[string]uint32
	key       []byte
	iteration []int
	lane      []int32
	core      []int32
	entry     []uint32
	size      []uint32
	remote    []bool
	mhz       []float32 // 0 if unknown
	start     []float64 // seconds, as the next two
	seconds   []float64
	created   []float64 // NaN if unknown
}

// NewTable returns an empty table. The name is for messages.
func NewTable(name string) *Table {
	return &Table{Name: name, entries: map[string]uint32{}, sizeIDs: map[string]uint32{}}
}

// Len returns the number of runs.
func (t *Table) Len() int { return len(t.start) }

// Add appends a run. It keeps nothing of the row.
func (t *Table) Add(r *task.Row) {
	entry, known := t.entries[r.Entry]
	if !known {
		entry = uint32(len(t.names))
		t.names = append(t.names, string([]byte(r.Entry)))
		t.entries[t.names[entry]] = entry
	}
	mhz, created := float32(0), math.NaN()
	if r.MHz != nil {
		mhz = float32(*r.MHz)
	}
	if r.Queue != nil {
		created = r.Start - *r.Queue
	}
	t.entry, t.size = append(t.entry, entry), append(t.size, t.sizeID(r.Sizes))
	t.iteration, t.lane, t.core = append(t.iteration, r.Iteration), append(t.lane, int32(r.Lane)), append(t.core, int32(r.Core))
	t.remote, t.mhz = append(t.remote, r.Flag == remote), append(t.mhz, mhz)
	t.start, t.seconds, t.created = append(t.start, r.Start), append(t.seconds, r.Seconds), append(t.created, created)
}

// sizeID returns the number of a combination of sizes.
func (t *Table) sizeID(sizes []int64) uint32 {
	t.key = t.key[:0]
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
