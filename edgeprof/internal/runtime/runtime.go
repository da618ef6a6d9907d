package runtime

import (
	"context"
	"errors"
	"math"
	"time"
)

// Returned by sessions.
var (
	// ErrUnsupported is returned when ONNX Runtime cannot run a model: an
	// operator, a data type or a shape it does not know.
	ErrUnsupported = errors.New("unsupported model")
	// ErrInput is returned when inputs do not fit the model.
	ErrInput = errors.New("wrong input")
	// ErrUnavailable is returned when ONNX Runtime is not installed.
	ErrUnavailable = errors.New("runtime unavailable")
)

// Tensor is a dense array of float32 in row-major order.
type Tensor struct {
	Shape []int64
	Data  []float32
}

// ToFloat16 returns a float32 in IEEE 754's binary16, rounded to the nearest, ties to even.
func ToFloat16(v float32) uint16 {
	sign := uint16(math.Float32bits(v) >> 16 & 0x8000)
	size := math.Abs(float64(v))
	switch {
	case math.IsNaN(size):
		return sign | 0x7e00
	case size >= 65520: // half a step above the largest
		return sign | 0x7c00
	case size == 0:
		return sign
	}
	exponent := max(math.Ilogb(size), -14)
	steps := math.RoundToEven(math.Ldexp(size, 10-exponent)) // 1024 to 2048; fewer if subnormal
	return sign | uint16((exponent+14)<<10+int(steps))
}

// NodeTime is the time of one node of a model in one inference.
type NodeTime struct {
	Node    int     `json:"node"` // index in the graph; -1 if ONNX Runtime does not report it
	Name    string  `json:"name,omitempty"`
	Op      string  `json:"op"`
	Seconds float64 `json:"seconds"`
}

// Profile is one inference and the time of each node that it ran. ONNX Runtime joins
// nodes, and reports those that are left under names of its own.
type Profile struct {
	Seconds float64    `json:"seconds"`
	Nodes   []NodeTime `json:"nodes"`
}

// Session is a loaded model. It is used by one goroutine at a time. Errors
// match ErrInput, ErrUnsupported or ErrUnavailable, or are the context's.
type Session interface {
	// Inputs are the shapes that the model wants, by name.
	Inputs() map[string][]int64
	// Time makes some inferences, one at least, and says how long they took. Inputs go by
	// name.
	Time(ctx context.Context, inputs map[string]Tensor, runs int) (Timing, error)
	// Profile makes some inferences, each with the times of its nodes.
	Profile(ctx context.Context, inputs map[string]Tensor, runs int) ([]Profile, error)
	// Close frees the session.
	Close() error
}

// Clock returns the time; tests use their own.
type Clock func() time.Time
