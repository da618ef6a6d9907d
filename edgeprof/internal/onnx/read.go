package onnx

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/foretime/foretime/shared/file"
)

// ReadFile reads the model in a file. The error matches [ErrSyntax] or
// [ErrLimit], or is the file's own.
func ReadFile(path string) (*Model, error) {
	f, err := file.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	m, err := Read(f, info.Size())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// Read reads the model in the first size bytes of a file. The error matches
// [ErrSyntax] or [ErrLimit], or is the file's own.
func Read(file io.Reader, size int64) (*Model, error) { return ReadLimited(file, size, mostKept) }

// ReadLimited reads as [Read] does, for a graph of at most the given bytes, with its functions in place of
// their calls: its names with 96 for each, short tensors, and 384 for each node, tensor and
// attribute.
func ReadLimited(file io.Reader, size, most int64) (*Model, error) {
	c := &cursor{file: file, buffer: bufio.NewReaderSize(file, window), size: size, most: most}
	start, _ := c.buffer.Peek(int(min(size, longestMagic))) // an error comes again
	kind := otherKind(string(start))
	m := &Model{Opsets: map[string]int64{}}
	graphs := 0
	err := c.message("model", size, func(f field) (err error) {
		switch f.number {
		case 1:
			m.IRVersion = int64(f.value)
		case 2:
			m.Producer, err = c.text(f)
		case 7:
			graphs++
			err = c.graph(&m.Graph, f)
		case 8:
			err = c.opset(m.Opsets, f)
		case 14:
			err = c.metadata(m, f)
		case 25:
			m.Functions, err = grown(c, m.Functions, f, (*cursor).function)
		}
		return err
	})
	if size == 0 {
		return nil, fmt.Errorf("%w: it is empty", ErrSyntax)
	}
	if err == nil && graphs != 1 {
		err = &SyntaxError{Offset: size, Field: "model", Msg: fmt.Sprintf("%d graphs, want one", graphs)}
	}
	if err != nil && kind != "" {
		return nil, fmt.Errorf("%w: it is %s", ErrSyntax, kind)
	}
	if err == nil && len(m.Functions) > 0 {
		_, err = newInliner(m, most)
	}
	if err != nil {
		return nil, err
	}
	return m, nil
}

// otherKinds lists files that people have instead of a model, by their first bytes.
var otherKinds = []struct{ start, kind string }{
	{"version https://git-lfs", "a Git LFS pointer; git lfs pull fetches the model"},
	{"<!DOCTYPE", webPage}, {"<!doctype", webPage}, {"<html", webPage}, {"<HTML", webPage},
	{"\x1f\x8b", "compressed with gzip"}, {"\x28\xb5\x2f\xfd", "compressed with zstd"},
	{"PK\x03\x04", "a ZIP archive, as of PyTorch (.pt) or Keras (.keras)"},
	{"\x89HDF", "an HDF5 file, as of Keras (.h5)"},
	{"\x80\x02", pickle}, {"\x80\x03", pickle}, {"\x80\x04", pickle}, {"\x80\x05", pickle},
}

const (
	webPage = "an HTML page, perhaps the error page of a download"
	pickle  = "a pickle, as of PyTorch or scikit-learn"
)

// longestMagic is the number of bytes that tell a file's format.
const longestMagic = 32

// otherKind names the format of a file that is no model by its start; "" if it is not known.
// TensorFlow Lite and ONNX Runtime's own format have their names after four bytes.
func otherKind(text string) string {
	for _, k := range otherKinds {
		if strings.HasPrefix(text, k.start) {
			return k.kind
		}
	}
	if len(text) >= 8 {
		switch text[4:8] {
		case "TFL3":
			return "a TensorFlow Lite model; tf2onnx converts it"
		case "ORTM":
			return "in ONNX Runtime's own format (.ort); use the .onnx file that it was made from"
		}
	}
	return ""
}

func (c *cursor) opset(to map[string]int64, f field) error {
	domain, version := "", int64(0)
	err := c.inside("opset_import", f, func(f field) (err error) {
		switch f.number {
		case 1:
			domain, err = c.text(f)
		case 2:
			version = int64(f.value)
		}
		return err
	})
	if domain == "ai.onnx" {
		domain = ""
	}
	to[domain] = version
	return err
}

// metadata reads what an exporter noted: Ultralytics writes imgsz, the height and
// width of the pictures that a model was exported for, "[320, 320]".
func (c *cursor) metadata(m *Model, f field) error {
	key, value, err := c.entry("metadata_props", f)
	var height, width int64
	if n, _ := fmt.Sscanf(value, "[%d, %d]", &height, &width); key == "imgsz" && n == 2 && height > 0 && width > 0 {
		m.ImageSize = [2]int64{height, width}
	}
	return err
}

// external reads where data in another file lies.
func (c *cursor) external(t *Tensor, f field) error {
	key, value, err := c.entry("external_data", f)
	if err != nil {
		return err
	}
	switch key {
	case "location":
		t.Location = value
	case "offset":
		t.Offset, err = strconv.ParseInt(value, 10, 64)
	case "length":
		t.Stored, err = strconv.ParseInt(value, 10, 64)
	}
	if err != nil {
		return c.fail("%s %q: %v", key, value, err)
	}
	return nil
}

// entry reads a StringStringEntryProto; "" for what is longer than a path may be.
func (c *cursor) entry(name string, f field) (key, value string, err error) {
	err = c.inside(name, f, func(f field) (err error) {
		switch short := f.end-c.at <= 4096; {
		case f.number == 1 && short:
			key, err = c.text(f)
		case f.number == 2 && short:
			value, err = c.text(f)
		}
		return err
	})
	return key, value, err
}

func (c *cursor) graph(g *Graph, f field) error {
	return c.inside("graph", f, func(f field) (err error) {
		switch f.number {
		case 1:
			g.Nodes, err = grown(c, g.Nodes, f, (*cursor).node)
		case 2:
			g.Name, err = c.text(f)
		case 5:
			g.Initializers, err = grown(c, g.Initializers, f, (*cursor).tensor)
		case 11:
			g.Inputs, err = grown(c, g.Inputs, f, (*cursor).value)
		case 12:
			g.Outputs, err = grown(c, g.Outputs, f, (*cursor).value)
		case 13:
			g.Values, err = grown(c, g.Values, f, (*cursor).value)
		case 15:
			g.Sparse++
		}
		return err
	})
}

// grown appends one element, read by one.
func grown[T any](c *cursor, to []T, f field, one func(*cursor, *T, field) error) ([]T, error) {
	if err := c.keep(keptElement); err != nil {
		return to, err
	}
	var v T
	err := one(c, &v, f)
	return append(to, v), err
}

func (c *cursor) node(n *Node, f field) error {
	return c.inside("node", f, func(f field) (err error) {
		switch f.number {
		case 1, 2:
			name, err := c.text(f)
			if err != nil {
				return err
			}
			if f.number == 1 {
				n.Inputs = append(n.Inputs, name)
			} else {
				n.Outputs = append(n.Outputs, name)
			}
		case 3:
			n.Name, err = c.text(f)
		case 4:
			n.Op, err = c.text(f)
		case 5:
			n.Attributes, err = grown(c, n.Attributes, f, (*cursor).attribute)
		case 7:
			n.Domain, err = c.text(f)
		}
		return err
	})
}

func (c *cursor) attribute(a *Attribute, f field) error {
	err := c.inside("attribute", f, func(f field) (err error) {
		switch f.number {
		case 1:
			a.Name, err = c.text(f)
		case 2:
			a.Float = math.Float32frombits(uint32(f.value))
		case 3:
			a.Int = int64(f.value)
		case 4:
			a.String, err = c.text(f)
		case 5:
			a.Tensor = &Tensor{}
			err = c.tensor(a.Tensor, f)
		case 6, 11:
			a.Graphs, err = grown(c, a.Graphs, f, (*cursor).graph)
		case 7:
			a.Floats, err = c.floats(a.Floats, f)
		case 8:
			a.Ints, err = c.numbers(a.Ints, f)
		case 9:
			var text string
			text, err = c.text(f)
			a.Strings = append(a.Strings, text)
		case 20:
			a.Kind = AttributeKind(f.value)
		case 21:
			a.Reference, err = c.text(f)
		}
		return err
	})
	if a.Kind == 0 {
		a.Kind = a.guess()
	}
	return err
}

// guess returns the kind of an attribute from IR versions that did not state it.
func (a *Attribute) guess() AttributeKind {
	switch {
	case a.Tensor != nil:
		return KindTensor
	case a.Graphs != nil:
		return KindGraph
	case a.Ints != nil:
		return KindInts
	case a.Floats != nil:
		return KindFloats
	case a.Strings != nil:
		return KindStrings
	case a.String != "":
		return KindString
	case a.Float != 0:
		return KindFloat
	}
	return KindInt
}

func (c *cursor) tensor(t *Tensor, f field) error {
	return c.inside("tensor", f, func(f field) (err error) {
		switch f.number {
		case 1:
			t.Dims, err = c.numbers(t.Dims, f)
		case 2:
			t.Type = DataType(f.value)
		case 8:
			t.Name, err = c.text(f)
		case 13:
			err = c.external(t, f)
		case 14:
			t.External = f.value == 1
		case 9:
			if f.kind != protowire.BytesType {
				return c.fail("field %d is not bytes", f.number)
			}
			t.Stored, t.Offset = f.end-c.at, c.at
			if t.Stored <= keptData {
				t.Data, err = c.bytes(t.Stored)
			}
		case 4, 5, 6, 7, 10, 11:
			err = c.readTypedData(t, f)
		}
		return err
	})
}

// readTypedData reads the typed data fields: float_data 4, int32_data 5, string_data
// 6, int64_data 7, double_data 10, uint64_data 11. Short numeric ones become
// raw little-endian data.
func (c *cursor) readTypedData(t *Tensor, f field) error {
	if f.kind == protowire.BytesType {
		t.Offset = 0
		if t.Stored == 0 && len(t.Data) == 0 && (f.number == 4 || f.number == 10) {
			t.Offset = c.at // packed numbers of fixed width are raw data
		}
		t.Stored += f.end - c.at
		if f.end-c.at > keptData {
			t.Data = nil
			return nil
		}
	}
	switch f.number {
	case 4:
		values, err := c.floats(nil, f)
		for _, v := range values {
			t.Data = binary.LittleEndian.AppendUint32(t.Data, math.Float32bits(v))
		}
		return err
	case 5, 7, 11:
		values, err := c.numbers(nil, f)
		for _, v := range values {
			t.Data = appendNumber(t.Data, t.Type, v)
		}
		return err
	case 10:
		if f.kind == protowire.BytesType {
			b, err := c.bytes(f.end - c.at)
			t.Data = append(t.Data, b...)
			return err
		}
		t.Data = binary.LittleEndian.AppendUint64(t.Data, f.value)
	}
	return nil
}

// appendNumber writes one number in the width of its type. A type that stands
// after the data in the file is taken for the field's own.
func appendNumber(b []byte, t DataType, v int64) []byte {
	switch t.Bits() {
	case 8:
		return append(b, byte(v))
	case 16:
		return binary.LittleEndian.AppendUint16(b, uint16(v))
	case 32:
		return binary.LittleEndian.AppendUint32(b, uint32(v))
	}
	return binary.LittleEndian.AppendUint64(b, uint64(v))
}

// value reads a ValueInfoProto: name 1, type 2.
func (c *cursor) value(v *Value, f field) error {
	return c.inside("value_info", f, func(f field) (err error) {
		switch f.number {
		case 1:
			v.Name, err = c.text(f)
		case 2:
			err = c.typeOf(v, f, 0)
		}
		return err
	})
}

// deepestType is the number of sequences and optionals that a type may nest.
const deepestType = 4

// typeOf reads a TypeProto: tensor_type 1 { elem_type 1, shape 2 { dim 1 { dim_value 1,
// dim_param 2 } } }, sequence_type 4 and optional_type 9, each with elem_type 1.
func (c *cursor) typeOf(v *Value, f field, depth int) error {
	inner := func(name string, f field, to **Value) error {
		return c.within(name, f, 1, func(f field) error {
			*to = new(Value)
			if depth == deepestType {
				return nil
			}
			return c.typeOf(*to, f, depth+1)
		})
	}
	return c.inside("type", f, func(f field) error {
		switch f.number {
		case 1:
			return c.inside("tensor_type", f, func(f field) error {
				switch f.number {
				case 1:
					v.Type = DataType(f.value)
				case 2:
					v.Known = true
					return c.within("shape", f, 1, func(f field) error { return c.dim(v, f) })
				}
				return nil
			})
		case 4:
			return inner("sequence_type", f, &v.Element)
		case 9:
			return inner("optional_type", f, &v.Optional)
		}
		return nil
	})
}

// within calls each for every message with the given number inside f.
func (c *cursor) within(name string, f field, number protowire.Number, each func(field) error) error {
	return c.inside(name, f, func(f field) error {
		if f.number != number {
			return nil
		}
		return each(f)
	})
}

func (c *cursor) dim(v *Value, f field) error {
	d := Dim{Size: -1}
	err := c.inside("dim", f, func(f field) (err error) {
		switch f.number {
		case 1:
			d.Size = int64(f.value)
		case 2:
			d.Name, err = c.text(f)
		}
		return err
	})
	v.Shape = append(v.Shape, d)
	if err != nil {
		return err
	}
	return c.keep(32)
}
