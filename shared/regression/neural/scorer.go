package neural

import (
	"encoding/json"
	"fmt"

	"github.com/foretime/foretime/shared/regression"
	"github.com/foretime/foretime/shared/uncertainty"
)

// stackWidth is the widest layer that is computed without allocating.
const stackWidth = 256

// Scorer is a trained multilayer perceptron in plain Go: the same output as the
// network it was exported from, to 1e-5 of the target's spread, without gomlx
// and, up to layers of 256 units, without allocating. It may be asked from many
// goroutines, and is stored as JSON. It must not be changed.
type Scorer struct {
	Scaling Scaling `json:"scaling"`
	Layers  []Layer `json:"layers"`
}

// Layer is one dense layer: output o is Biases[o] + Σ Weights[i·Outputs+o]·input
// i, and below zero becomes zero in all layers but the last.
type Layer struct {
	Inputs  int       `json:"inputs"`
	Outputs int       `json:"outputs"`
	Weights []float32 `json:"weights"`
	Biases  []float32 `json:"biases"`
}

var _ regression.Model = (*Scorer)(nil)

// Features is the width of the rows.
func (s *Scorer) Features() int { return len(s.Scaling.Center) }

// Predict is the value at x, without an interval. x may not have missing values.
func (s *Scorer) Predict(x []float64) (uncertainty.Prediction, error) {
	if err := regression.CheckRow(x, s.Features(), false); err != nil {
		return uncertainty.Prediction{}, err
	}
	var a, b [stackWidth]float32
	in, out := a[:], b[:]
	if w := s.widest(); w > stackWidth {
		in, out = make([]float32, w), make([]float32, w)
	}
	s.Scaling.row(in, x)
	for i := range s.Layers {
		s.Layers[i].apply(out, in, i < len(s.Layers)-1)
		in, out = out, in
	}
	return uncertainty.Point(s.Scaling.value(in[0])), nil
}

// apply computes the layer. Inputs of zero, half of a rectified layer, cost
// nothing.
func (l *Layer) apply(out, in []float32, rectify bool) {
	out = out[:l.Outputs]
	copy(out, l.Biases)
	for i, v := range in[:l.Inputs] {
		if v == 0 {
			continue
		}
		row := l.Weights[i*l.Outputs : (i+1)*l.Outputs]
		for o, w := range row {
			out[o] += v * w
		}
	}
	if rectify {
		for o, v := range out {
			out[o] = max(v, 0)
		}
	}
}

func (s *Scorer) widest() int {
	w := s.Features()
	for i := range s.Layers {
		w = max(w, s.Layers[i].Outputs)
	}
	return w
}

// UnmarshalJSON reads a stored scorer. The error matches [ErrFormat] when its
// parts do not fit each other.
func (s *Scorer) UnmarshalJSON(b []byte) error {
	type plain Scorer
	if err := json.Unmarshal(b, (*plain)(s)); err != nil {
		return fmt.Errorf("%w: %w", ErrFormat, err)
	}
	width := len(s.Scaling.Center)
	if width == 0 || len(s.Scaling.Scale) != width || len(s.Layers) == 0 {
		return fmt.Errorf("%w: %d features, %d layers", ErrFormat, width, len(s.Layers))
	}
	for i, l := range s.Layers {
		if l.Inputs != width || l.Outputs < 1 || len(l.Weights) != l.Inputs*l.Outputs || len(l.Biases) != l.Outputs {
			return fmt.Errorf("%w: layer %d of %d inputs and %d outputs has %d weights and %d biases, after %d units",
				ErrFormat, i, l.Inputs, l.Outputs, len(l.Weights), len(l.Biases), width)
		}
		width = l.Outputs
	}
	if width != 1 {
		return fmt.Errorf("%w: %d outputs", ErrFormat, width)
	}
	return nil
}
