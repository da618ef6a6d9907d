package tree

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
)

// ErrModel is returned when a model file cannot be used: it is not XGBoost's
// JSON or UBJSON, holds something this package does not score, or would read
// out of bounds or never end.
var ErrModel = errors.New("unusable model")

// bad is an ErrModel with its place.
func bad(place, format string, args ...any) error {
	return fmt.Errorf("%w: %s: %s", ErrModel, place, fmt.Sprintf(format, args...))
}

// The attributes that tell what XGBoost's own fields cannot.
const (
	attributeLink      = "foretime_link"
	attributeObjective = "foretime_objective"
)

// Set names a fact to keep with the model; it is written among the model's
// attributes.
func (e *Ensemble) Set(name, value string) {
	if e.attributes == nil {
		e.attributes = map[string]string{}
	}
	e.attributes[name] = value
}

// Get is a fact kept with the model, or "".
func (e *Ensemble) Get(name string) string { return e.attributes[name] }

// WriteJSON writes the model as XGBoost 1.7 and later read it. A loss other
// than squared error is written as reg:squarederror, which adds the trees the
// same way, with its true name among the attributes; so is a log target, which
// XGBoost then answers in log units.
func (e *Ensemble) WriteJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(e.document())
}

// WriteUBJSON writes the same as UBJSON, XGBoost's default since 2.1.
func (e *Ensemble) WriteUBJSON(w io.Writer) error { return writeUBJSON(w, e.document()) }

// document is the model as a tree of maps and typed arrays. Parameters are
// strings, as XGBoost has them.
func (e *Ensemble) document() map[string]any {
	attributes := map[string]any{}
	for name, v := range e.attributes {
		attributes[name] = v
	}
	if e.link != identity {
		attributes[attributeLink] = string(e.link)
	}
	if e.objective != string(SquaredError) {
		attributes[attributeObjective] = e.objective
	}
	trees, info := make([]any, len(e.trees)), make([]any, len(e.trees))
	indptr := make([]any, len(e.trees)+1)
	indptr[0] = int64(0)
	for i, t := range e.trees {
		trees[i], info[i], indptr[i+1] = t.document(i, e.features), int64(0), int64(i+1)
	}
	names, kinds := []any{}, []any{}
	for c := range e.features {
		if e.names != nil {
			names = append(names, e.names[c])
		}
		if e.categories != nil {
			kind := "float"
			if e.categories[c] {
				kind = "c"
			}
			kinds = append(kinds, kind)
		}
	}
	return map[string]any{
		"version": []any{int64(1), int64(7), int64(4)},
		"learner": map[string]any{
			"attributes": attributes, "feature_names": names, "feature_types": kinds,
			"gradient_booster": map[string]any{
				"name": "gbtree",
				"model": map[string]any{
					"gbtree_model_param": map[string]any{"num_trees": strconv.Itoa(len(trees)), "num_parallel_tree": "1", "size_leaf_vector": "0"},
					"trees":              trees, "tree_info": info, "iteration_indptr": indptr,
				},
			},
			"learner_model_param": map[string]any{
				"base_score":  strconv.FormatFloat(float64(float32(e.base)), 'E', -1, 32),
				"num_feature": strconv.Itoa(e.features), "num_class": "0", "num_target": "1", "boost_from_average": "0",
			},
			"objective": map[string]any{"name": string(SquaredError), "reg_loss_param": map[string]any{"scale_pos_weight": "1"}},
		},
	}
}

// Typed arrays of the document: UBJSON writes them in their own width.
type (
	floats []float32
	ints   []int32
	longs  []int64
	octets []uint8
	// doubles are what JSON holds, whatever wrote it.
	doubles []float64
)

func (v floats) MarshalJSON() ([]byte, error) {
	return join(v, func(b []byte, x float32) []byte { return strconv.AppendFloat(b, float64(x), 'E', -1, 32) }), nil
}

func (v octets) MarshalJSON() ([]byte, error) {
	return join(v, func(b []byte, x uint8) []byte { return strconv.AppendUint(b, uint64(x), 10) }), nil
}

func join[T any](values []T, appendOne func([]byte, T) []byte) []byte {
	b := []byte{'['}
	for i, v := range values {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendOne(b, v)
	}
	return append(b, ']')
}

const noParent = math.MaxInt32

func (t *decisionTree) document(id, features int) map[string]any {
	n := len(t.nodes)
	left, right, parents, indices := make(ints, n), make(ints, n), make(ints, n), make(ints, n)
	conditions, weights, gains, covers := make(floats, n), make(floats, n), make(floats, n), make(floats, n)
	defaults, kinds := make(octets, n), make(octets, n)
	categories, categoryNodes, segments, sizes := ints{}, ints{}, longs{}, longs{}
	parents[0] = noParent
	for i, node := range t.nodes {
		conditions[i], weights[i], gains[i], covers[i] = node.value, t.facts[i].weight, t.facts[i].gain, t.facts[i].cover
		if node.feature < 0 {
			left[i], right[i] = -1, -1
			continue
		}
		left[i], right[i], indices[i] = node.left, node.left+1, node.feature
		parents[node.left], parents[node.left+1] = int32(i), int32(i)
		if node.missingLeft() {
			defaults[i] = 1
		}
		if at := node.set(); at >= 0 {
			codes := t.sets[at].codes()
			kinds[i] = 1
			categoryNodes = append(categoryNodes, int32(i))
			segments, sizes = append(segments, int64(len(categories))), append(sizes, int64(len(codes)))
			for _, c := range codes {
				categories = append(categories, int32(c))
			}
		}
	}
	return map[string]any{
		"id": int64(id), "left_children": left, "right_children": right, "parents": parents,
		"split_indices": indices, "split_conditions": conditions, "split_type": kinds, "default_left": defaults,
		"base_weights": weights, "loss_changes": gains, "sum_hessian": covers,
		"categories": categories, "categories_nodes": categoryNodes, "categories_segments": segments, "categories_sizes": sizes,
		"tree_param": map[string]any{
			"num_nodes": strconv.Itoa(n), "num_feature": strconv.Itoa(features),
			"num_deleted": "0", "size_leaf_vector": "1",
		},
	}
}
