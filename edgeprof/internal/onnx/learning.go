package onnx

import (
	"math/bits"
	"slices"
)

// learningOperators holds the operators of ai.onnx.ml, as sklearn-onnx writes them. Their inputs
// are [rows, features]. DESIGN.md of the module says how efforts are measured.
var learningOperators = table{
	"ai.onnx.ml.Scaler":                 {shape: asFloats, effort: always(16)},
	"ai.onnx.ml.Normalizer":             {shape: asFloats, effort: always(40)},
	"ai.onnx.ml.Imputer":                {shape: first, effort: always(4.5)},
	"ai.onnx.ml.Binarizer":              {shape: first, effort: always(39)},
	"ai.onnx.ml.LabelEncoder":           {shape: encodedLabels, class: ClassFunction, effort: always(18)},
	"ai.onnx.ml.FeatureVectorizer":      {shape: featureVectors, class: ClassMove, effort: always(unmet)},
	"ai.onnx.ml.ArrayFeatureExtractor":  {shape: pickedFeatures, class: ClassMove},
	"ai.onnx.ml.OneHotEncoder":          {shape: oneHotCategories, class: ClassMove, effort: always(4)},
	"ai.onnx.ml.ZipMap":                 {shape: rowMaps, class: ClassMove},
	"ai.onnx.ml.LinearRegressor":        {shape: scores, work: linearScoresWork},
	"ai.onnx.ml.LinearClassifier":       {shape: labelsAndScores, work: linearScoresWork, effort: always(8)},
	"ai.onnx.ml.TreeEnsembleRegressor":  {shape: scores, class: ClassNormalize, reads: treeReads},
	"ai.onnx.ml.TreeEnsembleClassifier": {shape: labelsAndScores, class: ClassNormalize, reads: treeReads},
	"ai.onnx.ml.TreeEnsemble":           {shape: scores, class: ClassNormalize, reads: treeReads},
}

func asFloats(c *call) []TensorInfo { return as(c, Float32) }

// rowsOf returns the rows and features of an input; one row if it has one axis.
func rowsOf(x TensorInfo) (rows, features int64, ok bool) {
	switch {
	case x.Known && len(x.Shape) == 2:
		return x.Shape[0], x.Shape[1], true
	case x.Known && len(x.Shape) == 1:
		return 1, x.Shape[0], true
	}
	return 0, 0, false
}

func encodedLabels(c *call) []TensorInfo {
	kind := c.input(0).Type
	for _, a := range []struct {
		name string
		kind DataType
	}{{"values_strings", String}, {"values_int64s", Int64}, {"values_floats", Float32}} {
		if c.node.Attribute(a.name) != nil {
			kind = a.kind
		}
	}
	if a := c.node.Attribute("values_tensor"); a != nil && a.Tensor != nil {
		kind = a.Tensor.Type
	}
	return as(c, kind)
}

func featureVectors(c *call) []TensorInfo {
	sum, rows := int64(0), int64(1)
	for _, x := range c.inputs {
		r, n, ok := rowsOf(x)
		if !ok {
			return withType(Float32)
		}
		rows, sum = r, sum+n
	}
	return withShape(Float32, rows, sum)
}

func pickedFeatures(c *call) []TensorInfo {
	x, picked := c.input(0), c.input(1)
	if !x.Known || !picked.Known || len(x.Shape) == 0 {
		return withType(x.Type)
	}
	shape := append(slices.Clone(x.Shape[:len(x.Shape)-1]), picked.Elements())
	if len(x.Shape) == 1 {
		shape = []int64{1, picked.Elements()}
	}
	return withShape(x.Type, shape...)
}

// length returns the number of values in the first of some attributes that the node has.
func (n *Node) length(names ...string) int64 {
	for _, name := range names {
		if a := n.Attribute(name); a != nil {
			return int64(max(len(a.Ints), len(a.Floats), len(a.Strings)))
		}
	}
	return 0
}

func oneHotCategories(c *call) []TensorInfo {
	x := c.input(0)
	if !x.Known {
		return withType(Float32)
	}
	return withShape(Float32, append(slices.Clone(x.Shape), c.node.length("cats_int64s", "cats_strings"))...)
}

// rowMaps returns the shape of a list with a map for each row.
func rowMaps(c *call) []TensorInfo {
	rows, _, ok := rowsOf(c.input(0))
	if !ok {
		return nil
	}
	return []TensorInfo{{Known: true, Shape: []int64{rows}}}
}

// targets returns the number of scores for a row.
func targets(n *Node) int64 {
	if labels := n.length("classlabels_ints", "classlabels_int64s", "classlabels_strings", "classlabels_longs"); labels > 0 {
		return labels
	}
	return max(1, n.Int("n_targets", n.Int("targets", 1)))
}

func scores(c *call) []TensorInfo {
	kind := Float32
	if c.node.Op == "TreeEnsemble" {
		kind = c.input(0).Type
	}
	rows, _, ok := rowsOf(c.input(0))
	if !ok {
		return withType(kind)
	}
	return withShape(kind, rows, targets(c.node))
}

func labelsAndScores(c *call) []TensorInfo {
	label := Int64
	if c.node.length("classlabels_strings") > 0 {
		label = String
	}
	rows, _, ok := rowsOf(c.input(0))
	if !ok {
		return append(withType(label), withType(Float32)...)
	}
	return append(withShape(label, rows), withShape(Float32, rows, targets(c.node))...)
}

func linearScoresWork(n *Node, in inputs, _ TensorInfo) (Class, []int64) {
	rows, _, ok := rowsOf(in.input(0))
	if !ok {
		return ClassDense, nil
	}
	return ClassDense, []int64{rows, n.length("coefficients")}
}

// treeStepBytes approximates the bytes that a step down a tree reads: its node, and the feature.
const treeStepBytes = 32

// treeReads counts the bytes read on the way down each tree for each row, in balanced trees of
// equal size.
func treeReads(n *Node, in inputs, _ TensorInfo) []int64 {
	rows, _, ok := rowsOf(in.input(0))
	if !ok {
		return nil
	}
	trees, nodes := n.length("tree_roots"), n.length("nodes_featureids")
	if a := n.Attribute("nodes_treeids"); a != nil {
		trees = int64(len(slices.Compact(slices.Sorted(slices.Values(a.Ints)))))
	}
	depth := int64(bits.Len64(uint64(nodes / max(1, trees))))
	return []int64{rows, max(1, trees), max(1, depth), treeStepBytes}
}
