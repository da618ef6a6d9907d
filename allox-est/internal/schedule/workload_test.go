package schedule

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/foretime/foretime/shared/dataset"
)

// A row that is none is told by its line, and reading goes on.
func TestReadBadRows(t *testing.T) {
	const head, good = "job,user,arrival,cpu,gpu,gpu_actual\n", "good,u,1,5,2,3\n"
	for row, want := range map[string]string{
		"a,u,ARRIVAL,5,2,3\n": `column arrival: "ARRIVAL" is not a number`,
		"a,u,-3,5,2,3\n":      "job 1: invalid arrival time",
		"a,u,0,,,\n":          "job 1: can run on no device",
		"a,u,0,0,2,3\n":       "job 1: time is not above zero",
		"a,u,0,nan,2,3\n":     "job 1: time is not above zero",
		"a,u,0,5,2,-1\n":      "job 1: time is not above zero",
		"a,u,0,5\n":           "wrong number of fields",
		"\"a\"b,u,0,5,2,3\n":  "extraneous or missing \" in quoted-field",
	} {
		w, err := From(strings.NewReader(head+row+good), "in")
		if err != nil || len(w.Diagnostics) != 1 || w.Diagnostics[0].Error() != "in:2: "+want {
			t.Errorf("%q: %v, %v", row, err, w.Diagnostics)
		}
		if len(w.Jobs) != 1 || w.Jobs[0].Seconds(GPU) != 3 || w.Jobs[0].Reported(GPU) != 2 || w.Counts != (dataset.Counts{Read: 2, Used: 1, Dropped: 1}) {
			t.Errorf("%q: the good row was not read: %+v", row, w)
		}
	}
	for _, text := range []string{"", "job,cpu,tpu\n", "job,cpu,cpu\n"} {
		if _, err := From(strings.NewReader(text), "in"); err == nil {
			t.Errorf("%q was read", text)
		}
	}
}

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		jobs := drawJobs(t, 5)
		var b bytes.Buffer
		if err := WriteTable(&b, jobs); err != nil {
			t.Fatal(err)
		}
		got, err := From(&b, "in")
		if err != nil || len(got.Diagnostics) > 0 || len(got.Jobs) != len(jobs) {
			t.Fatal(err, got.Diagnostics)
		}
		for i := range jobs {
			a, b := &jobs[i], &got.Jobs[i]
			for d := range Other {
				if x, y := a.Reported(d), b.Reported(d); a.Seconds(d) != b.Seconds(d) || x != y && !(math.Abs(x/y-1) < 1e-12) {
					t.Fatalf("%+v, was %+v", b, a)
				}
			}
			if a.User != b.User || a.Arrival != b.Arrival {
				t.Fatalf("%+v, was %+v", b, a)
			}
		}
	})
}

func TestReadReport(t *testing.T) {
	text := `{"job":"lenet","devices":{"cpu":{"wall_seconds":{"value":110,"low":1,"high":2},"actual":[{"wall_seconds":90,"cpu_seconds":1},{"wall_seconds":110}]},"gpu":{"error":"no device"}}}
{"job":"googlenet","user":"ann","arrival_seconds":5,"devices":{"cpu":{"wall_seconds":{"value":20}},"gpu":{"wall_seconds":{"value":4}}}}`
	array := "[" + strings.Replace(text, "}\n{", "},{", 1) + "]"
	for _, in := range []string{text, array} {
		w, err := ReadReport(strings.NewReader(in), "in")
		if err != nil || len(w.Jobs) != 2 || len(w.Diagnostics) > 0 {
			t.Fatal(err, w)
		}
		a, b := w.Jobs[0], w.Jobs[1]
		if a.Name != "lenet" || a.User != "default" || a.Seconds(CPU) != 100 || math.Abs(a.Reported(CPU)-110) > 1e-9 || !math.IsInf(a.Seconds(GPU), 1) {
			t.Errorf("%+v", a)
		}
		if b.User != "ann" || b.Arrival != 5 || b.Reported(CPU) != 20 || b.Seconds(GPU) != 4 {
			t.Errorf("%+v", b)
		}
		if len(w.Warnings) != 1 || !errors.Is(w.Warnings[0], ErrUnproven) {
			t.Errorf("warnings %v", w.Warnings)
		}
	}
	w, err := ReadReport(strings.NewReader(`{} 5 {"devices":{"cpu":{"error":"x"}}} {"devices":{"cpu":{"wall_seconds":{"value":0}}}}`), "in")
	if err != nil || w.Counts != (dataset.Counts{Read: 4, Dropped: 4}) {
		t.Errorf("%v %v", err, w)
	}
	for _, text := range []string{"{", "[{]", "# 1\n"} {
		if _, err := ReadReport(strings.NewReader(text), "in"); err == nil {
			t.Errorf("%q was read", text)
		}
	}
}

// The figures are those of the simulator's generator: 10 x 1000 jobs, 5 at a
// time, 2000 gaps from 5 to 29 with mean 15.03; its 3 classes are drawn alike.
func TestGenerate(t *testing.T) {
	w, err := Generator{Seed: 1, ErrorSD: 0.1}.Generate()
	if err != nil {
		t.Fatal(err)
	}
	users, classes := map[string]int{}, map[float64]int{}
	var gaps, errs, squares float64
	for i, j := range w.Jobs {
		if err := j.Check(); err != nil {
			t.Fatal(err)
		}
		users[j.User]++
		classes[j.Seconds(GPU)]++
		if j.Seconds(CPU) != 2*j.Seconds(GPU) {
			t.Fatalf("job %d is not twice as fast on a GPU", j.ID)
		}
		e := j.On[CPU].Error
		errs += e
		squares += e * e
		if i == 0 {
			continue
		}
		gap := j.Arrival - w.Jobs[i-1].Arrival
		if (i%5 == 0) != (gap != 0) || gap != 0 && (gap < 5 || gap > 29 || gap != math.Trunc(gap)) {
			t.Fatalf("job %d comes %v s after the one before", i, gap)
		}
		gaps += gap
	}
	n := float64(len(w.Jobs))
	if len(w.Jobs) != 10_000 || len(users) != 10 || users["queue0"] != 1000 || len(classes) != 3 {
		t.Errorf("%d jobs, users %v, classes %v", len(w.Jobs), users, classes)
	}
	if got := gaps / 1999; math.Abs(got-15.03) > 0.35 { // 4 standard errors of sqrt(15.03/1999)
		t.Errorf("mean gap %v", got)
	}
	m := errs / n
	if sd := math.Sqrt(squares/n - m*m); math.Abs(m) > 0.004 || math.Abs(sd-0.1) > 0.003 { // 4 standard errors
		t.Errorf("error mean %v, sd %v", m, sd)
	}
	again, _ := Generator{Seed: 1, ErrorSD: 0.1}.Generate()
	if !cmp.Equal(w.Jobs, again.Jobs) {
		t.Error("the same seed gave other jobs")
	}
	other, _ := Generator{Seed: 1, ErrorSD: 0.3, Spread: 0.5, Users: 2, Jobs: 10}.Generate()
	if len(other.Jobs) != 20 || other.Jobs[3].Seconds(CPU) == 2*other.Jobs[3].Seconds(GPU) {
		t.Errorf("%+v", other.Jobs)
	}
	for _, g := range []Generator{{Users: -1}, {Jobs: 2e9}, {ErrorSD: math.NaN()}, {Spread: math.Inf(1)}} {
		if _, err := g.Generate(); err == nil {
			t.Errorf("%+v was generated", g)
		}
	}
}
