package pair

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"

	"github.com/foretime/foretime/shared/uncertainty"
)

// Level is what the intervals promise.
const Level = 0.9

// nearest is how many measured pairs a prediction is the mean of.
const nearest = 2

// Model predicts for one device.
type Model struct {
	device string
	rows   []Row
	far    map[string]map[string]float64 // between names
	bands  uncertainty.Bands[bool]
}

// Fit learns from the rows of one device. The error matches
// uncertainty.ErrTooFew where they are too few to tell how far off predictions
// are.
func Fit(rows []Row) (*Model, error) {
	m := known(rows, distances(names(rows)))
	var relatives []bool
	var predicted, actual []float64
	for _, l := range leaveOut(rows, m.far) {
		relatives, predicted, actual = append(relatives, l.relative), append(predicted, l.value), append(actual, l.row.Speed)
	}
	var err error
	if m.bands, err = uncertainty.NewBands(uncertainty.Offset, Level, relatives, predicted, actual); err != nil {
		return nil, fmt.Errorf("%s: %w", cmp.Or(m.device, "pairs"), err)
	}
	return m, nil
}

func known(rows []Row, far map[string]map[string]float64) *Model {
	m := &Model{rows: rows, far: far}
	if len(rows) > 0 {
		m.device = rows[0].Device
	}
	return m
}

// Predict is the speed of a model beside another as a share of its speed alone.
// Relatives says that both are known, by themselves or by names that differ in
// numbers alone.
func (m *Model) Predict(model, other string) (p uncertainty.Prediction, relatives bool) {
	value, relatives := m.value(model, other)
	band, _ := m.bands.Of(relatives)
	p = band.Predict(value)
	p.Low, p.High = max(p.Low, 0), max(min(p.High, 1), value)
	return p, relatives
}

// candidate is a measured pair and how far its names are from those asked about.
type candidate struct{ distance, speed float64 }

func (m *Model) value(model, other string) (speed float64, relatives bool) {
	var near []candidate
	var beside, all []float64
	toModel, toOther := m.from(model), m.from(other)
	for _, r := range m.rows {
		if d := toModel[r.Model] + toOther[r.Other]; !math.IsInf(d, 1) {
			near = append(near, candidate{d, r.Speed})
		}
		if r.Model == model || r.Other == other {
			beside = append(beside, r.Speed)
		}
		all = append(all, r.Speed)
	}
	if len(near) > 0 {
		slices.SortStableFunc(near, func(a, b candidate) int { return cmp.Compare(a.distance, b.distance) })
		sum, n := 0.0, min(nearest, len(near))
		if near[0].distance == 0 { // this very pair, however often it was measured
			n = slices.IndexFunc(append(near, candidate{distance: 1}), func(c candidate) bool { return c.distance > 0 })
		}
		for _, c := range near[:n] {
			sum += c.speed
		}
		return sum / float64(n), true
	}
	if len(beside) == 0 {
		beside = all
	}
	return mean(beside), false
}

// from are the distances of a name from those in the rows.
func (m *Model) from(name string) map[string]float64 {
	if far, ok := m.far[name]; ok {
		return far
	}
	far := map[string]float64{}
	for _, other := range names(m.rows) {
		far[other] = distance(name, other)
	}
	return far
}

func distances(names []string) map[string]map[string]float64 {
	far := map[string]map[string]float64{}
	for _, a := range names {
		far[a] = map[string]float64{}
		for _, b := range names {
			far[a][b] = distance(a, b)
		}
	}
	return far
}

func mean(xs []float64) float64 {
	sum := 0.0
	for _, x := range xs {
		sum += x
	}
	return sum / float64(len(xs))
}

var tokens = regexp.MustCompile(`\d+(?:\.\d+)?|[A-Za-z]+`)

// distance is how far two names are apart: the sum of the logarithms of the ratios
// of their numbers, infinite where they differ in more than numbers.
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

// left is a row that was predicted without all rows of one of its programs.
type left struct {
	row      Row
	value    float64
	relative bool
}

// leaveOut predicts every row without each of its programs, one at a time.
func leaveOut(rows []Row, far map[string]map[string]float64) []left {
	var all []left
	for _, name := range names(rows) {
		has := func(r Row) bool { return r.Model == name || r.Other == name }
		rest := known(slices.DeleteFunc(slices.Clone(rows), has), far)
		if len(rest.rows) == 0 {
			continue
		}
		for _, r := range rows {
			if has(r) {
				value, relative := rest.value(r.Model, r.Other)
				all = append(all, left{r, value, relative})
			}
		}
	}
	return all
}

// names are the programs of rows, in order.
func names(rows []Row) []string {
	var all []string
	for _, r := range rows {
		all = append(all, r.Model, r.Other)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
