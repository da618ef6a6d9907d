package tree

import (
	"math"

	"github.com/foretime/foretime/shared/regression"
)

// blockRows is the number of rows that are walked through one tree before the next;
// their features stay in the first-level cache.
const blockRows = 128

// walkNode is a node for the fast walk. Comparing integers that have the order of the numbers
// is faster than comparing floats. Each row contains every feature twice, with a missing
// value below and above all others, so no test for missing values is needed.
type walkNode struct {
	column uint32 // of a block's keys; the next column has missing values high
	left   uint32 // left child, with the right one after it; a leaf itself for a leaf
	key    int32  // this key or a larger one goes right
}

// Keys have the order of their numbers; that of a leaf is above all.
const (
	missingLow  = math.MinInt32
	missingHigh = math.MaxInt32 - 1
	leafKey     = math.MaxInt32
)

// orderKey returns an integer with the order of the numbers. Adding 0 turns -0 into 0.
func orderKey(v float32) int32 { return int32(toOrdered(v+0) ^ 1<<31) }

// prepare fills walk and depth.
func (t *decisionTree) prepare() {
	t.walk = make([]walkNode, len(t.nodes))
	depth := make([]int, len(t.nodes))
	for i, n := range t.nodes {
		if n.feature < 0 {
			t.walk[i] = walkNode{left: uint32(i), key: leafKey}
			t.depth = max(t.depth, depth[i])
			continue
		}
		column := 2 * uint32(n.feature)
		if !n.missingLeft() {
			column++
		}
		t.walk[i] = walkNode{column: column * blockRows, left: uint32(n.left), key: orderKey(n.value)}
		depth[n.left], depth[n.left+1] = depth[i]+1, depth[i]+1
	}
}

// maxFeatures is the largest number of features that a walkNode can address.
const maxFeatures = math.MaxUint32 / (2 * blockRows)

// block scores blockRows rows at a time.
type block struct {
	e    *Ensemble
	rows []float32 // blockRows of them
	keys []int32   // of the same rows by column, two columns per feature
	at   [blockRows]uint32
}

func newBlock(e *Ensemble) *block {
	n := blockRows * e.features
	return &block{e: e, rows: make([]float32, n), keys: make([]int32, 2*n)}
}

func (b *block) predict(x, out []float64, first int) error {
	if err := b.load(x, first); err != nil {
		return err
	}
	for i := range out {
		out[i] = b.e.base
	}
	for _, t := range b.e.trees {
		switch {
		case len(t.sets) > 0:
			b.addSets(t, out)
		case t.depth > 0:
			b.addNumeric(t, out)
		default:
			for i := range out {
				out[i] += float64(t.nodes[0].value)
			}
		}
	}
	if b.e.link != identity {
		for i := range out {
			out[i] = b.e.link.apply(out[i])
		}
	}
	return nil
}

// load fills rows and keys.
func (b *block) load(x []float64, first int) error {
	w := b.e.features
	for r := range len(x) / max(1, w) {
		for c, v := range x[r*w:][:w] {
			low := orderKey(float32(v))
			high := low
			if v-v != 0 { // NaN or infinite
				if math.IsInf(v, 0) {
					return regression.NotFinite("feature", first+r, c, v)
				}
				low, high = missingLow, missingHigh
			}
			b.rows[r*w+c] = float32(v)
			b.keys[2*c*blockRows+r], b.keys[(2*c+1)*blockRows+r] = low, high
		}
	}
	return nil
}

// addSets adds the values of a tree with sets of categories, row by row.
func (b *block) addSets(t *decisionTree, out []float64) {
	w := b.e.features
	for i := range out {
		out[i] += float64(t.nodes[t.leafOf(b.rows[i*w:(i+1)*w])].value)
	}
}

// addNumeric adds the values of a tree without sets, all rows level by level.
func (b *block) addNumeric(t *decisionTree, out []float64) {
	at := b.at[:len(out)]
	root := t.walk[0]
	for r, k := range b.keys[root.column:][:len(at)] {
		at[r] = root.left
		if k >= root.key {
			at[r]++
		}
	}
	descend(t.walk, b.keys, at, t.depth-1)
	for r, i := range at {
		out[r] += float64(t.nodes[i].value)
	}
}

// descend moves all rows down one level at a time: their loads do not wait for
// each other, and no branch depends on the data. Inlined, the loop would share
// its registers with the caller and take a fifth longer.
//
//go:noinline
func descend(walk []walkNode, keys []int32, at []uint32, levels int) {
	for range levels {
		for r, i := range at {
			n := &walk[i]
			next := n.left
			if keys[int(n.column)+r] >= n.key {
				next++
			}
			at[r] = next
		}
	}
}
