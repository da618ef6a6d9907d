package report

import (
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

func TestCompareWith(t *testing.T) {
	shared, alone := run("a", "b", "c"), run("a", "b", "d")
	shared.Models[1].JCT.Mean = 30 // 20 alone
	shared.CompareWith(alone)
	if m := shared.Models; *m[0].Inflation != 0 || *m[1].Inflation != 0.5 || m[2].Inflation != nil {
		t.Errorf("%+v", m)
	}
	alone.Models[0].JCT.Mean = 0
	more := run("a", "b", "d", "e")
	more.CompareWith(alone)
	if m := more.Models; m[0].Inflation != nil || m[2].Inflation == nil || m[3].Inflation != nil {
		t.Errorf("%+v", m)
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
