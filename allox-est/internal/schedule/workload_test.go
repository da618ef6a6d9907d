package schedule

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/foretime/foretime/shared/dataset"
)

// A row that is none is told by its line, and reading goes on.
func TestReadBadRows(t *testing.T) {
	const head, good = "job,user,arrival,cpu,gpu,gpu_actual\n", "good,u,1,5,2,3\n"
	for row, want := range map[string]string{
		"a,u,ARRIVAL,5,2,3\n": `column "arrival": "ARRIVAL" is not a finite number`,
		"a,u,-3,5,2,3\n":      "job 1: invalid arrival time",
		"a,u,0,,,\n":          "job 1: can run on no device",
		"a,u,0,0,2,3\n":       "job 1: time is not above zero",
		"a,u,0,nan,2,3\n":     `column "cpu": "nan" is not a finite number`,
		"a,u,0,5,2,-1\n":      "job 1: time is not above zero",
		"a,u,0,5\n":           "4 fields, want 6",
		"\"a\"b,u,0,5,2,3\n":  "text after a closing quote",
	} {
		w, err := Load(strings.NewReader(head+row+good), "in")
		if err != nil || len(w.Diagnostics) != 1 || w.Diagnostics[0].Error() != "in:2: "+want {
			t.Errorf("%q: %v, %v", row, err, w.Diagnostics)
		}
		if len(w.Jobs) != 1 || w.Jobs[0].Actual[GPU] != 3 || w.Jobs[0].Reported[GPU] != 2 || w.Counts != (dataset.Counts{Read: 2, Used: 1, Dropped: 1}) {
			t.Errorf("%q: the good row was not read: %+v", row, w)
		}
	}
	for _, text := range []string{"", "job,cpu,tpu\n", "job,cpu,cpu\n"} {
		if _, err := Load(strings.NewReader(text), "in"); err == nil {
			t.Errorf("%q was read", text)
		}
	}
}

func TestReadReport(t *testing.T) {
	text := `{"job":"lenet","devices":{"cpu":{"wall_seconds":{"value":110,"low":1,"high":2},"actual":[{"wall_seconds":90,"cpu_seconds":1},{"wall_seconds":110}]},"gpu":{"error":"no device"}}}
{"job":"googlenet","user":"ann","arrival_seconds":5,"devices":{"cpu":{"wall_seconds":{"value":20}},"gpu":{"wall_seconds":{"value":4}}}}`
	array := "[" + strings.Replace(text, "}\n{", "},{", 1) + "]"
	for _, in := range []string{text, array} {
		w, err := readReports(strings.NewReader(in), "in")
		if err != nil || len(w.Jobs) != 2 || len(w.Diagnostics) > 0 {
			t.Fatal(err, w)
		}
		a, b := w.Jobs[0], w.Jobs[1]
		if a.Name != "lenet" || a.User != "" || a.Actual[CPU] != 100 || math.Abs(a.Reported[CPU]-110) > 1e-9 || !math.IsInf(a.Actual[GPU], 1) {
			t.Errorf("%+v", a)
		}
		if b.User != "ann" || b.Arrival != 5 || b.Reported[CPU] != 20 || b.Actual[GPU] != 4 {
			t.Errorf("%+v", b)
		}
		if len(w.Warnings) != 1 || !errors.Is(w.Warnings[0], ErrUnproven) || !strings.HasPrefix(w.Warnings[0].Error(), "in:2: ") {
			t.Errorf("warnings %v", w.Warnings)
		}
	}
	w, err := readReports(strings.NewReader(`{} 5 {"devices":{"cpu":{"error":"x"}}} {"devices":{"cpu":{"wall_seconds":{"value":0}}}}`), "in")
	if err != nil || w.Counts != (dataset.Counts{Read: 4, Dropped: 4}) {
		t.Errorf("%v %v", err, w)
	}
	for _, text := range []string{"{", "[{]", "# 1\n"} {
		if _, err := readReports(strings.NewReader(text), "in"); err == nil {
			t.Errorf("%q was read", text)
		}
	}
}
