package tree

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
)

// handMade returns an ensemble of one tree: a threshold of 1.5 with missing values to the left, and on
// its right side codes 0, 3 and 255 to the right.
func handMade() *Ensemble {
	var set categorySet
	for _, code := range []int{0, 3, 255} {
		set.add(code)
	}
	t := &decisionTree{sets: []categorySet{set}}
	t.nodes = []node{
		{feature: 0, left: 1, value: 1.5, flags: missingLeft}, {feature: -1, left: -1, value: -2},
		{feature: 1, left: 3, flags: 1 << 1}, {feature: -1, left: -1, value: 4}, {feature: -1, left: -1, value: 8},
	}
	t.facts = []facts{{gain: 9, cover: 7, weight: 1}, {cover: 3, weight: -2}, {gain: 5, cover: 4, weight: 6}, {cover: 1, weight: 4}, {cover: 3, weight: 8}}
	t.prepare()
	return &Ensemble{features: 2, base: 0.5, link: identity, objective: string(SquaredError), categories: []bool{false, true}, trees: []*decisionTree{t, t}}
}

// TestDocumentByHand writes each number of a tree where XGBoost has it.
func TestDocumentByHand(t *testing.T) {
	text := string(saved(t, handMade()))
	for _, want := range []string{
		`"left_children":[1,-1,3,-1,-1]`, `"right_children":[2,-1,4,-1,-1]`, `"parents":[2147483647,0,0,2,2]`, `"split_indices":[0,0,1,0,0]`,
		`"split_conditions":[1.5E+00,-2E+00,0E+00,4E+00,8E+00]`, `"split_type":[0,0,1,0,0]`, `"default_left":[1,0,0,0,0]`, `"base_weights":[1E+00,-2E+00,6E+00,4E+00,8E+00]`,
		`"loss_changes":[9E+00,0E+00,5E+00,0E+00,0E+00]`, `"sum_hessian":[7E+00,3E+00,4E+00,1E+00,3E+00]`, `"categories":[0,3,255]`, `"categories_nodes":[2]`, `"categories_segments":[0]`, `"categories_sizes":[3]`,
		`"num_nodes":"5"`, `"num_deleted":"0"`, `"size_leaf_vector":"1"`, `"num_trees":"2"`, `"num_parallel_tree":"1"`, `"size_leaf_vector":"0"`, `"iteration_indptr":[0,1,2]`, `"tree_info":[0,0]`, `"id":0`, `"id":1`,
		`"version":[1,7,4]`, `"base_score":"5E-01"`, `"num_feature":"2"`, `"num_class":"0"`, `"num_target":"1"`, `"boost_from_average":"0"`, `"feature_types":["float","c"]`, `"scale_pos_weight":"1"`, `"attributes":{}`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is missing in %s", want, text)
		}
	}
	e, err := DecodeModel([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	nan := math.NaN()
	for _, m := range []*Ensemble{handMade(), e} {
		for _, tt := range [][3]float64{{1, 0, -2}, {nan, 0, -2}, {1.5, 0, 8}, {2, 3, 8}, {2, 255, 8}, {2, 1, 4}, {2, nan, 8}, {2, -1, 4}, {2, 256, 4}, {1.4999, 3, -2}} {
			out := make([]float64, 1)
			if err := m.PredictAll(tt[:2], out, 1); err != nil || out[0] != 0.5+2*tt[2] {
				t.Errorf("%v: %v together, %v", tt, out, err)
			}
			if p, err := m.Predict(tt[:2]); err != nil || p.Value != 0.5+2*tt[2] {
				t.Errorf("%v: %v, %v", tt, p.Value, err)
			}
		}
	}
	if e.trees[0].depth != 2 || len(e.categories) != 2 || !e.categories[1] || e.categories[0] {
		t.Errorf("depth %d, categories %v", e.trees[0].depth, e.categories)
	}
}

// TestDocumentLimits reads numbers at their limits and refuses those beyond.
func TestDocumentLimits(t *testing.T) {
	text := string(saved(t, handMade()))
	for _, tt := range []struct {
		name, old, new string
		ok             bool
	}{
		{"as it is", "x", "x", true},
		{"a child behind the last", `"right_children":[2,-1,4,-1,-1]`, `"right_children":[2,-1,5,-1,-1]`, false},
		{"the root as a child", `"right_children":[2,-1,4,-1,-1]`, `"right_children":[2,-1,0,-1,-1]`, false},
		{"a feature behind the last", `"split_indices":[0,0,1,0,0]`, `"split_indices":[0,0,2,0,0]`, false},
		{"half a feature", `"split_indices":[0,0,1,0,0]`, `"split_indices":[0.5,0,1,0,0]`, false},
		{"the feature of a leaf", `"split_indices":[0,0,1,0,0]`, `"split_indices":[0,9,1,0,0]`, true},
		{"a feature below 0", `"split_indices":[0,0,1,0,0]`, `"split_indices":[-1,0,1,0,0]`, false},
		{"a code of 256", `"categories":[0,3,255]`, `"categories":[0,3,256]`, false},
		{"a code below 0", `"categories":[0,3,255]`, `"categories":[-1,3,255]`, false},
		{"half a code", `"categories":[0,3,255]`, `"categories":[0,3.5,255]`, false},
		{"more codes than there are", `"categories_sizes":[3]`, `"categories_sizes":[4]`, false},
		{"fewer codes", `"categories_sizes":[3]`, `"categories_sizes":[2]`, true},
		{"no codes", `"categories_sizes":[3]`, `"categories_sizes":[0]`, true},
		{"a negative size", `"categories_sizes":[3]`, `"categories_sizes":[-1]`, false},
		{"half a size", `"categories_sizes":[3]`, `"categories_sizes":[1.5]`, false},
		{"a later segment", `"categories_segments":[0]`, `"categories_segments":[1]`, false},
		{"a negative segment", `"categories_segments":[0]`, `"categories_segments":[-1]`, false},
		{"two segments", `"categories_segments":[0]`, `"categories_segments":[0,0]`, false},
		{"two sizes", `"categories_sizes":[3]`, `"categories_sizes":[3,3]`, false},
		{"another node's codes", `"categories_nodes":[2]`, `"categories_nodes":[1]`, false},
		{"an infinite statistic", `"sum_hessian":[7E+00`, `"sum_hessian":[7E+99`, false},
		{"a null statistic", `"base_weights":[1E+00`, `"base_weights":[null`, false},
		{"a null threshold", `"split_conditions":[1.5E+00`, `"split_conditions":[null`, false},
		{"a null threshold of codes", `,0E+00,4E+00,8E+00],"split_type"`, `,null,4E+00,8E+00],"split_type"`, true},
		{"no statistics", `"sum_hessian":[7E+00,3E+00,4E+00,1E+00,3E+00]`, `"sum_hessian":[]`, true},
		{"too few statistics", `"sum_hessian":[7E+00,3E+00,4E+00,1E+00,3E+00]`, `"sum_hessian":[1]`, false},
		{"logical defaults", `"default_left":[1,0,0,0,0]`, `"default_left":[true,false,false,false,false]`, true},
		{"spaces", `"left_children":[1,-1,3,-1,-1]`, "\"left_children\":[ 1,\n-1\t,3,-1 ,\r-1 ]", true},
		{"a word", `"left_children":[1,-1,3,-1,-1]`, `"left_children":[1,-1,x,-1,-1]`, false},
		{"a text", `"left_children":[1,-1,3,-1,-1]`, `"left_children":"1"`, false},
		{"one class", `"num_class":"0"`, `"num_class":"1"`, true},
		{"two classes", `"num_class":"0"`, `"num_class":"2"`, false},
		{"two targets", `"num_target":"1"`, `"num_target":"2"`, false},
		{"features below 0", `"num_feature":"2","num_target"`, `"num_feature":"-1","num_target"`, false},
		{"a base in brackets", `"base_score":"5E-01"`, `"base_score":"[5E-01]"`, true},
		{"an infinite base", `"base_score":"5E-01"`, `"base_score":"inf"`, false},
		{"another regression", `"name":"reg:squarederror"`, `"name":"reg:absoluteerror"`, true},
		{"gamma regression", `"name":"reg:squarederror"`, `"name":"reg:gamma"`, false},
		{"three types", `"feature_types":["float","c"]`, `"feature_types":["float","c","c"]`, false},
		{"no types", `"feature_types":["float","c"]`, `"feature_types":[]`, true},
		{"names", `"feature_names":[]`, `"feature_names":["a","b"]`, true},
		{"a name", `"feature_names":[]`, `"feature_names":["a"]`, false},
		{"a link", `"attributes":{}`, `"attributes":{"foretime_link":"exp"}`, true},
		{"another link", `"attributes":{}`, `"attributes":{"foretime_link":"log"}`, false},
		{"NaN in a text", `"attributes":{}`, `"attributes":{"a":"NaN \" NaN"}`, true},
	} {
		changed := strings.ReplaceAll(text, tt.old, tt.new)
		if tt.old != "x" && changed == text {
			t.Fatalf("%s: nothing changed", tt.name)
		}
		e, err := DecodeModel([]byte(changed))
		if (err == nil) != tt.ok || err != nil && !errors.Is(err, ErrModel) {
			t.Errorf("%s: %v", tt.name, err)
		}
		if tt.name == "NaN in a text" && err == nil && e.Get("a") != `NaN " NaN` {
			t.Errorf("attribute %q", e.Get("a"))
		}
		if tt.name == "logical defaults" && err == nil && !e.trees[0].nodes[0].missingLeft() {
			t.Error("missing values go right")
		}
	}
	for in, want := range map[string]string{"[NaN,1]": "[null,1]", `["NaN",NaN]`: `["NaN",null]`, `["\"NaN"]`: `["\"NaN"]`, "[1]": "[1]", `["a\\",NaN]`: `["a\\",null]`} {
		if got := string(withoutNaN([]byte(in))); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

// TestCompactDocument leaves out what predictions do not need.
func TestCompactDocument(t *testing.T) {
	e := handMade()
	e.objective = string(Quantile)
	e.link = exponent
	var b bytes.Buffer
	if err := e.WriteCompact(&b); err != nil {
		t.Fatal(err)
	}
	for _, absent := range []string{"parents", "sum_hessian", "base_weights", "loss_changes"} {
		if strings.Contains(b.String(), absent) {
			t.Errorf("%s is written", absent)
		}
	}
	back, err := DecodeModel(b.Bytes())
	if err != nil || back.objective != string(Quantile) || back.link != exponent || back.trees[0].facts[0] != (facts{}) {
		t.Errorf("%+v, %v", back, err)
	}
	p, err := back.Predict([]float64{0, 0})
	if want := math.Exp(0.5 - 4); err != nil || math.Abs(p.Value-want) > 1e-12 {
		t.Errorf("%v, want %v", p.Value, want)
	}
	if back.SetNames([]string{"a"}) == nil || back.SetNames([]string{"a", "b"}) != nil || !slices.Equal(back.Names(), []string{"a", "b"}) || back.Trees() != 2 || back.Features() != 2 {
		t.Errorf("names %v", back.Names())
	}
	var v numbers
	if err := json.Unmarshal([]byte("[1.5, null, true, false]"), &v); err != nil || len(v) != 4 || v[0] != 1.5 || !math.IsNaN(v[1]) || v[2] != 1 || v[3] != 0 {
		t.Errorf("%v, %v", v, err)
	}
	if err := json.Unmarshal([]byte("[]"), &v); err != nil || v == nil || len(v) != 0 {
		t.Errorf("%v, %v", v, err)
	}
}

// TestBlocksOfRows predicts around whole blocks of 128 rows as one row by itself.
func TestBlocksOfRows(t *testing.T) {
	e := handMade()
	for _, n := range []int{1, 127, 128, 129, 257, 1000} {
		x := make([]float64, 2*n)
		for i := range x {
			x[i] = float64(i % 5)
			if i%7 == 0 {
				x[i] = math.NaN()
			}
		}
		for _, threads := range []int{0, 1, 2, 50} {
			out := make([]float64, n)
			if err := e.PredictAll(x, out, threads); err != nil {
				t.Fatal(err)
			}
			for i, got := range out {
				if p, _ := e.Predict(x[2*i : 2*i+2]); p.Value != got {
					t.Fatalf("row %d of %d by %d threads: %v, want %v", i, n, threads, got, p.Value)
				}
			}
		}
	}
	if err := e.PredictAll(nil, nil, 3); err != nil {
		t.Error(err)
	}
	if err := e.PredictAll([]float64{1, 2, 3}, make([]float64, 1), 1); err == nil {
		t.Error("three numbers for a row of two")
	}
	stump := &Ensemble{features: 1, base: 1, link: identity, trees: []*decisionTree{{nodes: []node{{feature: -1, value: 2}}}}}
	out := make([]float64, 2)
	if err := stump.PredictAll([]float64{1, 2}, out, 1); err != nil || out[0] != 3 || out[1] != 3 {
		t.Errorf("%v, %v", out, err)
	}
}
