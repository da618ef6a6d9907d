package neural

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/gobackend"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"github.com/foretime/foretime/shared/regression"
	"github.com/foretime/foretime/shared/uncertainty"
)

// ErrFormat is returned when the input is not a stored network, or has an unknown
// architecture.
var ErrFormat = errors.New("not a stored network")

// backend is gomlx's pure-Go backend; a store belongs to one backend, so there is
// one. It runs one operation after the other, each on all threads: parallel
// operations wait for a worker while they hold one, and deadlock when they hold
// all.
var backend = sync.OnceValue(func() compute.Backend {
	b, err := gobackend.New("ops_sequential")
	if err != nil {
		panic(err) // guard turns it into an error
	}
	return b
})

// Network is a trained network. It is a [regression.Model] and is safe for
// concurrent use; many rows at a time are much faster.
type Network struct {
	mixture  mixture
	features int
	batch    int // rows per call of exec, always
	scaling  Scaling
	weights  []variable
	report   Report
	warnings []error

	store *model.Store
	exec  *model.Exec
}

var _ regression.Model = (*Network)(nil)

// Features returns the width of the rows.
func (n *Network) Features() int { return n.features }

// Warnings returns the reasons to doubt the network.
func (n *Network) Warnings() []error { return n.warnings }

// Report returns a summary of the training.
func (n *Network) Report() Report { return n.report }

// Predict returns the value at x, without an interval. x may not have missing
// values.
func (n *Network) Predict(x []float64) (uncertainty.Prediction, error) {
	if err := regression.CheckRow(x, n.features, false); err != nil {
		return uncertainty.Prediction{}, err
	}
	values, err := n.PredictAll(regression.Samples{Features: n.features, X: x, Y: []float64{0}})
	if err != nil {
		return uncertainty.Prediction{}, err
	}
	return uncertainty.Point(values[0]), nil
}

// PredictAll returns the value of every row of s, many rows at a time.
func (n *Network) PredictAll(s regression.Samples) (values []float64, err error) {
	if err := s.Check(regression.Needs{}); err != nil {
		return nil, err
	}
	if s.Features != n.features {
		return nil, regression.Dimension("features", s.Features, n.features)
	}
	err = guard("predict", func() error {
		values, err = n.values(s)
		return err
	})
	return values, err
}

// values runs the graph over batches of the fixed size, the last one padded with
// zeros; a single row has a graph of its own.
func (n *Network) values(s regression.Samples) ([]float64, error) {
	batch := n.batch
	if s.Len() == 1 {
		batch = 1
	}
	out := make([]float64, 0, s.Len())
	for at := 0; at < s.Len(); at += batch {
		x := make([]float32, batch*n.features)
		rows := min(batch, s.Len()-at)
		for i := range rows {
			n.scaling.row(x[i*n.features:(i+1)*n.features], s.Row(at+i))
		}
		result, err := n.exec.Call1(tensors.FromFlatDataAndDimensions(x, batch, n.features))
		if err != nil {
			return nil, err
		}
		err = tensors.ConstFlatData(result, func(flat []float32) {
			for _, v := range flat[:rows] {
				out = append(out, n.scaling.value(v))
			}
		})
		if err == nil {
			err = result.FinalizeAll()
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// build creates the graph and draws the initial weights from the seed.
func (n *Network) build(seed uint64) error {
	n.store = model.NewStore()
	if err := n.store.SetRNGStateFromSeed(int64(seed)); err != nil {
		return err
	}
	if err := n.compile(); err != nil {
		return err
	}
	_, err := n.values(regression.Samples{Features: n.features, X: n.scaling.Center, Y: []float64{0}})
	return err
}

func (n *Network) compile() (err error) {
	n.exec, err = model.NewExec(backend(), n.store, n.mixture.graph)
	return err
}

// stored is the file form of a network.
type stored struct {
	Format       string     `json:"format"`
	Kind         string     `json:"kind"`
	Architecture mixture    `json:"architecture"`
	Features     int        `json:"features"`
	Batch        int        `json:"batch"`
	Scaling      Scaling    `json:"scaling"`
	Report       Report     `json:"report"`
	Weights      []variable `json:"weights"`
}

const (
	format = "foretime-network-1"
	kind   = "mixture"
)

// Save writes the network as JSON; the same network gives the same bytes. To write
// a file, pass it to file.Write.
func (n *Network) Save(w io.Writer) error {
	return json.NewEncoder(w).Encode(stored{format, kind, n.mixture, n.features, n.batch, n.scaling, n.report, n.weights})
}

// Load reads the output of Save. The error matches [ErrFormat] for any other input,
// or if its parts do not match.
func Load(r io.Reader) (*Network, error) {
	var s stored
	if err := json.NewDecoder(r).Decode(&s); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	if s.Format != format || s.Kind != kind || s.Features < 1 || s.Batch < 1 || len(s.Scaling.Center) != s.Features || len(s.Scaling.Scale) != s.Features {
		return nil, fmt.Errorf("%w: format %q, kind %q, %d features, batch of %d", ErrFormat, s.Format, s.Kind, s.Features, s.Batch)
	}
	for _, w := range s.Weights {
		size := 1
		for _, d := range w.Dims {
			size *= d
		}
		if size != len(w.Data) {
			return nil, fmt.Errorf("%w: weights %s: %d numbers of shape %v", ErrFormat, w.Path, len(w.Data), w.Dims)
		}
	}
	if err := s.Architecture.check(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	n := &Network{mixture: s.Architecture, features: s.Features, batch: s.Batch, scaling: s.Scaling, report: s.Report}
	err := guard("load", func() error {
		if err := n.setWeights(s.Weights); err != nil {
			return err
		}
		// Weights that are missing or do not match are found when the graph is
		// built.
		before := n.store.NumVariables()
		if _, err := n.values(regression.Samples{Features: n.features, X: n.scaling.Center, Y: []float64{0}}); err != nil {
			return err
		}
		if n.store.NumVariables() != before {
			return fmt.Errorf("%d weights are missing", n.store.NumVariables()-before)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	return n, nil
}

// guard turns a panic of gomlx, which builds graphs by panicking, into an error.
func guard(what string, f func() error) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case error:
			err = fmt.Errorf("%s: %w", what, r)
		default:
			err = fmt.Errorf("%s: %v", what, r)
		}
	}()
	err = f()
	if err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("%s: %w", what, err)
	}
	return err
}
