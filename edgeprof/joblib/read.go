package joblib

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/foretime/foretime/shared/regression/tree"
)

// ErrFormat is returned for a file that is no pipeline of a scaler, a one-hot
// encoder and a booster as the original training saves it.
var ErrFormat = errors.New("not a model of the original profiler")

// Column is a numeric feature and how it was scaled.
type Column struct {
	Name   string  `json:"name"`
	Center float64 `json:"center"`
	Scale  float64 `json:"scale"`
	// Mean replaces a missing value; NaN where the pipeline has no imputer, and
	// the booster decides.
	Mean float64 `json:"-"`
}

// Pipeline is a model file.
type Pipeline struct {
	// Columns are the scaled features, in the booster's order.
	Columns []Column
	// Devices are the categories of the one-hot features after them.
	Devices []string
	// Plain are the features after these, which were not scaled.
	Plain []string
	// Booster takes all of them unscaled, under their names; those of the devices
	// are device_NAME, 0 or 1.
	Booster *tree.Ensemble
}

// The columns and categories of the original training.
var (
	columns = []string{
		"conv_layers", "device_load_percent", "disk_io_read_bytes", "disk_io_write_bytes", "device_disk_usage_percent", "filter_details", "fully_conn_layers", "pool_layers", "total_parameters",
	}
	devices = []string{"desktop", "jetson", "raspberrypi"}
)

// maxFile bounds the size of a file that is read.
const maxFile = 256 << 20

// Read reads a model file. The error matches [ErrFormat] or [tree.ErrModel], or
// is the reader's own.
func Read(r io.Reader) (*Pipeline, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("%w: larger than %d MiB", ErrFormat, maxFile>>20)
	}
	booster, rest, err := readBooster(data)
	if err != nil {
		return nil, err
	}
	p := &Pipeline{}
	center, err := array(rest, "center_")
	if err != nil {
		return nil, err
	}
	scale, err := array(rest, "scale_")
	if err != nil {
		return nil, err
	}
	means, err := array(rest, "statistics_")
	if err != nil {
		means = nil // no imputer
	}
	names := inOrder(rest, columns)
	if len(center) != len(scale) || len(center) > len(names) || means != nil && len(means) != len(center) {
		return nil, fmt.Errorf("%w: %d centers, %d scales, %d means, %d columns", ErrFormat, len(center), len(scale), len(means), len(names))
	}
	for i := range center {
		c := Column{names[i], center[i], scale[i], math.NaN()}
		if means != nil {
			c.Mean = means[i]
		}
		p.Columns = append(p.Columns, c)
	}
	p.Plain = names[len(center):]
	p.Devices = inOrder(rest, devices)
	slices.Sort(p.Devices) // as the encoder has its categories
	if want := len(names) + len(p.Devices); booster.Features() != want {
		return nil, fmt.Errorf("%w: the booster has %d features, the pipeline %d", ErrFormat, booster.Features(), want)
	}
	if p.Booster, err = booster.Unscaled(center, scale); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	return p, p.Booster.SetNames(p.names())
}

func (p *Pipeline) names() []string {
	var names []string
	for _, c := range p.Columns {
		names = append(names, c.Name)
	}
	for _, d := range p.Devices {
		names = append(names, "device_"+d)
	}
	return append(names, p.Plain...)
}

// serialized begins a booster with its configuration as XGBoost serializes it.
var serialized = []byte("{L\x00\x00\x00\x00\x00\x00\x00\x06Config")

// readBooster finds the booster by its first bytes; the pickle opcode before it
// tells its length (BINBYTES and BINBYTES8, or BYTEARRAY8: Lib/pickletools.py).
// The rest is the file without it.
func readBooster(data []byte) (*tree.Ensemble, []byte, error) {
	at := bytes.Index(data, serialized)
	if at < 0 {
		return nil, nil, fmt.Errorf("%w: no booster", ErrFormat)
	}
	size := uint64(0)
	switch {
	case at >= 9 && (data[at-9] == 0x96 || data[at-9] == 0x8e):
		size = binary.LittleEndian.Uint64(data[at-8:])
	case at >= 5 && data[at-5] == 'B':
		size = uint64(binary.LittleEndian.Uint32(data[at-4:]))
	}
	if size == 0 || size > uint64(len(data)-at) {
		return nil, nil, fmt.Errorf("%w: a booster of %d bytes at %d in %d", ErrFormat, size, at, len(data))
	}
	end := at + int(size)
	e, err := tree.DecodeModel(data[at:end])
	if err != nil {
		return nil, nil, err
	}
	return e, slices.Concat(data[:at], data[end:]), nil
}

// array is the float64 array that an attribute holds. joblib writes, after the
// pickled description of an array (its shape as a tuple of one small number, its
// dtype, and BUILD), one byte with the length of the padding, the padding of
// 0xff, and the values (joblib/numpy_pickle.py, NumpyArrayWrapper).
func array(data []byte, name string) ([]float64, error) {
	at := find(data, name)
	if at < 0 {
		return nil, fmt.Errorf("%w: no %s", ErrFormat, name)
	}
	description := data[at+len(name):][:min(512, len(data)-at-len(name))]
	shape := bytes.Index(description, []byte("\x85")) // TUPLE1
	if shape < 2 || description[shape-2] != 'K' {     // BININT1
		return nil, fmt.Errorf("%w: %s has no shape", ErrFormat, name)
	}
	n := int(description[shape-1])
	for i := shape; i+1 < len(description); i++ {
		pad := int(description[i+1])
		values := i + 2 + pad
		if description[i] != 'b' || pad < 1 || pad > 16 || values+8*n > len(data)-at-len(name) || values > len(description) {
			continue
		}
		if len(bytes.Trim(description[i+2:values], "\xff")) > 0 {
			continue
		}
		out := make([]float64, n)
		for k := range out {
			out[k] = math.Float64frombits(binary.LittleEndian.Uint64(data[at+len(name)+values+8*k:]))
			if math.IsNaN(out[k]) || math.IsInf(out[k], 0) {
				return nil, fmt.Errorf("%w: %s holds %v", ErrFormat, name, out[k])
			}
		}
		return out, nil
	}
	return nil, fmt.Errorf("%w: %s has no values", ErrFormat, name)
}

// find is where a string begins, or -1: before it come its length in one byte
// (SHORT_BINUNICODE) or, from older protocols, in four (BINUNICODE).
func find(data []byte, text string) int {
	short := append([]byte{0x8c, byte(len(text))}, text...)
	long := append(binary.LittleEndian.AppendUint32([]byte{'X'}, uint32(len(text))), text...)
	first := -1
	for _, pattern := range [][]byte{short, long} {
		if at := bytes.Index(data, pattern); at >= 0 && (first < 0 || at < first) {
			first = at + len(pattern) - len(text)
		}
	}
	return first
}

// inOrder are those of some strings that the pickle holds, in the order in which
// they first come: later uses refer back.
func inOrder(data []byte, texts []string) []string {
	var found []string
	for _, text := range texts {
		if find(data, text) >= 0 {
			found = append(found, text)
		}
	}
	slices.SortFunc(found, func(a, b string) int { return cmp.Compare(find(data, a), find(data, b)) })
	return found
}
