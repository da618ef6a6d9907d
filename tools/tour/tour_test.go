package tour

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/foretime/foretime/shared/uncertainty"
)

func TestNumber(t *testing.T) {
	for _, tt := range []struct {
		v    float64
		want string
	}{
		{0, "0"}, {3, "3"}, {-2, "-2"}, {123456, "123456"}, {1234.5, "1234"}, {123.45, "123"}, {12.345, "12.3"},
		{1.2345, "1.23"}, {0.12345, "0.123"}, {0.00123456, "0.00123"}, {0.000012345, "1.23e-05"}, {-0.5, "-0.500"},
	} {
		if got := Number(tt.v); got != tt.want {
			t.Errorf("Number(%v) = %q, want %q", tt.v, got, tt.want)
		}
	}
}

func TestSaveAndWrite(t *testing.T) {
	r := &Results{Commit: "abc", Machine: Machine{CPU: "Z80", Cores: 1, Go: "go1"}, Seconds: 2, Chapters: []Chapter{{
		Module: "m", Commands: []string{"m x"},
		Story: []Line{
			{What: "how long?", Predicted: &uncertainty.Prediction{Value: 2, Low: 1, High: 4, Level: 0.9}, Measured: 3, Unit: "s"},
			{What: "and that?", Predicted: &uncertainty.Prediction{Value: 2, Low: 1, High: 2, Level: 0.9}, Measured: 30, Unit: "s"},
			{What: "and each?", Predicted: &uncertainty.Prediction{Value: 2, Low: 1, High: 3, Level: 0.9}, Measured: 2, Unit: "s", Held: 7, Of: 10},
			{What: "and then?", Measured: 7, Unit: "s"},
			{What: "<b>?", Predicted: &uncertainty.Prediction{Value: 2, Low: 1, High: 3, Level: 0.9}, Unit: "s", Unmeasured: "not measured: none is here"},
		},
		Plots: []Plot{{"m/p.svg", "what is seen"}},
	}}, Record: Record{Outcomes: 12, Held: 11}}
	dir := t.TempDir()
	if err := r.Save(dir); err != nil {
		t.Fatal(err)
	}
	back, err := Load(filepath.Join(dir, "results.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		write func(io.Writer) error
		want  string
	}{
		{back.WriteStory, `tool  what             predicted  measured  in interval
----  ---------  ---------------  --------  -----------
m     how long?  2 s [1, 4] 90 %       3 s  yes
      and that?  2 s [1, 2] 90 %      30 s  no
      and each?  2 s [1, 3] 90 %       2 s  7 of 10
      and then?                        7 s
      <b>?       2 s [1, 3] 90 %

1 of 2 measurements lay inside their intervals, and 70 % of 10 tasks and jobs; median width 100 %
m: not measured: none is here
record: 11 of 12 answers in tours here were inside their interval
2 s on 1 x Z80, go1, commit abc, load 0.0
`},
	} {
		var b bytes.Buffer
		if err := c.write(&b); err != nil {
			t.Fatal(err)
		}
		if b.String() != c.want {
			t.Errorf("table:\n%s\nwant:\n%s", b.String(), c.want)
		}
	}
	html, err := os.ReadFile(filepath.Join(dir, "index.html"))
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"&lt;b&gt;?", "none is here", `src="m/p.svg"`, "what is seen", "1 of 2 measurements"} {
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
