package tree

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
)

// ErrModel is returned when a model file cannot be used: it is not XGBoost's JSON,
// has something that this package cannot score, or would read out of bounds or
// never end.
var ErrModel = errors.New("unusable model")

// bad returns an ErrModel with its place.
func bad(place, format string, args ...any) error {
	return fmt.Errorf("%w: model.%s: %s", ErrModel, place, fmt.Sprintf(format, args...))
}

// Attributes for what XGBoost's own fields cannot hold.
const (
	attributeLink      = "foretime_link"
	attributeObjective = "foretime_objective"
)

// document is a model as XGBoost 1.7 and later write it in JSON (its
// doc/model.schema). Parameters are strings there.
type document struct {
	Version []int    `json:"version"`
	Learner *learner `json:"learner"`
}

type learner struct {
	Attributes map[string]string `json:"attributes"`
	Names      []string          `json:"feature_names"`
	Types      []string          `json:"feature_types"` // "c" for a category
	Booster    struct {
		Name  string `json:"name"`
		Model struct {
			Parameters map[string]string `json:"gbtree_model_param"`
			Trees      []treeDocument    `json:"trees"`
			TreeInfo   []int             `json:"tree_info"`
			Iterations []int             `json:"iteration_indptr"`
		} `json:"model"`
	} `json:"gradient_booster"`
	Parameters map[string]string `json:"learner_model_param"`
	Objective  struct {
		Name string            `json:"name"`
		Loss map[string]string `json:"reg_loss_param"`
	} `json:"objective"`
}

// treeDocument is a tree as arrays, one number per node, and those of its
// categorical splits: segment i of the categories goes right at node i.
type treeDocument struct {
	ID                 int               `json:"id"`
	Left               integers          `json:"left_children"` // -1 at a leaf
	Right              integers          `json:"right_children"`
	Parents            integers          `json:"parents,omitempty"`
	SplitIndices       integers          `json:"split_indices"`
	SplitConditions    numbers           `json:"split_conditions"`
	SplitType          integers          `json:"split_type"` // 1 for a categorical split
	DefaultLeft        integers          `json:"default_left"`
	BaseWeights        numbers           `json:"base_weights,omitempty"`
	LossChanges        numbers           `json:"loss_changes,omitempty"`
	SumHessian         numbers           `json:"sum_hessian,omitempty"`
	Categories         integers          `json:"categories"`
	CategoriesNodes    integers          `json:"categories_nodes"`
	CategoriesSegments integers          `json:"categories_segments"`
	CategoriesSizes    integers          `json:"categories_sizes"`
	Parameters         map[string]string `json:"tree_param"`
}

// XGBoost separates integers from other numbers, which are float32. Both have the
// same representation here; NaN is read from null.
type (
	integers []float64
	numbers  []float64
)

// MarshalJSON writes a list without points or exponents.
func (v integers) MarshalJSON() ([]byte, error) {
	return list(v, func(b []byte, x float64) []byte { return strconv.AppendInt(b, int64(x), 10) }), nil
}

// MarshalJSON writes a list with the digits of float32.
func (v numbers) MarshalJSON() ([]byte, error) {
	return list(v, func(b []byte, x float64) []byte { return strconv.AppendFloat(b, x, 'E', -1, 32) }), nil
}

func list(values []float64, add func([]byte, float64) []byte) []byte {
	b := []byte{'['}
	for i, x := range values {
		if i > 0 {
			b = append(b, ',')
		}
		b = add(b, x)
	}
	return append(b, ']')
}

// UnmarshalJSON reads numbers; whether they are whole is checked with their range.
func (v *integers) UnmarshalJSON(data []byte) error { return (*numbers)(v).UnmarshalJSON(data) }

// UnmarshalJSON reads numbers, true and false, and null.
func (v *numbers) UnmarshalJSON(data []byte) error {
	if data[0] != '[' {
		return fmt.Errorf("want a list of numbers, found %.20s", data)
	}
	*v = numbers{}
	for at := 1; at < len(data); {
		start := at
		for data[at] != ',' && data[at] != ']' {
			at++
		}
		item := trimSpace(data[start:at])
		at++
		switch string(item) {
		case "":
			continue // an empty list
		case "null":
			*v = append(*v, math.NaN())
		case "true":
			*v = append(*v, 1)
		case "false":
			*v = append(*v, 0)
		default:
			x, err := strconv.ParseFloat(string(item), 64)
			if err != nil {
				return fmt.Errorf("entry %d: want a number, found %.20s", len(*v), item)
			}
			*v = append(*v, x)
		}
	}
	return nil
}

func trimSpace(b []byte) []byte {
	space := func(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }
	for len(b) > 0 && space(b[0]) {
		b = b[1:]
	}
	for len(b) > 0 && space(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return b
}

// Set stores a fact with the model, among the attributes of its file.
func (e *Ensemble) Set(name, value string) {
	if e.attributes == nil {
		e.attributes = map[string]string{}
	}
	e.attributes[name] = value
}

// Get returns a fact stored with the model, or "".
func (e *Ensemble) Get(name string) string { return e.attributes[name] }

// WriteJSON writes the model for XGBoost 1.7 and later. A loss other than squared
// error is written as reg:squarederror, which adds the trees the same way, with its
// true name among the attributes; so is a log target, which XGBoost then predicts
// in log units.
func (e *Ensemble) WriteJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(document{Version: []int{1, 7, 4}, Learner: e.learner()})
}

// WriteCompact writes only what prediction needs, in half the space; [ReadModel]
// reads it, XGBoost does not.
func (e *Ensemble) WriteCompact(w io.Writer) error {
	l := e.learner()
	for i := range l.Booster.Model.Trees {
		t := &l.Booster.Model.Trees[i]
		t.Parents, t.SumHessian = nil, nil
		t.BaseWeights, t.LossChanges = nil, nil
	}
	return json.NewEncoder(w).Encode(document{Version: []int{1, 7, 4}, Learner: l})
}

func (e *Ensemble) learner() *learner {
	l := &learner{Attributes: map[string]string{}, Names: append([]string{}, e.names...), Types: []string{}}
	for name, v := range e.attributes {
		l.Attributes[name] = v
	}
	if e.link != identity {
		l.Attributes[attributeLink] = string(e.link)
	}
	if e.objective != string(SquaredError) {
		l.Attributes[attributeObjective] = e.objective
	}
	for _, category := range e.categories {
		l.Types = append(l.Types, map[bool]string{true: "c", false: "float"}[category])
	}
	m := &l.Booster.Model
	l.Booster.Name = "gbtree"
	m.Parameters = map[string]string{"num_trees": strconv.Itoa(len(e.trees)), "num_parallel_tree": "1", "size_leaf_vector": "0"}
	m.Trees = make([]treeDocument, len(e.trees))
	m.TreeInfo = make([]int, len(e.trees))
	m.Iterations = make([]int, len(e.trees)+1)
	for i, t := range e.trees {
		m.Trees[i], m.Iterations[i+1] = t.document(i, e.features), i+1
	}
	l.Parameters = map[string]string{
		"base_score":  strconv.FormatFloat(float64(float32(e.base)), 'E', -1, 32),
		"num_feature": strconv.Itoa(e.features), "num_class": "0", "num_target": "1", "boost_from_average": "0",
	}
	l.Objective.Name, l.Objective.Loss = string(SquaredError), map[string]string{"scale_pos_weight": "1"}
	return l
}

const noParent = math.MaxInt32

func (t *decisionTree) document(id, features int) treeDocument {
	n := len(t.nodes)
	d := treeDocument{
		ID: id, Left: make(integers, n), Right: make(integers, n), Parents: make(integers, n), SplitIndices: make(integers, n),
		SplitConditions: make(numbers, n), SplitType: make(integers, n), DefaultLeft: make(integers, n),
		BaseWeights: make(numbers, n), LossChanges: make(numbers, n), SumHessian: make(numbers, n),
		Parameters: map[string]string{"num_nodes": strconv.Itoa(n), "num_feature": strconv.Itoa(features), "num_deleted": "0", "size_leaf_vector": "1"},
	}
	d.Parents[0] = noParent
	for i, node := range t.nodes {
		d.SplitConditions[i], d.BaseWeights[i] = float64(node.value), float64(t.facts[i].weight)
		d.LossChanges[i], d.SumHessian[i] = float64(t.facts[i].gain), float64(t.facts[i].cover)
		if node.feature < 0 {
			d.Left[i], d.Right[i] = -1, -1
			continue
		}
		d.Left[i], d.Right[i] = float64(node.left), float64(node.left+1)
		d.SplitIndices[i] = float64(node.feature)
		d.Parents[node.left], d.Parents[node.left+1] = float64(i), float64(i)
		if node.missingLeft() {
			d.DefaultLeft[i] = 1
		}
		if at := node.set(); at >= 0 {
			codes := t.sets[at].codes()
			d.SplitType[i] = 1
			d.CategoriesNodes = append(d.CategoriesNodes, float64(i))
			d.CategoriesSegments = append(d.CategoriesSegments, float64(len(d.Categories)))
			d.CategoriesSizes = append(d.CategoriesSizes, float64(len(codes)))
			for _, c := range codes {
				d.Categories = append(d.Categories, float64(c))
			}
		}
	}
	return d
}
