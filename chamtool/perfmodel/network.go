package perfmodel

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"

	"github.com/foretime/foretime/shared/file"
)

// networkVersion is the version of the file format.
const networkVersion = 1

// Network is a set of small multi-layer perceptrons, one for each task
// function. They are trained by the command line and only scored here.
type Network struct {
	Version int             `json:"version"`
	Entries map[string]*Net `json:"entries"` // by entry name; "" serves all others
}

// Net maps the logarithms of one plus each size to the logarithm of seconds.
type Net struct {
	Mean   []float64 `json:"mean"`   // of the features, subtracted
	Scale  []float64 `json:"scale"`  // of the features, divided by
	Offset float64   `json:"offset"` // of the target
	Spread float64   `json:"spread"` // of the target
	Layers []Layer   `json:"layers"`
}

// Layer is Weights·x + Bias, followed by a rectifier in all layers but the last.
type Layer struct {
	Weights [][]float64 `json:"weights"` // one row an output
	Bias    []float64   `json:"bias"`
}

// Inputs are the features that a network is given for the sizes.
func Inputs(sizes []int64, width int) []float64 { return features(sizes, min(width, maxFeatures)) }

// ReadNetwork reads a network. The error matches [ErrNetwork].
func ReadNetwork(r io.Reader) (*Network, error) {
	n := &Network{}
	if err := json.NewDecoder(r).Decode(n); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNetwork, err)
	}
	if n.Version != networkVersion {
		return nil, fmt.Errorf("%w: version %d, want %d", ErrNetwork, n.Version, networkVersion)
	}
	if len(n.Entries) == 0 {
		return nil, fmt.Errorf("%w: no entry", ErrNetwork)
	}
	for name, net := range n.Entries {
		if err := net.check(); err != nil {
			return nil, fmt.Errorf("%w: entry %q: %w", ErrNetwork, name, err)
		}
	}
	return n, nil
}

// LoadNetwork is ReadNetwork for a file.
func LoadNetwork(path string) (*Network, error) {
	f, err := os.Open(filepath.Clean(path))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNetwork, err)
	}
	defer f.Close()
	n, err := ReadNetwork(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return n, nil
}

// Save writes the network durably.
func (n *Network) Save(path string) error {
	n.Version = networkVersion
	return file.Write(path, func(w io.Writer) error { return json.NewEncoder(w).Encode(n) })
}

func (n *Net) check() error {
	if n == nil {
		return fmt.Errorf("empty")
	}
	width := len(n.Mean)
	if width > maxFeatures || len(n.Scale) != width || len(n.Layers) == 0 {
		return fmt.Errorf("%d means, %d scales and %d layers do not fit", width, len(n.Scale), len(n.Layers))
	}
	for _, s := range n.Scale {
		if s == 0 {
			return fmt.Errorf("scale of zero")
		}
	}
	for i, l := range n.Layers {
		if len(l.Weights) != len(l.Bias) || len(l.Bias) == 0 {
			return fmt.Errorf("layer %d: %d rows of weights, %d biases", i, len(l.Weights), len(l.Bias))
		}
		for _, row := range l.Weights {
			if len(row) != width {
				return fmt.Errorf("layer %d: a row of %d weights, want %d", i, len(row), width)
			}
		}
		width = len(l.Bias)
	}
	if width != 1 {
		return fmt.Errorf("%d outputs, want 1", width)
	}
	return nil
}

// log is the logarithm of the answer for sizes of an entry, NaN where the
// network knows neither the entry nor any other.
func (n *Network) log(entry string, sizes []int64) float64 {
	function, _ := SplitKey(entry)
	net := n.Entries[function]
	if net == nil {
		net = n.Entries[""]
	}
	if net == nil {
		return math.NaN()
	}
	x := features(sizes, len(net.Mean))
	for i := range x {
		x[i] = (x[i] - net.Mean[i]) / net.Scale[i]
	}
	for i, l := range net.Layers {
		out := make([]float64, len(l.Bias))
		for j, row := range l.Weights {
			v := l.Bias[j]
			for k, w := range row {
				v += w * x[k]
			}
			if i < len(net.Layers)-1 {
				v = math.Max(v, 0)
			}
			out[j] = v
		}
		x = out
	}
	return net.Offset + net.Spread*x[0]
}
