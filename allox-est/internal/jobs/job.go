package jobs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"github.com/foretime/foretime/shared/timing"
)

// Returned by [Run] before anything is trained.
var (
	// ErrUnknownJob is returned for a name that is not among [Names].
	ErrUnknownJob = errors.New("unknown job")
	// ErrDeviceUnavailable is returned when a job is to run on a device that
	// cannot be used here.
	ErrDeviceUnavailable = errors.New("device unavailable")
	// ErrOption is returned for an option outside its range.
	ErrOption = errors.New("invalid option")
)

// Options holds the settings of a run. Epochs must be given, the rest may be zero.
type Options struct {
	Epochs          int
	BatchesPerEpoch int // 0 means the job's own: 0.1 to 1 s an epoch on one core
	BatchSize       int // images a batch; 0 means the job's own
	// Threads is the number of threads that compute at once; 0 leaves it to the process. The
	// limit is GOMAXPROCS, which belongs to the whole process: Run sets it and restores it.
	Threads int
	Seed    uint64
	GPU     bool
	Out     io.Writer    // a line an epoch, the accuracy, the time-writer tag; nil discards
	Dir     string       // an existing directory for NAME.checkpoint; "" is the current one
	Now     timing.Clock // of the time writer; nil means time.Now
}

// job is a network, the images it learns, and the size of its epoch.
type job struct {
	side, channels int // of an image
	batches, batch int // an epoch, and images a batch
	train, heldOut int // images to learn from, and to be scored on
	// graph maps images [batch, side, side, channels] to logits [batch, classes].
	graph func(scope *model.Scope, images *graph.Node) *graph.Node
}

// jobs returns all jobs by name; a new one adds a line.
func jobs() map[string]job {
	return map[string]job{
		"lenet":     {side: 28, channels: 1, batches: 3, batch: 32, train: 2000, heldOut: 320, graph: lenet},
		"googlenet": {side: 32, channels: 3, batches: 3, batch: 16, train: 2000, heldOut: 320, graph: googlenet},
	}
}

// Names returns the names of the jobs that [Run] knows, in alphabetical order.
func Names() []string { return slices.Sorted(maps.Keys(jobs())) }

// Run trains the job of that name. The error matches [ErrUnknownJob],
// [ErrDeviceUnavailable] or [ErrOption], is ctx's when it was cancelled (within
// a step), or says what went wrong. The time-writer tag is printed at the very
// end, and only when all went well.
func Run(ctx context.Context, name string, o Options) error {
	j, ok := jobs()[name]
	if !ok {
		return fmt.Errorf("%w: %q, want one of %v", ErrUnknownJob, name, Names())
	}
	if o.GPU {
		return fmt.Errorf("%s: gpu: %w: example jobs run on the CPU only", name, ErrDeviceUnavailable)
	}
	o, err := o.fill(j)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if err := j.run(ctx, name, o); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// fill puts the job's defaults in and checks what is left.
func (o Options) fill(j job) (Options, error) {
	o.BatchesPerEpoch = cmp.Or(o.BatchesPerEpoch, j.batches)
	o.BatchSize = cmp.Or(o.BatchSize, j.batch)
	if o.Out == nil {
		o.Out = io.Discard
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if least := slices.Min([]int{o.Epochs, o.BatchesPerEpoch, o.BatchSize}); least < 1 || o.Threads < 0 {
		return o, fmt.Errorf("%w: %d epochs, %d batches per epoch, %d images per batch, %d threads: want at least 1 of each, threads from 0", ErrOption, o.Epochs, o.BatchesPerEpoch, o.BatchSize, o.Threads)
	}
	return o, nil
}
