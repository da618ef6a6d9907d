package transfer

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/foretime/foretime/edgeprof/internal/measurement"
	"github.com/foretime/foretime/shared/dataset"
)

// Returned when a table cannot be used.
var (
	// ErrTable is returned for a table without usable rows.
	ErrTable = errors.New("unusable table of latencies")
	// ErrTooFew is returned for too few chips, models or anchors.
	ErrTooFew = errors.New("too few measurements")
)

// Row is one measured latency.
type Row struct {
	Board     string  `dataset:"board"`
	SoC       string  `dataset:"soc,optional"`
	Threads   *int    `dataset:"threads"`
	PowerSave *int    `dataset:"powersave"`
	GPU       *int    `dataset:"gpu_device"` // -1 or nil: the processor
	Model     string  `dataset:"model"`
	Average   float64 `dataset:"avg_ms"`
	Run       string  `dataset:"run,optional"`
	Chip      string  `dataset:"chip,optional"` // "": the board
}

// Config is a board in one setting, with the natural logarithm of milliseconds
// of each model; NaN where it was not measured.
type Config struct {
	Board, SoC, Chip, Run string
	Threads               int
	PowerSave             int
	GPU                   int // -1 is the processor
	Log                   []float64
}

// name returns what identifies a configuration.
func (c *Config) name() string {
	return fmt.Sprintf("%s|%s|%d|%d|%d", c.Board, c.Run, c.Threads, c.PowerSave, c.GPU)
}

// Table is configurations by models.
type Table struct {
	Models  []string
	Configs []Config
	Dropped int // rows without a latency above 0
}

// ReadTable reads rows of one or more files. Models are identified by name; some files spell _
// as -.
func ReadTable(paths []string, cpuOnly bool) (*Table, error) {
	var rows []Row
	t := &Table{}
	for _, path := range paths {
		data, err := dataset.Load[Row](path, dataset.Options{})
		if err != nil {
			return nil, err
		}
		if len(data.Diagnostics) > 0 {
			return nil, data.Diagnostics[0]
		}
		rows = append(rows, data.Rows...)
	}
	rows = slices.DeleteFunc(rows, func(r Row) bool { return cpuOnly && measurement.ValueOr(r.GPU, -1) >= 0 })
	known := map[string]bool{}
	for i := range rows {
		known[rows[i].Model] = true
	}
	for i := range rows {
		if name := strings.ReplaceAll(rows[i].Model, "-", "_"); known[name] {
			delete(known, rows[i].Model)
			known[name], rows[i].Model = true, name
		}
	}
	t.Models = slices.Sorted(maps.Keys(known))
	t.addRows(rows)
	if len(t.Configs) == 0 {
		return nil, fmt.Errorf("%w: %s: no latency above 0 in %d rows", ErrTable, strings.Join(paths, ", "), len(rows))
	}
	return t, nil
}

func (t *Table) addRows(rows []Row) {
	byName := map[string]int{}
	for i := range rows {
		r := &rows[i]
		if !(r.Average > 0) || math.IsInf(r.Average, 0) {
			t.Dropped++
			continue
		}
		c := Config{
			Board: r.Board, SoC: r.SoC, Chip: cmp.Or(r.Chip, r.Board), Run: r.Run, Threads: max(1, measurement.ValueOr(r.Threads, 1)), PowerSave: measurement.ValueOr(r.PowerSave, 0),
			GPU: max(-1, measurement.ValueOr(r.GPU, -1)),
		}
		at, ok := byName[c.name()]
		if !ok {
			at = len(t.Configs)
			byName[c.name()] = at
			c.Log = make([]float64, len(t.Models))
			for k := range c.Log {
				c.Log[k] = math.NaN()
			}
			t.Configs = append(t.Configs, c)
		}
		k, _ := slices.BinarySearch(t.Models, r.Model)
		t.Configs[at].Log[k] = math.Log(r.Average)
	}
}

// Chips lists them in order.
func (t *Table) Chips() []string {
	var chips []string
	for i := range t.Configs {
		if !slices.Contains(chips, t.Configs[i].Chip) {
			chips = append(chips, t.Configs[i].Chip)
		}
	}
	slices.Sort(chips)
	return chips
}

// WithoutChips returns the table without some chips.
func (t *Table) WithoutChips(chips ...string) *Table {
	out := &Table{Models: t.Models}
	for _, c := range t.Configs {
		if !slices.Contains(chips, c.Chip) {
			out.Configs = append(out.Configs, c)
		}
	}
	return out
}

// IsInt8 reports whether a model's weights and sums are integers: these are judged
// apart.
func IsInt8(model string) bool {
	return strings.HasSuffix(model, "_int8") || strings.HasSuffix(model, "-int8")
}
