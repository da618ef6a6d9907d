package runtime

import (
	"context"
	"errors"
	"time"
)

// Returned by run times.
var (
	// ErrUnsupported is returned when a run time cannot run a model: an
	// operator, a data type or a shape it does not know.
	ErrUnsupported = errors.New("unsupported model")
	// ErrInput is returned when inputs do not fit the model.
	ErrInput = errors.New("wrong input")
	// ErrUnavailable is returned when a run time is not installed.
	ErrUnavailable = errors.New("run time unavailable")
)

// Tensor is a dense array of float32 in row-major order.
type Tensor struct {
	Shape []int64
	Data  []float32
}

// NodeTime is how long one node of a model took in one inference.
type NodeTime struct {
	Node    int // index in the graph; -1 where the run time does not tell
	Op      string
	Seconds float64
}

// Session is a loaded model. It is used by one goroutine at a time.
type Session interface {
	// Run makes one inference. Inputs and outputs go by name; the outputs are
	// valid until the next call. The error matches ErrInput or ErrUnsupported.
	Run(ctx context.Context, inputs map[string]Tensor) (map[string]Tensor, error)
	// Nodes are the times of the last inference.
	Nodes() []NodeTime
	// Close frees the session.
	Close() error
}

// Clock tells the time; tests put their own in.
type Clock func() time.Time
