package tree

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/foretime/foretime/shared/regression"
)

// The fixtures were trained by XGBoost 1.7.4 (Debian's python3-xgboost) on features
// with missing values and one of 7 category codes; predictions.json holds its
// predictions.
func TestReadsXGBoost(t *testing.T) {
	data, err := os.ReadFile("testdata/predictions.json")
	if err != nil {
		t.Fatal(err)
	}
	var fixture struct {
		Rows        [][]*float64
		Predictions []float64
	}
	if err := json.Unmarshal(data, &fixture); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"xgboost-1.7.4.json"} {
		e := read(t, filepath.Join("testdata", name))
		if got := strings.Join(e.Names(), " "); got != "a b c k" {
			t.Errorf("%s: feature names %q", name, got)
		}
		for i, row := range fixture.Rows {
			x := make([]float64, len(row))
			for c, v := range row {
				x[c] = math.NaN()
				if v != nil {
					x[c] = *v
				}
			}
			p, err := e.Predict(x)
			if err != nil {
				t.Fatal(err)
			}
			if want := fixture.Predictions[i]; !(math.Abs(p.Value-want) <= 1e-5*(1+math.Abs(want))) {
				t.Errorf("%s: row %d: %v, XGBoost says %v", name, i, p.Value, want)
			}
		}
	}
}

func read(t testing.TB, path string) *Ensemble {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	e, err := ReadModel(f)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestRoundTrip(t *testing.T) {
	s := friedman(800, 5, 0.1, 1)
	for i := range s.Len() {
		s.X[i*5+3] = float64(i % 9)
	}
	e := fit(t, Boost{Rounds: 12, Categorical: []bool{false, false, false, true, false}, Objective: Quantile}, s)
	if err := e.SetNames([]string{"a", "b", "c", "d", "e"}); err != nil {
		t.Fatal(err)
	}
	e.Set("trained_on", "noise")
	back, err := ReadModel(bytes.NewReader(saved(t, e)))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(saved(t, e), saved(t, back)) {
		t.Error("reading the model back gives another one")
	}
	if back.objective != string(Quantile) || back.Get("trained_on") != "noise" {
		t.Errorf("objective %q, attribute %q", back.objective, back.Get("trained_on"))
	}
	var b bytes.Buffer
	if err := e.WriteCompact(&b); err != nil {
		t.Fatal(err)
	}
	compact, err := ReadModel(&b)
	if err != nil {
		t.Fatal(err)
	}
	for r := range 50 {
		want, _ := e.Predict(s.Row(r))
		for name, m := range map[string]*Ensemble{"as XGBoost has it": back, "compact": compact} {
			if got, err := m.Predict(s.Row(r)); err != nil || got != want {
				t.Fatalf("%s: row %d: %v, want %v (%v)", name, r, got, want, err)
			}
		}
	}
}

// Each row breaks one thing in a good model; XGBoost 1.7.4 crashes, hangs or
// predicts silently on some of these.
func TestRefusesHostileModels(t *testing.T) {
	e := fit(t, Boost{Rounds: 2, MaxDepth: 2}, friedman(200, 5, 0, 1))
	firstTree := func(m map[string]any) map[string]any {
		return lookup(m, "learner", "gradient_booster", "model", "trees").([]any)[0].(map[string]any)
	}
	tests := map[string]func(m map[string]any){
		"child out of range": func(m map[string]any) { firstTree(m)["left_children"].([]any)[0] = 1e6 },
		"negative child":     func(m map[string]any) { firstTree(m)["left_children"].([]any)[0] = -7.0 },
		"half a child":       func(m map[string]any) { firstTree(m)["left_children"].([]any)[0] = 1.5 },
		"a cycle":            func(m map[string]any) { firstTree(m)["left_children"].([]any)[1] = 0.0 },
		"a shared child": func(m map[string]any) {
			firstTree(m)["left_children"].([]any)[0] = firstTree(m)["right_children"].([]any)[0]
		},
		"feature out of range":  func(m map[string]any) { firstTree(m)["split_indices"].([]any)[0] = 5.0 },
		"a text as a threshold": func(m map[string]any) { firstTree(m)["split_conditions"].([]any)[0] = "NaN" },
		"wrong num_nodes":       func(m map[string]any) { firstTree(m)["tree_param"].(map[string]any)["num_nodes"] = "2000000000" },
		"arrays of two lengths": func(m map[string]any) { firstTree(m)["default_left"] = []any{0.0} },
		"a tree without nodes": func(m map[string]any) {
			for name, v := range firstTree(m) {
				if _, ok := v.([]any); ok {
					firstTree(m)[name] = []any{}
				}
			}
			firstTree(m)["tree_param"].(map[string]any)["num_nodes"] = "0"
		},
		"a categorical split without its codes": func(m map[string]any) { firstTree(m)["split_type"].([]any)[0] = 1.0 },
		"another booster":                       func(m map[string]any) { lookup(m, "learner", "gradient_booster").(map[string]any)["name"] = "dart" },
		"a classifier":                          func(m map[string]any) { lookup(m, "learner", "objective").(map[string]any)["name"] = "binary:logistic" },
		"three targets": func(m map[string]any) {
			lookup(m, "learner", "learner_model_param").(map[string]any)["num_target"] = "3"
		},
		"no trees": func(m map[string]any) {
			delete(lookup(m, "learner", "gradient_booster", "model").(map[string]any), "trees")
		},
		"a base score of words": func(m map[string]any) {
			lookup(m, "learner", "learner_model_param").(map[string]any)["base_score"] = "much"
		},
		"more features than fit in memory": func(m map[string]any) {
			lookup(m, "learner", "learner_model_param").(map[string]any)["num_feature"] = "2000000000"
		},
		"names for other features": func(m map[string]any) { lookup(m, "learner").(map[string]any)["feature_names"] = []any{"a"} },
		"no learner":               func(m map[string]any) { delete(m, "learner") },
	}
	for name, spoil := range tests {
		t.Run(name, func(t *testing.T) {
			var m map[string]any
			if err := json.Unmarshal(saved(t, e), &m); err != nil {
				t.Fatal(err)
			}
			spoil(m)
			data, err := json.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := ReadModel(bytes.NewReader(data)); !errors.Is(err, ErrModel) || !strings.Contains(err.Error(), "model") {
				t.Errorf("got %v, want an ErrModel with its place", err)
			}
		})
	}
	for name, data := range map[string]string{
		"empty": "", "text": "hello", "cut JSON": string(saved(t, e)[:100]), "a list": "[]",
		"a list of words":   `{"learner":{"gradient_booster":{"model":{"trees":[{"left_children":["a"]}]}}}}`,
		"a list for a text": `{"learner":{"gradient_booster":{"name":[1]}}}`,
	} {
		if _, err := ReadModel(strings.NewReader(data)); !errors.Is(err, ErrModel) {
			t.Errorf("%s: got %v, want ErrModel", name, err)
		}
	}
	spoilt := bytes.Replace(saved(t, e), []byte(`"split_conditions":[`), []byte(`"split_conditions":[NaN,`), 1)
	if _, err := DecodeModel(spoilt); !errors.Is(err, ErrModel) {
		t.Errorf("NaN threshold: %v", err)
	}
}

func lookup(m map[string]any, path ...string) any {
	var v any = m
	for _, name := range path {
		v = v.(map[string]any)[name]
	}
	return v
}

// For any bytes, reading ends without a panic, and a model that was read predicts.
func FuzzReadModel(f *testing.F) {
	for _, name := range []string{"xgboost-1.7.4.json"} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(`{"learner":{}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := ReadModel(bytes.NewReader(data))
		if err != nil {
			if !errors.Is(err, ErrModel) {
				t.Fatalf("untyped error: %v", err)
			}
			return
		}
		if e.Features() > 1000 {
			return
		}
		if _, err := e.Predict(make([]float64, e.Features())); err != nil && !errors.Is(err, regression.ErrDimension) {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := e.WriteJSON(&b); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadModel(&b); err != nil {
			t.Fatalf("the model cannot be read again: %v", err)
		}
	})
}
