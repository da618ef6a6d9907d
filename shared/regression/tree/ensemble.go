package tree

import (
	"math"
	"sync"

	"github.com/foretime/foretime/shared/regression"
)

// node is one node of a tree. The right child follows the left one.
type node struct {
	feature int32 // -1 for a leaf
	left    int32
	// value is the threshold (below goes left) or, at a leaf, the answer.
	value float32
	flags uint32 // categories index + 1 above, missingLeft lowest
}

const missingLeft = 1

func (n node) missingLeft() bool { return n.flags&missingLeft != 0 }
func (n node) set() int          { return int(n.flags>>1) - 1 }

// facts are what is known of a node beyond prediction.
type facts struct {
	gain   float32 // of its split; 0 at a leaf
	cover  float32 // sum of hessians
	weight float32 // best value, not scaled by eta
}

// decisionTree is one tree; node 0 is the root.
type decisionTree struct {
	nodes []node
	facts []facts
	sets  []categorySet // codes that go right
	walk  []turn        // nodes for the fast walk
	depth int
}

// turn is a node for the fast walk. Comparing numbers' order as integers takes
// less time than comparing floats, and a row that holds each feature twice, with
// a missing value below and above all others, needs no test for missing values.
type turn struct {
	column uint32 // of a block's keys; the one beside has missing values high
	left   uint32 // a leaf: itself
	key    int32  // as large or larger goes right
}

// Keys are as large as the numbers they stand for; a leaf's exceeds all.
const (
	missingLow  = math.MinInt32
	missingHigh = math.MaxInt32 - 1
	never       = math.MaxInt32
)

func key(v float32) int32 { return int32(ordered(v+0) ^ 1<<31) }

// addNode appends a leaf.
func (t *decisionTree) addNode(sum cell, weight float64, p penalty) int {
	t.nodes = append(t.nodes, node{feature: -1, left: -1, value: float32(weight)})
	t.facts = append(t.facts, facts{cover: float32(float64(sum.h) * p.hUnit), weight: float32(weight)})
	return len(t.nodes) - 1
}

// split makes the node an inner one, whose children are added next.
func (t *decisionTree) split(at int, s split, f feature) {
	n := &t.nodes[at]
	n.feature, n.left = int32(s.feature), int32(len(t.nodes))
	if s.missingLeft {
		n.flags |= missingLeft
	}
	if s.right != nil {
		t.sets = append(t.sets, *s.right)
		n.flags |= uint32(len(t.sets)) << 1
		n.value = 0
	} else {
		n.value = f.cuts[s.cut]
	}
	t.facts[at].gain = float32(s.gain)
}

// finish scales the leaves and prepares the fast walk.
func (t *decisionTree) finish(eta float64) {
	for i := range t.nodes {
		if n := &t.nodes[i]; n.feature < 0 {
			n.value = float32(eta * float64(n.value))
		}
	}
	t.prepare()
}

// prepare fills walk and depth.
func (t *decisionTree) prepare() {
	t.walk = make([]turn, len(t.nodes))
	depth := make([]int, len(t.nodes))
	for i, n := range t.nodes {
		if n.feature < 0 {
			t.walk[i] = turn{left: uint32(i), key: never}
			t.depth = max(t.depth, depth[i])
			continue
		}
		column := 2 * uint32(n.feature)
		if !n.missingLeft() {
			column++
		}
		t.walk[i] = turn{column: column * blockRows, left: uint32(n.left), key: key(n.value)}
		depth[n.left], depth[n.left+1] = depth[i]+1, depth[i]+1
	}
}

// leafOf walks one row, missing values and categories included.
func (t *decisionTree) leafOf(x []float32) int {
	at := 0
	for {
		n := &t.nodes[at]
		if n.feature < 0 {
			return at
		}
		v := x[n.feature]
		right := !(v < n.value)
		switch {
		case v != v:
			right = !n.missingLeft()
		case n.set() >= 0:
			right = v >= 0 && v < maxBins && t.sets[n.set()].has(int(v))
		}
		at = int(n.left)
		if right {
			at++
		}
	}
}

// link turns the sum of the leaves into the target's unit.
type link string

const (
	identity link = "identity"
	exponent link = "exp" // the trees were fitted to log(target)
)

func (l link) apply(v float64) float64 {
	if l == exponent {
		return math.Exp(v)
	}
	return v
}

// Ensemble is a fitted sum of trees. NaN features are missing values.
type Ensemble struct {
	features   int
	names      []string // of the features; nil when unknown
	categories []bool   // features that are codes; nil for none
	base       float64  // added to the leaves
	link       link
	objective  string
	trees      []*decisionTree
	attributes map[string]string
}

var _ regression.Model = (*Ensemble)(nil)

// Features is the width of the rows the model was fitted on.
func (e *Ensemble) Features() int { return e.features }

// Trees is the number of trees.
func (e *Ensemble) Trees() int { return len(e.trees) }

// Names are the names of the features, or nil when they have none.
func (e *Ensemble) Names() []string { return e.names }

// SetNames names the features. The error matches [regression.ErrDimension].
func (e *Ensemble) SetNames(names []string) error {
	if len(names) != e.features {
		return &regression.DimensionError{What: "feature names", Have: len(names), Want: e.features}
	}
	e.names = append([]string(nil), names...)
	return nil
}

// scratch holds a row as float32.
var scratch = sync.Pool{New: func() any { return new([]float32) }}

// Predict is the sum over the trees for one row, without an interval; see
// [regression.Calibrate] for one. It allocates nothing.
func (e *Ensemble) Predict(x []float64) (regression.Prediction, error) {
	if err := regression.CheckRow(x, e.features, true); err != nil {
		return regression.Prediction{}, err
	}
	kept := scratch.Get().(*[]float32)
	defer scratch.Put(kept)
	*kept = resized(*kept, len(x))
	for i, v := range x {
		(*kept)[i] = float32(v)
	}
	sum := e.base
	for _, t := range e.trees {
		sum += float64(t.nodes[t.leafOf(*kept)].value)
	}
	return regression.Point(e.link.apply(sum)), nil
}

// PredictAll writes the prediction of every row of the row-major matrix x to
// out, on some goroutines. The error matches [regression.ErrDimension] or
// [regression.ErrNotFinite], for an infinite feature.
func (e *Ensemble) PredictAll(x, out []float64, threads int) error {
	if len(x) != len(out)*e.features {
		return &regression.DimensionError{What: "numbers in x", Have: len(x), Want: len(out) * e.features}
	}
	blocks := (len(out) + blockRows - 1) / blockRows
	threads = max(1, min(threads, blocks))
	errs := make([]error, threads)
	parallel(threads, threads, func(_, t int) {
		b := newBlock(e)
		for i := t; i < blocks; i += threads {
			start, end := i*blockRows, min((i+1)*blockRows, len(out))
			if err := b.predict(x[start*e.features:end*e.features], out[start:end], start); err != nil {
				errs[t] = err
				return
			}
		}
	})
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// Importance is the total gain of the splits on each feature.
func (e *Ensemble) Importance() []float64 {
	gains := make([]float64, e.features)
	for _, t := range e.trees {
		for i, n := range t.nodes {
			if n.feature >= 0 {
				gains[n.feature] += float64(t.facts[i].gain)
			}
		}
	}
	return gains
}

// blockRows is how many rows are walked through one tree before the next: their
// features stay in the nearest cache.
const blockRows = 128

// block scores some rows at a time.
type block struct {
	e    *Ensemble
	rows []float32 // blockRows of them
	keys []int32   // of the same rows by column, two columns a feature
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
			b.careful(t, out)
		case t.depth > 0:
			b.quick(t, out)
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
			low := key(float32(v))
			high := low
			if v-v != 0 { // NaN or infinite
				if math.IsInf(v, 0) {
					return &regression.NotFiniteError{What: "feature", Row: first + r, Column: c, Value: v}
				}
				low, high = missingLow, missingHigh
			}
			b.rows[r*w+c] = float32(v)
			b.keys[2*c*blockRows+r], b.keys[(2*c+1)*blockRows+r] = low, high
		}
	}
	return nil
}

func (b *block) careful(t *decisionTree, out []float64) {
	w := b.e.features
	for i := range out {
		out[i] += float64(t.nodes[t.leafOf(b.rows[i*w:(i+1)*w])].value)
	}
}

func (b *block) quick(t *decisionTree, out []float64) {
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

// descend moves all rows down a level at a time: their loads do not wait for
// each other, and no branch depends on the data.
func descend(walk []turn, keys []int32, at []uint32, levels int) {
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

// Unscaled is the same ensemble for features that were not scaled: where e takes
// (x - center) / scale, it takes x. Only the leading features that center and
// scale name are scaled. For x that float32 can hold both answer the same. The
// error matches [regression.ErrDimension] or [regression.ErrSetting] (a scale
// that is not above 0).
func (e *Ensemble) Unscaled(center, scale []float64) (*Ensemble, error) {
	if len(center) != len(scale) || len(center) > e.features {
		return nil, &regression.DimensionError{What: "scaled features", Have: len(scale), Want: len(center)}
	}
	for i, s := range scale {
		if !(s > 0) || !finite(s) || !finite(center[i]) {
			return nil, &regression.SettingError{Name: "scale", Value: s, Want: "above 0"}
		}
	}
	out := *e
	out.trees = make([]*decisionTree, len(e.trees))
	for i, t := range e.trees {
		c := *t
		c.nodes = append([]node(nil), t.nodes...)
		for k := range c.nodes {
			if n := &c.nodes[k]; n.feature >= 0 && int(n.feature) < len(center) && n.set() < 0 {
				n.value = preimage(n.value, center[n.feature], scale[n.feature])
			}
		}
		c.prepare()
		out.trees[i] = &c
	}
	return &out, nil
}

// preimage is the smallest float32 whose scaled value rounds to t or above.
func preimage(t float32, center, scale float64) float32 {
	below := math.Nextafter32(t, float32(math.Inf(-1)))
	x := center + scale*(float64(t)+float64(below))/2
	if y := float32(x); float64(y) >= x {
		return y
	}
	return math.Nextafter32(float32(x), float32(math.Inf(1)))
}
