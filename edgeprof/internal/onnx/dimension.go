package onnx

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// ErrDimension is returned for a size that cannot be read, or whose dimension the model does
// not leave open.
var ErrDimension = errors.New("wrong dimension")

// ErrValue is returned for the value of an input that cannot be read, or that the model
// does not have.
var ErrValue = errors.New("wrong value of an input")

// Settings sets the sizes and values that a file leaves open. The zero value works.
type Settings struct {
	// Sizes of open dimensions of the inputs, by the dimension's name or by
	// INPUT:AXIS, axes counted from 0; and numbers of trips of loops, by
	// NODE:trips. A dimension without an entry is assumed, and reported: a picture
	// has the size that the exporter noted, or 224; text has 128 tokens; others are 1.
	Sizes map[string]int64
	// Values holds the inputs that decide sizes within the graph, such as the target
	// of a Resize, by the input's name: one for each element, or one for all.
	Values map[string][]float64
}

// ParseValues reads values of inputs as users write them, NAME=4 or NAME=480,640, into
// the settings. The error matches [ErrValue].
func (s *Settings) ParseValues(texts []string) error {
	s.Values = map[string][]float64{}
	for _, text := range texts {
		name, list, ok := strings.Cut(text, "=")
		if _, twice := s.Values[name]; twice || !ok || name == "" {
			return fmt.Errorf("%w: %q: want INPUT=VALUE, once for each input", ErrValue, text)
		}
		for _, field := range strings.Split(list, ",") {
			v, err := strconv.ParseFloat(field, 64)
			if err != nil {
				return fmt.Errorf("%w: %q: %q is not a number", ErrValue, text, field)
			}
			s.Values[name] = append(s.Values[name], v)
		}
	}
	return nil
}

// withValue returns an input with the values that the settings give it.
func (s *Settings) withValue(v Value, t TensorInfo) (TensorInfo, error) {
	values, ok := s.Values[v.Name]
	if !ok {
		return t, nil
	}
	if len(v.Shape) == 1 && v.Shape[0].Size < 0 {
		t.Shape = []int64{int64(len(values))}
	}
	n := t.Elements()
	if n > short || n != int64(len(values)) && len(values) != 1 {
		return t, fmt.Errorf("%w: input %q has shape %v, but %d values are given", ErrValue, v.Name, t.Shape, len(values))
	}
	if n == 0 {
		t.Value, t.Real = []int64{}, []float64{}
	}
	for i := range n {
		one := values[min(i, int64(len(values)-1))]
		if slices.Contains([]DataType{Float32, Float64, Float16, BFloat16}, t.Type) {
			t.Real = append(t.Real, one)
		} else {
			t.Value = append(t.Value, int64(one))
		}
	}
	return t, nil
}

// ParseSizes reads sizes as users write them: NAME=4, INPUT:AXIS=4, or NAME:4.
// The error matches [ErrDimension].
func ParseSizes(texts []string) (Settings, error) {
	s := Settings{Sizes: map[string]int64{}}
	for _, text := range texts {
		cut := strings.LastIndexByte(text, '=')
		if cut < 0 {
			cut = strings.LastIndexByte(text, ':')
		}
		n, err := strconv.ParseInt(text[cut+1:], 10, 64)
		if err != nil || n < 1 || cut < 1 {
			return s, fmt.Errorf("%w: %q: want NAME=SIZE or INPUT:AXIS=SIZE with a size of 1 or more", ErrDimension, text)
		}
		if before, twice := s.Sizes[text[:cut]]; twice {
			return s, fmt.Errorf("%w: %q: %s was already set to %d", ErrDimension, text, text[:cut], before)
		}
		s.Sizes[text[:cut]] = n
	}
	return s, nil
}

// OpenDimension is a dimension of an input that the file leaves open.
type OpenDimension struct {
	Input string `json:"input"`
	Axis  int    `json:"axis"`
	Name  string `json:"name,omitempty"` // "" where the file gives none
	Size  int64  `json:"size"`           // that it was taken for
	Given bool   `json:"given"`          // by the settings, not assumed

	batch bool // how many inputs are computed at once
}

// Key returns the name that sets the dimension: its own, or INPUT:AXIS.
func (o OpenDimension) Key() string { return cmp.Or(o.Name, axisKey(o.Input, o.Axis)) }

// String names the dimension and its size: x:0 (batch) = 4, or 1 assumed.
func (o OpenDimension) String() string {
	name := ""
	if o.Name != "" {
		name = " (" + o.Name + ")"
	}
	assumed := ""
	if !o.Given {
		assumed = " assumed"
	}
	return fmt.Sprintf("%s:%d%s = %d%s", o.Input, o.Axis, name, o.Size, assumed)
}

// dimensions holds the open dimensions and the sizes of their names.
type dimensions struct {
	sizes map[string]int64
	open  []OpenDimension
	named map[string]int64
	given map[string]bool // of the named ones
	used  map[string]bool
}

// axisKey returns the key of an axis.
func axisKey(input string, axis int) string { return fmt.Sprintf("%s:%d", input, axis) }

// newDimensions finds the open dimensions of the inputs. Those of one name have
// one size.
func newDimensions(inputs []Value, sizes map[string]int64, picture [2]int64) *dimensions {
	d := &dimensions{sizes: sizes, named: map[string]int64{}, given: map[string]bool{}, used: map[string]bool{}}
	for _, v := range inputs {
		for i, dim := range v.Shape {
			if dim.Size >= 0 {
				continue
			}
			o := OpenDimension{Input: v.Name, Axis: i, Name: dim.Name}
			if o.Name == "?" { // what some exporters write for no name
				o.Name = ""
			}
			o.assume(v, picture)
			for _, key := range []string{o.Name, axisKey(v.Name, i)} {
				if size, ok := sizes[key]; ok && key != "" {
					o.Size = size
					o.Given = true
					d.used[key] = true
				}
			}
			if o.Given && o.Name != "" {
				d.named[o.Name], d.given[o.Name] = o.Size, true
			}
			d.open = append(d.open, o)
		}
	}
	for i := range d.open {
		o := &d.open[i]
		if size, ok := d.named[o.Name]; ok && !o.Given {
			o.Size = size
			o.Given = d.given[o.Name]
		} else if size, ok := d.evaluate(o.Name, d.sizes); ok && !o.Given {
			o.Size = size
			o.Given = true
		} else if size, ok := d.evaluate(o.Name, d.named); ok && !o.Given {
			o.Size = size
		}
		if _, ok := d.named[o.Name]; !ok && o.Name != "" {
			d.named[o.Name] = o.Size
		}
	}
	return d
}

// longestExpression bounds the names that are read as expressions, in bytes.
const longestExpression = 200

// evaluate returns the value of an expression of whole numbers and names with sizes, as in
// "past_sequence_length + 1" or "s0*s1"; false for other names, and values below 1.
func (d *dimensions) evaluate(name string, sizes map[string]int64) (int64, bool) {
	if len(name) > longestExpression {
		return 0, false
	}
	e, err := parser.ParseExpr(name)
	if err != nil {
		return 0, false
	}
	size, ok := d.evaluateNode(e, sizes)
	return size, ok && size >= 1 && size <= math.MaxInt32
}

func (d *dimensions) evaluateNode(e ast.Expr, sizes map[string]int64) (int64, bool) {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return d.evaluateNode(e.X, sizes)
	case *ast.BasicLit:
		n, err := strconv.ParseInt(e.Value, 10, 32)
		return n, err == nil
	case *ast.Ident:
		n, ok := sizes[e.Name]
		if _, given := d.sizes[e.Name]; given {
			d.used[e.Name] = true
		}
		return n, ok && n <= math.MaxInt32
	case *ast.BinaryExpr:
		x, known := d.evaluateNode(e.X, sizes)
		y, ok := d.evaluateNode(e.Y, sizes)
		if !known || !ok {
			return 0, false
		}
		switch e.Op {
		case token.ADD:
			return x + y, true
		case token.SUB:
			return x - y, true
		case token.MUL:
			return multiplyCounts(x, y), true
		case token.QUO:
			return x / max(1, y), y > 0
		}
	}
	return 0, false
}

// guesses are sizes of open dimensions by their names, the first that fits: a second of
// sound at 16 kHz, or of its frames of 10 ms.
var guesses = []struct {
	names *regexp.Regexp
	size  int64
	batch bool
}{
	{regexp.MustCompile(`(?i)batch|^(n|b|bs|num_images)$`), 1, true},
	{regexp.MustCompile(`(?i)channel|^c$`), 3, false},
	{regexp.MustCompile(`(?i)height|width|^(h|w|rows|cols|columns|image_size|img_size|resolution)$|_(h|w)$`), 224, false},
	{regexp.MustCompile(`(?i)seq|token|^(l|t|s|text|words)$|(text|prompt|context|source|target)_?(len|size)`), 128, false},
	{regexp.MustCompile(`(?i)sample|audio|waveform|wav|signal|pcm`), 16000, false},
	{regexp.MustCompile(`(?i)frame|time|mel|feats?_len`), 100, false},
	{regexp.MustCompile(`(?i)^(num|max)_|points?$|nodes?$|edges?$|box|roi|object|proposal|atom|vert(ex|ices)|candidate`), 1, false},
}

// assume sets the size of an open axis that nobody gives: by its name; of a picture's
// heights and widths, of a text's tokens, else 1. A name of one letter is a batch's on the
// first axis only: the points of a cloud are N, too.
func (o *OpenDimension) assume(v Value, picture [2]int64) {
	first := space(v.Shape)
	for _, g := range guesses {
		if o.Name != "" && g.names.MatchString(o.Name) {
			o.Size, o.batch = g.size, g.batch && (o.Axis == 0 || len(o.Name) > 1)
			break
		}
	}
	switch {
	case first > 0 && (o.Axis == first || o.Axis == first+1):
		o.Size, o.batch = cmp.Or(picture[o.Axis-first], max(o.Size, 224)), false
	case o.Size > 0:
	case len(v.Shape) == 2 && o.Axis == 1 && (v.Type == Int64 || v.Type == Int32):
		o.Size = 128
	default:
		o.Size, o.batch = 1, o.Axis == 0
	}
}

// space returns the first of a picture's two axes of space, next to one of three channels, or
// of one if both are open; 0 if the shape is not a picture's.
func space(shape []Dim) int {
	if len(shape) != 4 {
		return 0
	}
	for _, at := range []struct{ first, channels int }{{2, 1}, {1, 3}} {
		channels, open := shape[at.channels].Size, shape[at.first].Size < 0 && shape[at.first+1].Size < 0
		if channels == 3 || channels == 1 && open {
			return at.first
		}
	}
	return 0
}

// size returns the size of an input's axis.
func (d *dimensions) size(input string, axis int) int64 {
	for _, o := range d.open {
		if o.Input == input && o.Axis == axis {
			return o.Size
		}
	}
	return 1
}

// statedShape returns a shape that the file states within the graph; false while one of
// its dimensions is open.
func (d *dimensions) statedShape(dims []Dim) ([]int64, bool) {
	shape := make([]int64, len(dims))
	for i, dim := range dims {
		shape[i] = dim.Size
		if dim.Size >= 0 {
			continue
		}
		size, ok := d.named[dim.Name]
		if given, stands := d.sizes[dim.Name]; stands && dim.Name != "" {
			size = given
			ok = true
			d.used[dim.Name] = true
		}
		if !ok && dim.Name != "" {
			if size, ok = d.evaluate(dim.Name, d.sizes); !ok {
				size, ok = d.evaluate(dim.Name, d.named)
			}
		}
		if !ok || dim.Name == "" {
			return nil, false
		}
		shape[i] = size
	}
	return shape, true
}

// check refuses sizes that nothing took.
func (d *dimensions) check() error {
	for _, name := range slices.Sorted(maps.Keys(d.sizes)) {
		if !d.used[name] {
			if len(d.open) == 0 {
				return fmt.Errorf("%w: %q is not an open dimension; the model has none", ErrDimension, name)
			}
			return fmt.Errorf("%w: %q is not an open dimension; the open ones are %s", ErrDimension, name, d)
		}
	}
	return nil
}

// String lists the open dimensions.
func (d *dimensions) String() string {
	if len(d.open) == 0 {
		return "none"
	}
	parts := make([]string, len(d.open))
	for i, o := range d.open {
		parts[i] = o.String()
	}
	return strings.Join(parts, ", ")
}
