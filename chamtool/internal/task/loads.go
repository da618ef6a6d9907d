package task

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"

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
		loads, err := readLoadTable(whole, path)
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

// readLoadTable returns the loads of a table in order.
func readLoadTable(r io.Reader, name string) ([]float64, error) {
	var lines []string
	scanner := bufio.NewScanner(r)
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		if line := strings.TrimSpace(scanner.Text()); line != "" {
			lines = append(lines, line)
		}
	}
	if err := scanner.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	texts, bad := findLoads(lines)
	if bad > 0 {
		return nil, fmt.Errorf("%s: row %d is not the next one of the table, and a series of loads has no gaps", name, bad)
	}
	loads := make([]float64, len(texts))
	for i, text := range texts {
		load, err := seconds(text, "load")
		if err != nil {
			return nil, fmt.Errorf("%s: load %d: %w", name, i+1, err)
		}
		loads[i] = load
	}
	return loads, nil
}
