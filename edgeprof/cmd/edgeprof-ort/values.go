package main

import (
	"encoding/binary"
	"fmt"
	"slices"

	ort "github.com/yalue/onnxruntime_go"

	"github.com/foretime/foretime/edgeprof/internal/onnx"
	"github.com/foretime/foretime/edgeprof/internal/runtime"
)

// input is the type and shape that the model wants of one input.
type input struct {
	kind  onnx.DataType
	shape []int64
	// below bounds integers: a given value in [0, 1) is scaled to them, which makes random
	// input valid.
	below int64
}

// whole returns a value as a whole number.
func (in *input) whole(v float32) int64 {
	if v > 0 && v < 1 {
		return int64(float64(v) * float64(in.below))
	}
	return int64(v)
}

// makers copy numbers into a native tensor, by the model's type.
var makers = map[onnx.DataType]func(*input, []float32) (ort.Value, error){
	onnx.Float32: maker(func(_ *input, v float32) float32 { return v }),
	onnx.Float64: maker(func(_ *input, v float32) float64 { return float64(v) }),
	onnx.Bool:    maker(func(_ *input, v float32) bool { return v >= 0.5 }),
	onnx.Int64:   maker(wholeOf[int64]), onnx.Int32: maker(wholeOf[int32]), onnx.Int16: maker(wholeOf[int16]), onnx.Int8: maker(wholeOf[int8]),
	onnx.Uint64: maker(wholeOf[uint64]), onnx.Uint32: maker(wholeOf[uint32]), onnx.Uint16: maker(wholeOf[uint16]), onnx.Uint8: maker(wholeOf[uint8]),
}

func wholeOf[T int64 | int32 | int16 | int8 | uint64 | uint32 | uint16 | uint8](in *input, v float32) T {
	return T(in.whole(v))
}

// value copies a tensor into a native one of the model's type.
func (in *input) value(data []float32) (ort.Value, error) {
	if of := makers[in.kind]; of != nil {
		return of(in, data)
	}
	switch in.kind {
	case onnx.Float16:
		var b []byte
		for _, v := range data {
			b = binary.LittleEndian.AppendUint16(b, runtime.ToFloat16(v))
		}
		return ort.NewCustomDataTensor(ort.NewShape(in.shape...), b, ort.TensorElementDataTypeFloat16)
	case onnx.String:
		s, err := ort.NewStringTensor(ort.NewShape(in.shape...))
		if err != nil {
			return nil, err
		}
		return s, s.SetContents(slices.Repeat([]string{"a"}, len(data)))
	}
	return nil, fmt.Errorf("%w: an input of %v", runtime.ErrUnsupported, in.kind)
}

func maker[T ort.TensorData](convert func(*input, float32) T) func(*input, []float32) (ort.Value, error) {
	return func(in *input, data []float32) (ort.Value, error) {
		if len(in.shape) == 0 {
			return ort.NewScalar(convert(in, data[0]))
		}
		values := make([]T, len(data))
		for i, v := range data {
			values[i] = convert(in, v)
		}
		return ort.NewTensor(ort.NewShape(in.shape...), values)
	}
}

// mostRoom bounds the elements of an output whose memory is made ahead.
const mostRoom = 1 << 28

// room returns memory for an output of known size; nil for others. No inference then pays for
// new memory, or for the copy that the binding makes of what ONNX Runtime allocates.
func room(t onnx.TensorInfo) (ort.Value, error) {
	n := t.Elements()
	if !t.Known || t.Type == onnx.String || n < 1 || n > mostRoom {
		return nil, nil
	}
	shape := ort.NewShape(t.Shape...)
	if t.Type == onnx.Float16 {
		v, err := ort.NewCustomDataTensor(shape, make([]byte, 2*n), ort.TensorElementDataTypeFloat16)
		if err != nil {
			return nil, err
		}
		return v, nil
	}
	if makers[t.Type] == nil {
		return nil, nil
	}
	in := input{kind: t.Type, shape: t.Shape}
	return in.value(make([]float32, n))
}
