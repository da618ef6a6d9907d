package tour

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestNumber(t *testing.T) {
	for _, tt := range []struct {
		v    float64
		want string
	}{
		{0, "0"}, {3, "3"}, {-2, "-2"}, {123456, "123456"}, {1234.5, "1234"}, {123.45, "123"}, {12.345, "12.3"},
		{1.2345, "1.23"}, {0.12345, "0.123"}, {0.00123456, "0.00123"}, {0.000012345, "1.23e-05"}, {-0.5, "-0.500"},
	} {
		if got := number(tt.v); got != tt.want {
			t.Errorf("number(%v) = %q, want %q", tt.v, got, tt.want)
		}
	}
}

func TestSaveAndTable(t *testing.T) {
	r := &Results{Commit: "abc", Machine: Machine{CPU: "Z80", Cores: 1, Go: "go1"}, Seconds: 2, Chapters: []Chapter{{
		Module: "m", Title: "T <b>", Commands: []string{"m x"},
		Measures: []Measure{{"a", 1.5, "s", "n"}, {"b", 2, "%", ""}}, Plots: []string{"m/p.svg"},
	}}}
	dir := t.TempDir()
	if err := r.Save(dir); err != nil {
		t.Fatal(err)
	}
	back, err := Load(filepath.Join(dir, "results.json"))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := back.WriteTable(&b); err != nil {
		t.Fatal(err)
	}
	want := `tool  measured  value  unit  note
----  --------  -----  ----  ----
m     a          1.50  s     n
      b             2  %

2 s on 1 x Z80, go1, commit abc, load 0.0
`
	if b.String() != want {
		t.Errorf("table:\n%s\nwant:\n%s", b.String(), want)
	}
	html, err := os.ReadFile(filepath.Join(dir, "index.html"))
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"T &lt;b&gt;", `src="m/p.svg"`, "$ m x"} {
		if !strings.Contains(string(html), part) {
			t.Errorf("index.html lacks %q", part)
		}
	}
}

func TestPick(t *testing.T) {
	if _, err := pick([]string{"nonesuch"}); err == nil {
		t.Error("an unknown module is accepted")
	}
	all, err := pick(nil)
	if err != nil || len(all) != len(chapters()) {
		t.Errorf("pick(nil) = %d chapters, %v", len(all), err)
	}
}
