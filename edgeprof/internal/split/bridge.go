package split

import (
	"maps"
	"slices"

	"github.com/foretime/foretime/edgeprof/internal/onnx"
)

// cut is a place between two operators, with the tensors that carry everything
// computed so far over it: one is a bridge.
type cut struct {
	tensors []string
	after   int // operators before it, in order
}

// widest is how many tensors may cross one cut.
const widest = 8

// flow is a graph as its operators run: those that only make constants are left
// out, as they are copied to where they are needed.
type flow struct {
	analysis *onnx.Analysis
	order    []int          // nodes, each after those it needs
	maker    map[string]int // tensor -> node
	depth    map[int]int    // node -> operators on its longest path
	folded   map[string]int // constant -> node that makes it
	macs     map[int]int64  // of each node
	rank     map[int]int    // node -> place in the analysis's order
	weights  map[string]int // initializer -> index
	stated   map[string]onnx.Value
}

// newFlow orders the nodes that an output depends on, each as late as can be:
// depth first from the outputs, the shallow ones first. So what a branch needs
// is alive for a short time only, and bridges show.
func newFlow(a *onnx.Analysis) *flow {
	g := &a.Model.Graph
	f := &flow{
		analysis: a, maker: map[string]int{}, depth: map[int]int{}, folded: map[string]int{}, macs: map[int]int64{},
		rank: map[int]int{}, weights: map[string]int{}, stated: map[string]onnx.Value{},
	}
	for i := range g.Initializers {
		f.weights[g.Initializers[i].Name] = i
	}
	for _, v := range append(slices.Clone(g.Values), g.Outputs...) {
		f.stated[v.Name] = v
	}
	for at, c := range a.Costs {
		f.macs[c.Node], f.rank[c.Node] = c.MACs, at
		n := &g.Nodes[c.Node]
		if c.Folded {
			for _, name := range n.Outputs {
				f.folded[name] = c.Node
			}
			continue
		}
		for _, name := range n.Needs() {
			if m, made := f.maker[name]; made {
				f.depth[c.Node] = max(f.depth[c.Node], f.depth[m]+1)
			}
		}
		for _, name := range n.Outputs {
			if name != "" {
				f.maker[name] = c.Node
			}
		}
	}
	var roots []int
	for _, v := range g.Outputs {
		if m, made := f.maker[v.Name]; made {
			roots = append(roots, m)
		}
	}
	slices.SortStableFunc(roots, func(x, y int) int { return f.depth[x] - f.depth[y] })
	done := map[int]bool{}
	for _, root := range roots {
		f.visit(root, done)
	}
	return f
}

// visit orders a node after all that it needs, without recursion: graphs can be
// a million nodes deep.
func (f *flow) visit(root int, done map[int]bool) {
	type frame struct {
		node  int
		needs []string
	}
	stack := []frame{{root, f.analysis.Model.Graph.Nodes[root].Needs()}}
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		if done[top.node] {
			stack = stack[:len(stack)-1]
			continue
		}
		if len(top.needs) == 0 {
			done[top.node] = true
			f.order = append(f.order, top.node)
			stack = stack[:len(stack)-1]
			continue
		}
		name := top.needs[0]
		top.needs = top.needs[1:]
		if m, made := f.maker[name]; made && !done[m] {
			stack = append(stack, frame{m, f.analysis.Model.Graph.Nodes[m].Needs()})
		}
	}
}

// cuts are the places that few tensors cross. A tensor whose type and number of
// dimensions do not follow from the file cannot be declared: the places that it
// crosses are none, and the first such is named.
func (f *flow) cuts() (found []cut, undeclared string) {
	users := map[string]int{}
	for _, i := range f.order {
		for _, name := range f.flowing(i) {
			users[name]++
		}
	}
	alive := map[string]bool{}
	for at, i := range f.order[:max(0, len(f.order)-1)] {
		for _, name := range f.flowing(i) {
			if users[name]--; users[name] == 0 {
				delete(alive, name)
			}
		}
		for _, name := range f.analysis.Model.Graph.Nodes[i].Outputs {
			if users[name] > 0 {
				alive[name] = true
			}
		}
		if len(alive) == 0 || len(alive) > widest {
			continue
		}
		tensors := slices.Sorted(maps.Keys(alive))
		unknown := slices.IndexFunc(tensors, func(name string) bool { v := f.value(name); return v.Type == 0 || !v.Known })
		if unknown < 0 {
			found = append(found, cut{tensors, at + 1})
		} else if undeclared == "" {
			undeclared = tensors[unknown]
		}
	}
	return found, undeclared
}

// flowing are the tensors that a node needs of other operators, each once.
func (f *flow) flowing(i int) []string {
	var names []string
	for _, name := range f.analysis.Model.Graph.Nodes[i].Needs() {
		if _, made := f.maker[name]; made && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
