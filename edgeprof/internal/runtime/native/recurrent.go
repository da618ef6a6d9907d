package native

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
)

// layer is one direction of a recurrent operator.
type layer struct {
	batch, hidden int
	r             []float32 // recurrent weights, [gates x hidden, hidden]
	bias          []float32 // of the recurrent side, [gates x hidden]; nil for none
	afterReset    bool      // GRU: its reset gate acts on the recurrent product
}

// advance moves the states h and c of a batch on by one step. The gates hold the
// input's side, [batch, gates x hidden].
type advance func(l *layer, gates, h, c []float32)

// recurrent is LSTM, GRU or RNN in ONNX's layout 0, in either direction or both,
// with their default activations; no peepholes, no clipping.
func recurrent(gates int, activations []string, step advance) func(site) (kernel, error) {
	return func(s site) (kernel, error) {
		directions := [][2]bool{{false}, {true}}
		switch direction := s.node.Text("direction"); direction {
		case "", "forward":
			directions = directions[:1]
		case "reverse":
			directions = directions[1:]
		case "bidirectional":
		default:
			return nil, unsupported("direction %s", direction)
		}
		if s.given(4) || s.given(7) || s.node.Int("layout", 0) != 0 || s.node.Attribute("clip") != nil || s.node.Int("input_forget", 0) != 0 {
			return nil, unsupported("sequence lengths, peepholes, layout 1, joined gates or clipping")
		}
		if a := s.node.Attribute("activations"); a != nil && !slices.Equal(a.Strings, slices.Repeat(activations, len(directions))) {
			return nil, unsupported("activations %q", a.Strings)
		}
		x := s.in(0)
		steps, batch, width, hidden := x[0], x[1], x[2], s.in(2)[2]
		rows := gates * hidden
		afterReset := s.node.Int("linear_before_reset", 0) != 0
		return func(in, out []array, scratch *scratch) {
			sums := scratch.get(0, steps*batch*rows)
			state := scratch.get(1, 2*batch*hidden)
			for d, direction := range directions {
				l := &layer{batch: batch, hidden: hidden, r: in[2].data[d*rows*hidden:][:rows*hidden], afterReset: afterReset}
				h, c := state[:batch*hidden], state[batch*hidden:]
				for i, part := range [][]float32{h, c} {
					if clear(part); s.given(5 + i) {
						copy(part, in[5+i].data[d*batch*hidden:])
					}
				}
				w := in[1].data[d*rows*width:][:rows*width]
				scratch.product(matrix{in[0].data, steps * batch, width, false}, matrix{w, rows, width, true}, 1, 0, sums)
				if s.given(3) {
					bias := in[3].data[d*2*rows:][:2*rows]
					for start := 0; start < len(sums); start += rows {
						for i := range rows {
							sums[start+i] += bias[i]
						}
					}
					l.bias = bias[rows:]
				}
				for i := range steps {
					t := i
					if direction[0] {
						t = steps - 1 - i
					}
					step(l, sums[t*batch*rows:][:batch*rows], h, c)
					if out[0].data != nil {
						copy(out[0].data[(t*len(directions)+d)*batch*hidden:], h)
					}
				}
				for i, last := range [][]float32{h, c} {
					if len(out) > i+1 && out[i+1].data != nil {
						copy(out[i+1].data[d*batch*hidden:], last)
					}
				}
			}
		}, nil
	}
}

// add adds the recurrent side of the gates from one to another, for states h.
func (l *layer) add(gates, h []float32, of, from, to int) {
	n := l.hidden
	blas32.Gemm(blas.NoTrans, blas.Trans, 1, general(h, l.batch, n), general(l.r[from*n*n:to*n*n], (to-from)*n, n), 1,
		blas32.General{Rows: l.batch, Cols: (to - from) * n, Stride: of * n, Data: gates[from*n:]})
	if l.bias == nil {
		return
	}
	for b := range l.batch {
		for i := from * n; i < to*n; i++ {
			gates[b*of*n+i] += l.bias[i]
		}
	}
}

func sigmoid(x float32) float64 { return 1 / (1 + math.Exp(-float64(x))) }

// lstm has its gates in the order input, output, forget, cell.
func lstm(l *layer, gates, h, c []float32) {
	l.add(gates, h, 4, 0, 4)
	n := l.hidden
	for b := range l.batch {
		g, h, c := gates[b*4*n:][:4*n], h[b*n:][:n], c[b*n:][:n]
		for i := range n {
			keep := sigmoid(g[2*n+i])*float64(c[i]) + sigmoid(g[i])*math.Tanh(float64(g[3*n+i]))
			c[i] = float32(keep)
			h[i] = float32(sigmoid(g[n+i]) * math.Tanh(keep))
		}
	}
}

// gru has its gates in the order update, reset, hidden. The recurrent side of the
// last is reset after its product, or the state before it.
func gru(l *layer, gates, h, c []float32) {
	n := l.hidden
	l.add(gates, h, 3, 0, 2)
	side := c // no cell state: room for the recurrent side of the hidden gate
	state := h
	if !l.afterReset {
		for b := range l.batch {
			for i := range n {
				side[b*n+i] = h[b*n+i] * float32(sigmoid(gates[b*3*n+n+i]))
			}
		}
		state = slices.Clone(side)
	}
	clear(side)
	hidden := layer{batch: l.batch, hidden: n, r: l.r[2*n*n:]}
	if l.bias != nil {
		hidden.bias = l.bias[2*n:]
	}
	hidden.add(side, state, 1, 0, 1)
	for b := range l.batch {
		g := gates[b*3*n:][:3*n]
		for i := range n {
			recurrent := float64(side[b*n+i])
			if l.afterReset {
				recurrent *= sigmoid(g[n+i])
			}
			z := sigmoid(g[i])
			h[b*n+i] = float32((1-z)*math.Tanh(float64(g[2*n+i])+recurrent) + z*float64(h[b*n+i]))
		}
	}
}

func rnn(l *layer, gates, h, _ []float32) {
	l.add(gates, h, 1, 0, 1)
	for i, v := range gates {
		h[i] = float32(math.Tanh(float64(v)))
	}
}
