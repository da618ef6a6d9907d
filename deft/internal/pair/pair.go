package pair

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"

	"github.com/foretime/foretime/shared/uncertainty"
)

// Level is the nominal coverage of the intervals.
const Level = 0.9

// nearest is the number of measured pairs whose mean is a prediction; set by hand.
const nearest = 2

// Model predicts for one device.
type Model struct {
	rows  []Row
	far   map[string]map[string]float64 // distances between names
	bands uncertainty.Bands[bool]
}

// Fit learns from the rows of one device. The error matches uncertainty.ErrTooFew if the
// rows are too few to estimate the error of predictions.
func Fit(rows []Row) (*Model, error) {
	m := &Model{rows: rows, far: map[string]map[string]float64{}}
	for _, name := range names(rows) {
		m.far[name] = m.distances(name)
	}
	var relatives []bool
	var predicted, actual []float64
	err := leaveOut(rows, func(_ string, rest, left []Row) error {
		one := &Model{rows: rest, far: m.far}
		for _, r := range left {
			value, relative := one.value(r.Model, r.Other)
			relatives, predicted, actual = append(relatives, relative), append(predicted, value), append(actual, r.Speed)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if m.bands, err = uncertainty.NewBands(uncertainty.Offset, Level, relatives, predicted, actual); err != nil {
		return nil, fmt.Errorf("%s: %w", cmp.Or(slices.Concat(rows, []Row{{}})[0].Device, "pairs"), tooFew(err))
	}
	return m, nil
}

// tooFew names the values of which a table has too few.
func tooFew(err error) error {
	if errors.Is(err, uncertainty.ErrTooFew) {
		return fmt.Errorf("an interval needs more measured pairs, each predicted without the rows of one of its programs: %w", err)
	}
	return err
}

// Predict returns the speed of a model next to another, relative to alone. Relatives says
// that both are in the table, or programs whose names differ from theirs in numbers only.
func (m *Model) Predict(model, other string) (p uncertainty.Prediction, relatives bool) {
	value, relatives := m.value(model, other)
	band, _ := m.bands.Of(relatives)
	p = band.Predict(value)
	p.Low = max(p.Low, 0) // two programs may also help each other: no limit above
	return p, relatives
}

// Known says whether a program is in the table, or one whose name differs from it in
// numbers only.
func (m *Model) Known(program string) bool {
	for _, d := range m.distances(program) {
		if !math.IsInf(d, 1) {
			return true
		}
	}
	return false
}

// Closest returns the program of the table whose name needs the fewest changes to become
// this one.
func (m *Model) Closest(program string) string {
	all := names(m.rows)
	return slices.MinFunc(all, func(a, b string) int { return cmp.Compare(edits(a, program), edits(b, program)) })
}

// edits returns the Levenshtein distance of two names.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal, row[j+1] = row[j+1], min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// candidate is the speed of a measured pair and the distance of its names from those of a
// question.
type candidate struct{ distance, speed float64 }

func (m *Model) value(model, other string) (speed float64, relatives bool) {
	var near []candidate
	toModel, toOther := m.distances(model), m.distances(other)
	for _, r := range m.rows {
		if d := toModel[r.Model] + toOther[r.Other]; !math.IsInf(d, 1) {
			near = append(near, candidate{d, r.Speed})
		}
	}
	if len(near) > 0 {
		slices.SortStableFunc(near, func(a, b candidate) int { return cmp.Compare(a.distance, b.distance) })
		sum, n := 0.0, min(nearest, len(near))
		if near[0].distance == 0 { // this very pair, however often it was measured
			n = 1
		}
		for n < len(near) && near[n].distance-near[n-1].distance < 1e-9 { // in any order
			n++
		}
		for _, c := range near[:n] {
			sum += c.speed
		}
		return sum / float64(n), true
	}
	same := remove(m.rows, func(r Row) bool { return r.Model != model && r.Other != other })
	if len(same) == 0 {
		same = m.rows
	}
	return mean(same), false
}

// distances returns the distance of a name from each name in the rows.
func (m *Model) distances(name string) map[string]float64 {
	if far, ok := m.far[name]; ok {
		return far
	}
	far := map[string]float64{}
	for _, other := range names(m.rows) {
		far[other] = distance(name, other)
	}
	return far
}

// mean returns the mean speed of rows, at least one.
func mean(rows []Row) float64 {
	sum := 0.0
	for _, r := range rows {
		sum += r.Speed
	}
	return sum / float64(len(rows))
}

var tokens = regexp.MustCompile(`\d+(?:\.\d+)?|[A-Za-z]+`)

// distance returns the sum of the logarithms of the ratios of two names' numbers, infinite
// if they differ in more than numbers.
func distance(a, b string) float64 {
	x, y := tokens.FindAllString(a, -1), tokens.FindAllString(b, -1)
	if a == b {
		return 0
	}
	if len(x) != len(y) {
		return math.Inf(1)
	}
	sum := 0.0
	for i := range x {
		p, err1 := strconv.ParseFloat(x[i], 64)
		q, err2 := strconv.ParseFloat(y[i], 64)
		switch {
		case err1 == nil && err2 == nil:
			sum += math.Abs(math.Log(max(p, 1e-9) / max(q, 1e-9)))
		case x[i] != y[i]:
			return math.Inf(1)
		}
	}
	return sum
}

// leaveOut calls f for each program with the rows that do not contain it, if there are
// any, and those that do.
func leaveOut(rows []Row, f func(name string, rest, left []Row) error) error {
	for _, name := range names(rows) {
		rest := remove(rows, func(r Row) bool { return r.contains(name) })
		if len(rest) == 0 {
			continue
		}
		if err := f(name, rest, remove(rows, func(r Row) bool { return !r.contains(name) })); err != nil {
			return err
		}
	}
	return nil
}

func (r Row) contains(name string) bool { return r.Model == name || r.Other == name }

// remove returns the rows for which drop is false.
func remove(rows []Row, drop func(Row) bool) []Row {
	return slices.DeleteFunc(slices.Clone(rows), drop)
}

// names returns the programs of rows, in order.
func names(rows []Row) []string {
	var all []string
	for _, r := range rows {
		all = append(all, r.Model, r.Other)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
