package ncnn

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/foretime/foretime/edgeprof/internal/onnx"
	"github.com/foretime/foretime/shared/file"
)

// ErrSyntax is returned for text that is no graph of ncnn.
var ErrSyntax = errors.New("not an ncnn graph")

// magic is the first line of every file.
const magic = "7767517"

// most is the largest number of layers and blobs of a graph.
const most = 1 << 20

// ReadFile reads the graph in a file.
func ReadFile(path string) (*onnx.Model, error) {
	f, err := file.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m, err := Read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// Read reads a graph. The error matches [ErrSyntax], or is the reader's.
func Read(r io.Reader) (*onnx.Model, error) {
	scan := bufio.NewScanner(r)
	scan.Buffer(nil, 1<<20)
	g := newGraph()
	layers, line := -1, 0
	for scan.Scan() {
		line++
		fields := strings.Fields(scan.Text())
		switch {
		case line == 1:
			if len(fields) != 1 || fields[0] != magic {
				return nil, fmt.Errorf("%w: line 1 is not %s", ErrSyntax, magic)
			}
		case line == 2:
			var err error
			if len(fields) != 2 {
				return nil, fmt.Errorf("%w: line 2: want the numbers of layers and blobs", ErrSyntax)
			}
			if layers, err = strconv.Atoi(fields[0]); err != nil || layers < 1 || layers > most {
				return nil, fmt.Errorf("%w: line 2: %q is no number of layers", ErrSyntax, fields[0])
			}
		case len(fields) > 0:
			l, err := parse(fields)
			if err == nil {
				err = g.add(l)
			}
			if err != nil {
				return nil, fmt.Errorf("%w: line %d: %w", ErrSyntax, line, err)
			}
			layers--
		}
	}
	if err := scan.Err(); err != nil {
		return nil, err
	}
	if line < 2 || layers > 0 { // some writers count one too few
		return nil, fmt.Errorf("%w: %d layers are missing, by the count in line 2", ErrSyntax, layers)
	}
	return g.model(), nil
}

// layer is one line: type, name, numbers of inputs and outputs, their names, and
// settings by number.
type layer struct {
	kind, name      string
	inputs, outputs []string
	settings        map[int][]float64
}

func parse(fields []string) (*layer, error) {
	if len(fields) < 4 {
		return nil, fmt.Errorf("%d words, want at least type, name, inputs and outputs", len(fields))
	}
	l := &layer{kind: fields[0], name: fields[1], settings: map[int][]float64{}}
	in, err1 := strconv.Atoi(fields[2])
	out, err2 := strconv.Atoi(fields[3])
	if err1 != nil || err2 != nil || in < 0 || out < 0 || in > len(fields)-4 || out > len(fields)-4-in {
		return nil, fmt.Errorf("%s %s: %q inputs and %q outputs do not fit %d words", l.kind, l.name, fields[2], fields[3], len(fields))
	}
	l.inputs, l.outputs = fields[4:4+in], fields[4+in:4+in+out]
	for _, text := range fields[4+in+out:] {
		if err := l.set(text); err != nil {
			return nil, fmt.Errorf("%s %s: %w", l.kind, l.name, err)
		}
	}
	return l, nil
}

// arrays are numbered downward from here: -23300 is setting 0, its first value
// the number of those that follow.
const arrays = -23300

func (l *layer) set(text string) error {
	key, value, ok := strings.Cut(text, "=")
	id, err := strconv.Atoi(key)
	if !ok || err != nil {
		return fmt.Errorf("setting %q: want NUMBER=VALUE", text)
	}
	parts := strings.Split(value, ",")
	if id <= arrays {
		id, parts = arrays-id, parts[1:]
	}
	values := make([]float64, len(parts))
	for i, part := range parts {
		if values[i], err = strconv.ParseFloat(part, 64); err != nil {
			return fmt.Errorf("setting %q: %q is not a number", text, part)
		}
	}
	l.settings[id] = values
	return nil
}

// number returns a setting, or its default if it is left out.
func (l *layer) number(id int, otherwise int64) int64 {
	if v := l.settings[id]; len(v) == 1 {
		return int64(v[0])
	}
	return otherwise
}

// hints are the shapes of the outputs: dimensions, width, height, channels.
const hints = 30

// shape is an output's hinted shape with a batch of 1 before it, the slowest
// dimension first; nil without a hint.
func (l *layer) shape(output int) []int64 {
	v := l.settings[hints]
	if len(v) < 4*(output+1) {
		return nil
	}
	return shapeOf(v[4*output : 4*output+4])
}

func shapeOf(v []float64) []int64 {
	w, h, c := int64(v[1]), int64(v[2]), int64(v[3])
	switch int(v[0]) {
	case 1:
		return []int64{1, w}
	case 2:
		return []int64{1, h, w}
	case 3:
		return []int64{1, c, h, w}
	}
	return nil
}
