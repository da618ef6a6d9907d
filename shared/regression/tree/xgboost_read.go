package tree

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// ReadModel reads a model that XGBoost 1.7 or later, or this package, saved as
// JSON. It must be one tree booster for one target. The error matches
// [ErrModel] and names the place.
func ReadModel(r io.Reader) (*Ensemble, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	return DecodeModel(data)
}

// DecodeModel reads a model, as [ReadModel] does, from a file in memory.
func DecodeModel(data []byte) (*Ensemble, error) {
	var d document
	if err := json.Unmarshal(withoutNaN(data), &d); err != nil {
		return nil, bad("learner", "%v", err)
	}
	if d.Learner == nil {
		return nil, bad("learner", "it is missing")
	}
	return d.Learner.ensemble()
}

// withoutNaN replaces the bare NaN, which XGBoost writes for the missing threshold
// of a categorical split and JSON does not allow, by null.
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

func (l *learner) ensemble() (*Ensemble, error) {
	if l.Booster.Name != "gbtree" {
		return nil, bad("learner.gradient_booster", "booster %q; only gbtree is read", l.Booster.Name)
	}
	features, err := l.count("num_feature")
	if err != nil || features > maxFeatures {
		return nil, bad("learner.learner_model_param.num_feature", "%q: want a count of at most %d", l.Parameters["num_feature"], maxFeatures)
	}
	for _, name := range []string{"num_class", "num_target"} {
		if _, stated := l.Parameters[name]; !stated {
			continue
		}
		if n, err := l.count(name); err != nil || n > 1 {
			return nil, bad("learner.learner_model_param."+name, "only models of one target are read")
		}
	}
	e := &Ensemble{features: features, link: identity, objective: l.Objective.Name}
	// since 3.1 in brackets
	score := l.Parameters["base_score"]
	if e.base, err = strconv.ParseFloat(strings.Trim(score, "[]"), 32); err != nil || !finite(e.base) {
		return nil, bad("learner.learner_model_param.base_score", "%q is not one number", score)
	}
	switch name := e.objective; {
	case !strings.HasPrefix(name, "reg:"), name == "reg:logistic", name == "reg:gamma", name == "reg:tweedie":
		return nil, bad("learner.objective.name", "%q; only regression without a link is read", name)
	}
	if err := e.readAttributes(l.Attributes); err != nil {
		return nil, err
	}
	if err := e.readFeatures(l); err != nil {
		return nil, err
	}
	if l.Booster.Model.Trees == nil {
		return nil, bad("learner.gradient_booster.model.trees", "they are missing")
	}
	for i := range l.Booster.Model.Trees {
		t, err := l.Booster.Model.Trees[i].tree(fmt.Sprintf("learner.gradient_booster.model.trees[%d]", i), features)
		if err != nil {
			return nil, err
		}
		e.trees = append(e.trees, t)
	}
	return e, nil
}

func (l *learner) count(name string) (int, error) {
	n, err := strconv.ParseInt(l.Parameters[name], 10, 32)
	if err == nil && n < 0 {
		err = strconv.ErrRange
	}
	return int(n), err
}

func (e *Ensemble) readAttributes(attributes map[string]string) error {
	for name, text := range attributes {
		switch name {
		case attributeLink:
			e.link = link(text)
			if e.link != identity && e.link != exponent {
				return bad("learner.attributes."+name, "unknown link %q", text)
			}
		case attributeObjective:
			e.objective = text
		default:
			e.Set(name, text)
		}
	}
	return nil
}

func (e *Ensemble) readFeatures(l *learner) error {
	if len(l.Names) > 0 {
		if err := e.SetNames(l.Names); err != nil {
			return bad("learner.feature_names", "%v", err)
		}
	}
	if len(l.Types) > 0 && len(l.Types) != e.features {
		return bad("learner.feature_types", "%d types for %d features", len(l.Types), e.features)
	}
	for c, kind := range l.Types {
		if kind == "c" {
			if e.categories == nil {
				e.categories = make([]bool, e.features)
			}
			e.categories[c] = true
		}
	}
	return nil
}

// tree checks the arrays, and returns the nodes in the order of [decisionTree].
func (d *treeDocument) tree(place string, features int) (*decisionTree, error) {
	n := len(d.Left)
	for _, f := range []struct {
		name     string
		values   []float64
		optional bool
	}{
		{"left_children", d.Left, false}, {"right_children", d.Right, false},
		{"split_indices", d.SplitIndices, false}, {"split_conditions", d.SplitConditions, false}, {"default_left", d.DefaultLeft, false},
		{"split_type", d.SplitType, true}, {"base_weights", d.BaseWeights, true}, {"loss_changes", d.LossChanges, true}, {"sum_hessian", d.SumHessian, true},
	} {
		if f.values == nil && !f.optional {
			return nil, bad(place+"."+f.name, "it is missing")
		}
		if len(f.values) != n && !(f.optional && len(f.values) == 0) {
			return nil, bad(place+"."+f.name, "%d entries for %d nodes", len(f.values), n)
		}
	}
	if stated, ok := d.Parameters["num_nodes"]; ok && stated != strconv.Itoa(n) {
		return nil, bad(place+".tree_param.num_nodes", "says %s nodes, the arrays have %d", stated, n)
	}
	if n == 0 {
		return nil, bad(place, "a tree without nodes")
	}
	for _, statistics := range []numbers{d.BaseWeights, d.LossChanges, d.SumHessian} {
		for i, x := range statistics {
			if !finite(float64(float32(x))) {
				return nil, bad(fmt.Sprintf("%s: node %d", place, i), "a statistic is %v", x)
			}
		}
	}
	sets, err := d.sets(place)
	if err != nil {
		return nil, err
	}
	return d.assemble(place, features, sets)
}

// sets reads the category codes that go right, by node.
func (d *treeDocument) sets(place string) (map[int]categorySet, error) {
	if len(d.CategoriesSegments) != len(d.CategoriesNodes) || len(d.CategoriesSizes) != len(d.CategoriesNodes) {
		return nil, bad(place+".categories_nodes", "segments, sizes and nodes differ in length")
	}
	sets := map[int]categorySet{}
	for i, at := range d.CategoriesNodes {
		start, size := d.CategoriesSegments[i], d.CategoriesSizes[i]
		if !(start >= 0) || !(size >= 0) || start != math.Trunc(start) || size != math.Trunc(size) || start+size > float64(len(d.Categories)) {
			return nil, bad(fmt.Sprintf("%s.categories_segments[%d]", place, i), "outside the categories")
		}
		var set categorySet
		for _, code := range d.Categories[int(start):int(start+size)] {
			if !(code >= 0 && code < maxBins) || code != math.Trunc(code) {
				return nil, bad(place+".categories", "code %v is not one of 0 to %d", code, maxBins-1)
			}
			set.add(int(code))
		}
		sets[int(at)] = set
	}
	return sets, nil
}

// assemble orders the nodes breadth first from the root, siblings adjacent. A node
// reached twice is a cycle or a shared child, an error; a node never reached, left
// behind by pruning, is dropped.
func (d *treeDocument) assemble(place string, features int, sets map[int]categorySet) (*decisionTree, error) {
	t := &decisionTree{}
	met := make([]bool, len(d.Left))
	order := []int{0}
	met[0] = true
	for next := 0; next < len(order); next++ {
		i := order[next]
		n := node{feature: -1, left: -1, value: float32(d.SplitConditions[i])}
		categorical := len(d.SplitType) > 0 && d.SplitType[i] == 1 && d.Left[i] != -1
		if categorical {
			n.value = 0
		} else if !finite(float64(n.value)) {
			return nil, bad(fmt.Sprintf("%s.split_conditions[%d]", place, i), "%v", d.SplitConditions[i])
		}
		if d.Left[i] != -1 || d.Right[i] != -1 {
			for _, child := range []float64{d.Left[i], d.Right[i]} {
				if !(child >= 0 && child < float64(len(d.Left))) || child != math.Trunc(child) {
					return nil, bad(fmt.Sprintf("%s: node %d", place, i), "child %v of %d nodes", child, len(d.Left))
				}
				if met[int(child)] {
					return nil, bad(fmt.Sprintf("%s: node %d", place, i), "child %v is reached twice", child)
				}
				met[int(child)] = true
			}
			index := d.SplitIndices[i]
			if !(index >= 0 && index < float64(features)) || index != math.Trunc(index) {
				return nil, bad(fmt.Sprintf("%s.split_indices[%d]", place, i), "feature %v of %d", index, features)
			}
			n.feature, n.left = int32(index), int32(len(order))
			order = append(order, int(d.Left[i]), int(d.Right[i]))
			if d.DefaultLeft[i] != 0 {
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
		t.facts = append(t.facts, facts{gain: at32(d.LossChanges, i), cover: at32(d.SumHessian, i), weight: at32(d.BaseWeights, i)})
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
