package transfer

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/foretime/foretime/edgeprof/internal/measurement"
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
// that comes twice, no latency above 0, or one in another unit than milliseconds; or [ErrTooFew].
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
	c := &Config{Board: device, Chip: device, Threads: max(1, measurement.ValueOr(data.Rows[0].Threads, 1)), GPU: -1, Log: make([]float64, len(t.Models))}
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
		case max(1, measurement.ValueOr(r.Threads, 1)) != c.Threads:
			return nil, nil, fmt.Errorf("%s: row %d: %w: %d threads, but %d in the rows before", path, i+1, ErrTable, measurement.ValueOr(r.Threads, 1), c.Threads)
		}
		c.Log[k] = math.Log(r.Average)
		anchors = append(anchors, k)
	}
	if err := t.checkUnits(c, anchors); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return c, anchors, nil
}

// implausible is the factor, beyond all devices of the table, from which a latency is taken to
// be in another unit.
const implausible = 10

// checkUnits refuses latencies that no device can have: seconds or microseconds instead of
// milliseconds, in all rows or in some.
func (t *Table) checkUnits(c *Config, anchors []int) error {
	var beyond []float64
	pattern, _ := anchorPattern(c.Log, anchors)
	for i, k := range anchors {
		if off := excess(pattern[i], t.logs(k, anchors)); math.Abs(off) > math.Log(implausible) {
			return fmt.Errorf("%w: avg_ms %.4g of %s is %.0f times beyond what the other rows and all devices of the table allow; want milliseconds",
				ErrTable, math.Exp(c.Log[k]), t.Models[k], math.Exp(math.Abs(off)))
		}
		beyond = append(beyond, excess(c.Log[k], t.logs(k, nil)))
	}
	off := stat.Mean(beyond, nil)
	switch {
	case off < -math.Log(implausible):
		return fmt.Errorf("%w: this device is %.0f times as fast as the fastest device of the table; want avg_ms in milliseconds", ErrTable, math.Exp(-off))
	case off > math.Log(implausible):
		return fmt.Errorf("%w: this device is %.0f times as slow as the slowest device of the table; want avg_ms in milliseconds", ErrTable, math.Exp(off))
	}
	return nil
}

// unusual is the factor, beyond all devices of the table, from which a latency deserves a look.
const unusual = 2

// FindUnusual describes the measurement that the other ones and the table make least likely; ""
// if all devices are about like it.
func (t *Table) FindUnusual(c *Config, anchors []int) string {
	worst, most := 0, 0.0
	pattern, _ := anchorPattern(c.Log, anchors)
	for i, k := range anchors {
		if off := math.Abs(excess(pattern[i], t.logs(k, anchors))); off > most {
			worst, most = k, off
		}
	}
	if most < math.Log(unusual) {
		return ""
	}
	return fmt.Sprintf("avg_ms %.4g of %s is %.1f times beyond what the other rows and all devices of the table suggest: is it right?", math.Exp(c.Log[worst]), t.Models[worst], math.Exp(most))
}

// excess returns how far a value is above the greatest of some, or, negative, below the least; 0
// between them or if there are none.
func excess(value float64, known []float64) float64 {
	if len(known) == 0 {
		return 0
	}
	return max(0, value-slices.Max(known)) + min(0, value-slices.Min(known))
}

// logs returns the logarithms of a model in the table, relative to the mean of some models, if
// there are any.
func (t *Table) logs(model int, relative []int) []float64 {
	var out []float64
	for i := range t.Configs {
		value := t.Configs[i].Log[model]
		if len(relative) > 0 {
			_, mean := anchorPattern(t.Configs[i].Log, relative)
			value -= mean
		}
		if !math.IsNaN(value) {
			out = append(out, value)
		}
	}
	return out
}
