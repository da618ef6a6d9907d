package scaling

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/foretime/foretime/allox-est/internal/estimate"
	"github.com/foretime/foretime/allox-est/internal/jobspec"
	"github.com/foretime/foretime/allox-est/internal/journal"
	"github.com/foretime/foretime/shared/uncertainty"
)

// Configuration is a set of parameters of a job by name, with "threads" on a CPU or "gpus" on a
// GPU, "device", and "processor" if that is known.
type Configuration map[string]string

// Estimate is the estimate from the samples of a configuration for a job of that length.
type Estimate struct {
	Configuration Configuration          `json:"configuration"`
	Wall          uncertainty.Prediction `json:"wall_seconds"`
}

// Table is the configurations of a job that were sampled.
type Table struct {
	Estimates []Estimate
	// Notes say which configurations are left out, and why.
	Notes []string
	// Last is the configuration that was sampled last.
	Last Configuration
	// Numbers are the parameters that differ and are numbers, Names those that
	// differ and are not.
	Numbers, Names []string
}

// ErrSame is returned by a question about a parameter that has been the same in
// all samples.
var ErrSame = errors.New("the same in all samples")

// NewTable estimates every configuration among the samples of one job, at a
// length in epochs. The error wraps ErrTooFew where there is no sample at all, or
// those of several jobs.
func NewTable(runs []journal.Run, epochs int) (*Table, error) {
	groups := map[string][]journal.Run{}
	t := &Table{}
	job := ""
	for _, r := range runs {
		if r.Kind != journal.Sample {
			continue
		}
		if job != "" && r.Name != job {
			return nil, fmt.Errorf("%w: samples of two jobs, %s and %s, want one job", ErrTooFew, job, r.Name)
		}
		job, t.Last = r.Name, configurationOf(r)
		key := t.Last.text()
		groups[key] = append(groups[key], r)
	}
	if t.Last == nil {
		return nil, fmt.Errorf("%w: no sample", ErrTooFew)
	}
	for _, key := range slices.Sorted(maps.Keys(groups)) {
		same := groups[key]
		e, err := estimate.New(same, estimate.Job{Epochs: epochs, Device: same[0].Device}, estimate.Settings{})
		if err != nil {
			t.Notes = append(t.Notes, fmt.Sprintf("%s: not used: %v", key, err))
			continue
		}
		t.Estimates = append(t.Estimates, Estimate{configurationOf(same[0]), e.Wall})
	}
	t.sort()
	return t, nil
}

// configurationOf returns the configuration of a run.
func configurationOf(r journal.Run) Configuration {
	c := Configuration{"device": r.Device}
	if r.Device == jobspec.GPU {
		c["gpus"] = strconv.Itoa(max(1, r.GPUs))
	} else {
		c["threads"] = strconv.Itoa(r.Threads)
	}
	if r.Processor != "" {
		c["processor"] = r.Processor
	}
	maps.Copy(c, r.Params)
	return c
}

// text is a configuration in words, always in the same order.
func (c Configuration) text() string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(c)) {
		parts = append(parts, name+"="+c[name])
	}
	return strings.Join(parts, " ")
}

// Of returns those parameters of a configuration that differ among the samples.
func (t *Table) Of(c Configuration) string {
	short := Configuration{}
	for _, name := range append(slices.Clone(t.Numbers), t.Names...) {
		if value, ok := c[name]; ok {
			short[name] = value
		}
	}
	return short.text()
}

// sort finds the parameters that differ between the configurations. One that is a number in
// all of them may be a count.
func (t *Table) sort() {
	values := map[string]map[string]int{}
	for _, e := range t.Estimates {
		for name, value := range e.Configuration {
			if values[name] == nil {
				values[name] = map[string]int{}
			}
			values[name][value]++
		}
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		counts, all := true, 0
		for value, n := range values[name] {
			x, err := strconv.ParseFloat(value, 64)
			counts, all = counts && err == nil && x > 0, all+n
		}
		switch {
		case len(values[name]) < 2:
		case counts && all == len(t.Estimates):
			t.Numbers = append(t.Numbers, name)
		default:
			t.Names = append(t.Names, name)
		}
	}
}

// cell is a configuration as a model takes it.
func (t *Table) cell(c Configuration, seconds float64) Cell {
	cell := Cell{Seconds: seconds}
	for _, name := range t.Numbers {
		x, _ := strconv.ParseFloat(c[name], 64) // 0 is refused by the model
		cell.Numbers = append(cell.Numbers, x)
	}
	var class []string
	for _, name := range t.Names {
		class = append(class, name+"="+c[name])
	}
	cell.Class = strings.Join(class, " ")
	return cell
}

// Fit fits a model to the table; errors as of [Fit].
func (t *Table) Fit(level float64) (*Model, error) {
	var cells []Cell
	for _, e := range t.Estimates {
		cells = append(cells, t.cell(e.Configuration, e.Wall.Value))
	}
	return Fit(cells, level)
}

// Ask predicts a configuration: the last sampled one with some parameters
// changed. The error wraps ErrSame, ErrUnknown or ErrCell.
func (t *Table) Ask(m *Model, changed Configuration) (Configuration, uncertainty.Prediction, error) {
	asked := maps.Clone(t.Last)
	if device, ok := changed["device"]; ok && device != t.Last["device"] {
		delete(asked, "threads")
		delete(asked, "gpus")
		for _, e := range t.Estimates { // the newest sort last
			if e.Configuration["device"] == device {
				maps.Copy(asked, e.Configuration)
			}
		}
	}
	for name, value := range changed {
		differs := slices.Contains(t.Numbers, name) || slices.Contains(t.Names, name)
		if _, known := asked[name]; !known {
			return nil, uncertainty.Prediction{}, fmt.Errorf("%w: no sample has the parameter %s", ErrUnknown, name)
		}
		if !differs && value != asked[name] {
			return nil, uncertainty.Prediction{}, fmt.Errorf("%s: %w: %q, not %q", name, ErrSame, asked[name], value)
		}
		asked[name] = value
	}
	c := t.cell(asked, 1)
	p, err := m.Predict(c.Numbers, c.Class)
	return asked, p, err
}

// Doubtful returns the configuration of the grid of values seen, and of one
// asked for, whose interval is the widest of those not sampled: the next to
// sample. It is nil where all of the grid were.
func (t *Table) Doubtful(m *Model, asked Configuration) Configuration {
	sampled := map[string]bool{}
	for _, e := range t.Estimates {
		sampled[t.Of(e.Configuration)] = true
	}
	grid := []Configuration{asked}
	for _, name := range t.Numbers {
		values := []string{asked[name]}
		for _, e := range t.Estimates {
			values = append(values, e.Configuration[name])
		}
		slices.Sort(values)
		var wider []Configuration
		for _, c := range grid {
			for _, v := range slices.Compact(values) {
				next := maps.Clone(c)
				next[name] = v
				wider = append(wider, next)
			}
		}
		grid = wider
	}
	var most Configuration
	widest := 0.0
	for _, c := range grid {
		cell := t.cell(c, 1)
		if p, err := m.Predict(cell.Numbers, cell.Class); err == nil && p.High/p.Low > widest && !sampled[t.Of(c)] {
			most, widest = c, p.High/p.Low
		}
	}
	return most
}
