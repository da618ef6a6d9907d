package report

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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

func TestSaveAndLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.json")
	r := run("a", "b")
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
