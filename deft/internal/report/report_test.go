package report

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func run(names ...string) *Run {
	r := &Run{Policy: "priority"}
	for i, n := range names {
		r.Models = append(r.Models, Model{Name: n, Output: n, Jobs: 2, JCT: Summary{Mean: float64(10 * (i + 1))}})
	}
	return r
}

func TestCompare(t *testing.T) {
	shared, alone := run("a", "b"), run("a", "b")
	shared.Models[1].JCT.Mean = 30 // 10 and 30 against 10 and 20
	c, err := shared.Compare(alone)
	if err != nil {
		t.Fatal(err)
	}
	if *c.Models[0].Inflation != 0 || *c.Models[1].Inflation != 0.5 || *c.Models[1].AloneMS != 20 {
		t.Errorf("%+v", c.Models)
	}
	text, err := json.Marshal(c)
	if err != nil || strings.Count(string(text), `"models"`) != 1 || !strings.Contains(string(text), `"inflation":0.5`) {
		t.Errorf("%s %v", text, err)
	}
	alone.Models[0], alone.Models[1] = alone.Models[1], alone.Models[0]
	if _, err := shared.Compare(alone); err != nil {
		t.Error(err) // another order
	}
}

func TestCompareRefuses(t *testing.T) {
	if _, err := run("a").Compare(run("b")); !errors.Is(err, ErrMismatch) {
		t.Error(err)
	}
	none := run("a")
	none.Models[0].JCT.Mean = 0
	if _, err := none.Compare(run("a")); !errors.Is(err, ErrNoModels) {
		t.Error(err)
	}
}

func TestJain(t *testing.T) {
	tests := []struct {
		shares []float64
		want   float64
		err    bool
	}{
		{[]float64{5}, 1, false},
		{[]float64{2, 2, 2}, 1, false},
		{[]float64{1, 0, 0, 0}, 0.25, false},
		{[]float64{0, 0}, 0, true},
		{nil, 0, true},
		{[]float64{1, math.NaN()}, 0, true},
		{[]float64{1, -1}, 0, true},
	}
	for _, tt := range tests {
		got, err := Jain(tt.shares)
		if got != tt.want || (err != nil) != tt.err {
			t.Errorf("%v: %v, %v", tt.shares, got, err)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SliceOfN(rapid.Float64Range(0.001, 1e6), 1, 9).Draw(t, "shares")
		if j, err := Jain(x); err != nil || j < 1/float64(len(x))-1e-9 || j > 1+1e-9 {
			t.Fatal(j, err)
		}
	})
}

func TestSaveAndLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.json")
	r := run("a", "b")
	half := 0.5
	r.Busy = &half
	if err := r.Save(path); err != nil {
		t.Fatal(err)
	}
	got, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r, got); diff != "" {
		t.Error(diff)
	}
	for text, want := range map[string]string{"{}": "no models", "[]": "cannot unmarshal", "": "unexpected end"} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
