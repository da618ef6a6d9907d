package tree

// node is one node of a tree. The right child follows the left one.
type node struct {
	feature int32 // -1 for a leaf
	left    int32
	// value is the threshold (smaller values go left) or, at a leaf, the answer.
	value float32
	flags uint32 // categories index + 1 above, missingLeft lowest
}

const missingLeft = 1

func (n node) missingLeft() bool { return n.flags&missingLeft != 0 }
func (n node) set() int          { return int(n.flags>>1) - 1 }

// facts are data of a node that prediction does not need.
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
	walk  []walkNode    // nodes for the fast walk
	depth int
}

// addNode appends a leaf.
func (t *decisionTree) addNode(sum cell, weight float64, p penalty) int {
	t.nodes = append(t.nodes, node{feature: -1, left: -1, value: float32(weight)})
	t.facts = append(t.facts, facts{cover: float32(float64(sum.h) * p.hUnit), weight: float32(weight)})
	return len(t.nodes) - 1
}

// split makes the node an inner one; the caller adds its children next.
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
			right = v >= 0 && v < maxBins && t.sets[n.set()].contains(int(v))
		}
		at = int(n.left)
		if right {
			at++
		}
	}
}
