package tree

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// ReadModel reads a model that XGBoost 1.7 or later, or this package, saved as
// JSON or UBJSON, or that XGBoost serialized with its configuration. It must be
// one tree booster for one target. The error matches
// [ErrModel] and names the place.
func ReadModel(r io.Reader) (*Ensemble, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	return DecodeModel(data)
}

// DecodeModel is [ReadModel] of a file that is in memory already.
func DecodeModel(data []byte) (*Ensemble, error) {
	root, err := decode(data)
	if err != nil {
		return nil, err
	}
	return ensembleOf(unwrapped(value{root, "model"}))
}

// unwrapped is the model of a booster that XGBoost serialized with its
// configuration, as Python's pickle holds it.
func unwrapped(root value) value {
	if inner := root.get("Model"); inner.present() && !root.get("learner").present() {
		return inner
	}
	return root
}

// decode tells the two encodings apart: both start with a brace, but in JSON a
// name or the end follows, in UBJSON a length.
func decode(data []byte) (any, error) {
	text := strings.TrimLeft(string(data[:min(len(data), 64)]), " \t\r\n")
	if len(text) == 0 || text[0] != '{' {
		return nil, bad("model", "neither JSON nor UBJSON")
	}
	rest := strings.TrimLeft(text[1:], " \t\r\n")
	if rest != "" && rest[0] != '"' && rest[0] != '}' {
		return readUBJSON(data)
	}
	return readJSON(withoutNaN(data))
}

// withoutNaN writes null for the bare NaN that XGBoost puts where a categorical
// split has no threshold, and that JSON does not know.
func withoutNaN(data []byte) []byte {
	if !bytes.Contains(data, []byte("NaN")) {
		return data
	}
	out := make([]byte, 0, len(data)+64)
	inText := false
	for i := 0; i < len(data); i++ {
		switch {
		case inText && data[i] == '\\' && i+1 < len(data):
			out = append(out, data[i])
			i++
		case data[i] == '"':
			inText = !inText
		case !inText && bytes.HasPrefix(data[i:], []byte("NaN")):
			out = append(out, "null"...)
			i += 2
			continue
		}
		out = append(out, data[i])
	}
	return out
}

// ensembleOf reads a document.
func ensembleOf(root value) (*Ensemble, error) {
	learner := root.get("learner")
	booster := learner.get("gradient_booster")
	if name, err := booster.get("name").text(); err != nil {
		return nil, err
	} else if name != "gbtree" {
		return nil, bad(booster.place, "booster %q; only gbtree is read", name)
	}
	parameters := learner.get("learner_model_param")
	features, err := parameters.get("num_feature").count()
	if err != nil {
		return nil, err
	}
	if features > maxFeatures {
		return nil, bad(parameters.place+".num_feature", "%d features; at most %d are read", features, maxFeatures)
	}
	e := &Ensemble{features: features, link: identity}
	if e.base, err = baseScore(parameters.get("base_score")); err != nil {
		return nil, err
	}
	for _, name := range []string{"num_class", "num_target"} {
		if v := parameters.get(name); v.present() {
			if n, err := v.count(); err != nil || n > 1 {
				return nil, bad(v.place, "only models of one target are read")
			}
		}
	}
	if e.objective, err = learner.get("objective").get("name").text(); err != nil {
		return nil, err
	}
	if !strings.HasPrefix(e.objective, "reg:") || e.objective == "reg:logistic" || e.objective == "reg:gamma" || e.objective == "reg:tweedie" {
		return nil, bad("model.learner.objective.name", "%q; only regression without a link is read", e.objective)
	}
	if err := e.readAttributes(learner.get("attributes")); err != nil {
		return nil, err
	}
	if err := e.readFeatures(learner); err != nil {
		return nil, err
	}
	trees, err := booster.get("model").get("trees").list()
	if err != nil {
		return nil, err
	}
	for _, v := range trees {
		t, err := treeOf(v, features)
		if err != nil {
			return nil, err
		}
		e.trees = append(e.trees, t)
	}
	return e, nil
}

// baseScore is a number as a string, since 3.1 in brackets.
func baseScore(v value) (float64, error) {
	text, err := v.text()
	if err != nil {
		return 0, err
	}
	score, err := strconv.ParseFloat(strings.Trim(text, "[]"), 32)
	if err != nil || !finite(score) {
		return 0, bad(v.place, "%q is not one number", text)
	}
	return score, nil
}

func (e *Ensemble) readAttributes(v value) error {
	object, _ := v.v.(map[string]any)
	for name := range object {
		text, err := v.get(name).text()
		if err != nil {
			return err
		}
		switch name {
		case attributeLink:
			e.link = link(text)
			if e.link != identity && e.link != exponent {
				return bad(v.place+"."+name, "unknown link %q", text)
			}
		case attributeObjective:
			e.objective = text
		default:
			e.Set(name, text)
		}
	}
	return nil
}

func (e *Ensemble) readFeatures(learner value) error {
	if v := learner.get("feature_names"); v.present() {
		names, err := v.texts()
		if err != nil {
			return err
		}
		if len(names) > 0 {
			if err := e.SetNames(names); err != nil {
				return bad(v.place, "%v", err)
			}
		}
	}
	if v := learner.get("feature_types"); v.present() {
		kinds, err := v.texts()
		if err != nil {
			return err
		}
		if len(kinds) > 0 && len(kinds) != e.features {
			return bad(v.place, "%d types for %d features", len(kinds), e.features)
		}
		for c, kind := range kinds {
			if kind == "c" {
				if e.categories == nil {
					e.categories = make([]bool, e.features)
				}
				e.categories[c] = true
			}
		}
	}
	return nil
}

// treeArrays are the arrays of one tree, checked to be of one length.
type treeArrays struct {
	left, right, indices           []float64
	conditions, defaults, kinds    []float64
	weights, gains, covers         []float64
	categories, categoryNodes      []float64
	categorySegments, categorySize []float64
}

func treeOf(v value, features int) (*decisionTree, error) {
	var a treeArrays
	n := -1
	for _, f := range []struct {
		name     string
		to       *[]float64
		perNode  bool
		optional bool
	}{
		{"left_children", &a.left, true, false}, {"right_children", &a.right, true, false},
		{"split_indices", &a.indices, true, false}, {"split_conditions", &a.conditions, true, false},
		{"default_left", &a.defaults, true, false}, {"split_type", &a.kinds, true, true},
		{"base_weights", &a.weights, true, true}, {"loss_changes", &a.gains, true, true}, {"sum_hessian", &a.covers, true, true},
		{"categories", &a.categories, false, true}, {"categories_nodes", &a.categoryNodes, false, true},
		{"categories_segments", &a.categorySegments, false, true}, {"categories_sizes", &a.categorySize, false, true},
	} {
		field := v.get(f.name)
		if f.optional && !field.present() {
			continue
		}
		var err error
		if *f.to, err = field.numbers(); err != nil {
			return nil, err
		}
		if n < 0 {
			n = len(*f.to)
		}
		if f.perNode && len(*f.to) != n && !(f.optional && len(*f.to) == 0) {
			return nil, bad(field.place, "%d entries for %d nodes", len(*f.to), n)
		}
	}
	if count := v.get("tree_param").get("num_nodes"); count.present() {
		if stated, err := count.count(); err != nil {
			return nil, err
		} else if stated != n {
			return nil, bad(count.place, "says %d nodes, the arrays have %d", stated, n)
		}
	}
	if n == 0 {
		return nil, bad(v.place, "a tree without nodes")
	}
	for _, statistics := range [][]float64{a.weights, a.gains, a.covers} {
		for i, x := range statistics {
			if !finite(float64(float32(x))) {
				return nil, bad(fmt.Sprintf("%s: node %d", v.place, i), "a statistic is %v", x)
			}
		}
	}
	sets, err := a.sets(v.place)
	if err != nil {
		return nil, err
	}
	return a.assemble(v.place, features, sets)
}

// sets reads which category codes go right, by node.
func (a *treeArrays) sets(place string) (map[int]categorySet, error) {
	if len(a.categorySegments) != len(a.categoryNodes) || len(a.categorySize) != len(a.categoryNodes) {
		return nil, bad(place+".categories_nodes", "segments, sizes and nodes differ in length")
	}
	sets := map[int]categorySet{}
	for i, at := range a.categoryNodes {
		start, size := a.categorySegments[i], a.categorySize[i]
		if !(start >= 0) || !(size >= 0) || start != math.Trunc(start) || size != math.Trunc(size) || start+size > float64(len(a.categories)) {
			return nil, bad(fmt.Sprintf("%s.categories_segments[%d]", place, i), "outside the categories")
		}
		var set categorySet
		for _, code := range a.categories[int(start):int(start+size)] {
			if !(code >= 0 && code < maxBins) || code != math.Trunc(code) {
				return nil, bad(place+".categories", "code %v is not one of 0 to %d", code, maxBins-1)
			}
			set.add(int(code))
		}
		sets[int(at)] = set
	}
	return sets, nil
}

// assemble lays the nodes out breadth first from the root, siblings side by
// side. A node met twice is a cycle or a shared child; a node never met, one
// that a pruned tree left behind, is dropped.
func (a *treeArrays) assemble(place string, features int, sets map[int]categorySet) (*decisionTree, error) {
	t := &decisionTree{}
	met := make([]bool, len(a.left))
	order := []int{0}
	met[0] = true
	for next := 0; next < len(order); next++ {
		i := order[next]
		n := node{feature: -1, left: -1, value: float32(a.conditions[i])}
		categorical := len(a.kinds) > 0 && a.kinds[i] == 1 && a.left[i] != -1
		if categorical {
			n.value = 0
		} else if !finite(float64(n.value)) {
			return nil, bad(fmt.Sprintf("%s.split_conditions[%d]", place, i), "%v", a.conditions[i])
		}
		if a.left[i] != -1 || a.right[i] != -1 {
			for _, child := range []float64{a.left[i], a.right[i]} {
				if !(child >= 0 && child < float64(len(a.left))) || child != math.Trunc(child) {
					return nil, bad(fmt.Sprintf("%s: node %d", place, i), "child %v of %d nodes", child, len(a.left))
				}
				if met[int(child)] {
					return nil, bad(fmt.Sprintf("%s: node %d", place, i), "child %v is reached twice", child)
				}
				met[int(child)] = true
			}
			index := a.indices[i]
			if !(index >= 0 && index < float64(features)) || index != math.Trunc(index) {
				return nil, bad(fmt.Sprintf("%s.split_indices[%d]", place, i), "feature %v of %d", index, features)
			}
			n.feature, n.left = int32(index), int32(len(order))
			order = append(order, int(a.left[i]), int(a.right[i]))
			if a.defaults[i] != 0 {
				n.flags |= missingLeft
			}
			if categorical {
				set, ok := sets[i]
				if !ok {
					return nil, bad(fmt.Sprintf("%s: node %d", place, i), "a categorical split without categories")
				}
				t.sets = append(t.sets, set)
				n.flags |= uint32(len(t.sets)) << 1
			}
		}
		t.nodes = append(t.nodes, n)
		t.facts = append(t.facts, facts{gain: at32(a.gains, i), cover: at32(a.covers, i), weight: at32(a.weights, i)})
	}
	t.prepare()
	return t, nil
}

func at32(values []float64, i int) float32 {
	if i < len(values) {
		return float32(values[i])
	}
	return 0
}
