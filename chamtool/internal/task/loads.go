package task

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/foretime/foretime/shared/dataset"
	"github.com/foretime/foretime/shared/file"
)

// ReadLoads returns the loads of a rank's iterations in seconds, in order: of a table of
// iteration loads, or the sums of a log of tasks. Lines that cannot be used are errors in a
// table, since a series has no gaps, and diagnostics in a log.
func ReadLoads(ctx context.Context, path string) ([]float64, []*dataset.SyntaxError, error) {
	f, err := file.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	whole, first, err := unpack(f)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(first) > 0 && detect(first) == FormatLoads {
		_, windows := isLoadTable(first)
		loads, err := readLoadTable(whole, path, windows)
		return loads, nil, err
	}
	loads := map[int]float64{}
	most := -1
	l, err := Scan(ctx, path, Options{Add: func(r *Row) {
		loads[r.Iteration] += r.Seconds
		most = max(most, r.Iteration)
	}})
	if err != nil {
		return nil, nil, err
	}
	if l.Format == FormatTab { // its tasks have no iteration
		return l.Loads, l.Diagnostics, nil
	}
	var out []float64
	for i := range most + 1 {
		if loads[i] > 0 { // an iteration without a task has no load
			out = append(out, loads[i])
		}
	}
	return out, l.Diagnostics, nil
}

// loadTable takes the rows of a table of iteration loads.
type loadTable struct {
	windows bool     // of loads, not rows that are numbered by iteration
	before  []string // the row before
	loads   []float64
}

// readLoadTable returns the loads of a table in order.
func readLoadTable(r io.Reader, name string, windows bool) ([]float64, error) {
	t := loadTable{windows: windows}
	l := &Log{Name: name}
	if err := l.lines(r, t.add); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(l.Diagnostics) > 0 {
		return nil, fmt.Errorf("%w: a series of loads has no gaps", l.Diagnostics[0])
	}
	return t.loads, nil
}

func (t *loadTable) add(fields []string) error {
	n := len(fields)
	if t.before == nil && !areNumbers(fields) {
		return nil // the names of the columns
	}
	rest := fields[:n-1]
	switch {
	case t.before == nil && t.windows:
		for _, field := range rest {
			if err := t.addLoad(field); err != nil {
				return err
			}
		}
	case t.before == nil:
	case len(t.before) != n:
		return fmt.Errorf("%d columns, want %d", n, len(t.before))
	case t.windows && !areEqual(t.before[1:], rest):
		return errors.New("not the loads of the row before, moved by one")
	case !t.windows && !follows(t.before[0], fields[0]):
		return fmt.Errorf("iteration %s after %s", clip(fields[0]), clip(t.before[0]))
	}
	t.before = fields
	return t.addLoad(fields[n-1])
}

func (t *loadTable) addLoad(field string) error {
	load, err := seconds(field, "load")
	t.loads = append(t.loads, load)
	return err
}
