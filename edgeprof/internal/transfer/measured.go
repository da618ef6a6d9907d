package transfer

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/foretime/foretime/shared/dataset"
)

// Measurement is a latency on a new device.
type Measurement struct {
	Model   string  `dataset:"model"`
	Average float64 `dataset:"avg_ms"`
	Threads *int    `dataset:"threads"`
}

// ReadMeasured reads what was measured on a new device, all with the same
// threads. The error matches [ErrTable]: a model that the table does not have, or
// that comes twice, no latency above 0, or [ErrTooFew].
func ReadMeasured(path, device string, t *Table) (*Config, []int, error) {
	data, err := dataset.Load[Measurement](path, dataset.Options{})
	if err != nil {
		return nil, nil, err
	}
	if len(data.Diagnostics) > 0 {
		return nil, nil, data.Diagnostics[0]
	}
	if len(data.Rows) == 0 {
		return nil, nil, fmt.Errorf("%s: %w: no measurement", path, ErrTooFew)
	}
	c := &Config{Board: device, Chip: device, Threads: max(1, otherwise(data.Rows[0].Threads, 1)), GPU: -1, Log: make([]float64, len(t.Models))}
	for k := range c.Log {
		c.Log[k] = math.NaN()
	}
	var anchors []int
	for i, r := range data.Rows {
		k, known := slices.BinarySearch(t.Models, r.Model)
		switch {
		case !known:
			return nil, nil, fmt.Errorf("%s: row %d: %w: no device has a latency of model %q; the table has %s", path, i+1, ErrTable, r.Model, strings.Join(t.Models, ", "))
		case !(r.Average > 0) || math.IsInf(r.Average, 0):
			return nil, nil, fmt.Errorf("%s: row %d: %w: %s has avg_ms %v, want a number above 0", path, i+1, ErrTable, r.Model, r.Average)
		case slices.Contains(anchors, k):
			return nil, nil, fmt.Errorf("%s: row %d: %w: %s is listed twice", path, i+1, ErrTable, r.Model)
		case max(1, otherwise(r.Threads, 1)) != c.Threads:
			return nil, nil, fmt.Errorf("%s: row %d: %w: %d threads, but %d in the rows before", path, i+1, ErrTable, otherwise(r.Threads, 1), c.Threads)
		}
		c.Log[k] = math.Log(r.Average)
		anchors = append(anchors, k)
	}
	return c, anchors, nil
}
