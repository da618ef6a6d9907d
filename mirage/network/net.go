package network

import (
	"math"
	"math/rand/v2"
	"slices"
)

// net is a perceptron with one hidden layer of rectified units, small enough
// to be learnt step by step in plain Go, by Adam (Kingma and Ba, 2015).
type net struct {
	In      int       `json:"in"`
	Hidden  int       `json:"hidden"`
	Out     int       `json:"out"`
	Weights []float64 `json:"weights"` // hidden: In+1 for each unit; then output: Hidden+1 each

	gradient, m, v []float64
	count, steps   int
}

func newNet(rng *rand.Rand, in, hidden, out int) *net {
	n := &net{In: in, Hidden: hidden, Out: out, Weights: make([]float64, hidden*(in+1)+out*(hidden+1))}
	for i := range hidden * (in + 1) {
		n.Weights[i] = rng.NormFloat64() * math.Sqrt(2/float64(in+1)) * 0.5
	}
	for i := hidden * (in + 1); i < len(n.Weights); i++ {
		n.Weights[i] = rng.NormFloat64() * 0.1 / math.Sqrt(float64(hidden))
	}
	return n
}

// sound reports whether the weights fit the shape, and the shape a width.
func (n *net) sound(width int) bool {
	return n.In == width && n.Hidden > 0 && (n.Out == 1 || n.Out == 2) && len(n.Weights) == n.Hidden*(n.In+1)+n.Out*(n.Hidden+1)
}

func (n *net) clone() *net {
	c := *n
	c.Weights = slices.Clone(n.Weights)
	c.gradient, c.m, c.v = slices.Clone(n.gradient), slices.Clone(n.m), slices.Clone(n.v)
	return &c
}

// activations of the hidden units.
func (n *net) activations(x []float64) []float64 {
	h := make([]float64, n.Hidden)
	for u := range h {
		w := n.Weights[u*(n.In+1) : (u+1)*(n.In+1)]
		sum := w[n.In]
		for i, v := range x {
			sum += w[i] * v
		}
		h[u] = max(sum, 0)
	}
	return h
}

func (n *net) output(h []float64) []float64 {
	out := make([]float64, n.Out)
	base := n.Hidden * (n.In + 1)
	for o := range out {
		w := n.Weights[base+o*(n.Hidden+1) : base+(o+1)*(n.Hidden+1)]
		out[o] = w[n.Hidden]
		for u, v := range h {
			out[o] += w[u] * v
		}
	}
	return out
}

func (n *net) forward(x []float64) []float64 { return n.output(n.activations(x)) }

// accumulate adds the gradient of a loss whose derivative by each output is
// given.
func (n *net) accumulate(x, derivative []float64) {
	if n.gradient == nil {
		n.gradient = make([]float64, len(n.Weights))
		n.m, n.v = make([]float64, len(n.Weights)), make([]float64, len(n.Weights))
	}
	n.count++
	h := n.activations(x)
	base := n.Hidden * (n.In + 1)
	back := make([]float64, n.Hidden)
	for o, d := range derivative {
		at := base + o*(n.Hidden+1)
		for u, v := range h {
			n.gradient[at+u] += d * v
			back[u] += d * n.Weights[at+u]
		}
		n.gradient[at+n.Hidden] += d
	}
	for u, d := range back {
		if h[u] == 0 || d == 0 {
			continue
		}
		g := n.gradient[u*(n.In+1) : (u+1)*(n.In+1)]
		for i, v := range x {
			g[i] += d * v
		}
		g[n.In] += d
	}
}

// update takes a step against the mean of the gradients accumulated.
func (n *net) update(rate float64) {
	if n.count == 0 {
		return
	}
	n.steps++
	c1, c2 := 1-math.Pow(.9, float64(n.steps)), 1-math.Pow(.999, float64(n.steps))
	for i, g := range n.gradient {
		g /= float64(n.count)
		n.m[i] += .1 * (g - n.m[i])
		n.v[i] += .001 * (g*g - n.v[i])
		n.Weights[i] -= rate * n.m[i] / c1 / (math.Sqrt(n.v[i]/c2) + 1e-8)
		n.gradient[i] = 0
	}
	n.count = 0
}
