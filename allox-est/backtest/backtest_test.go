package backtest

import (
	"compress/gzip"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestLoad(t *testing.T) {
	const text = "step,worker,seconds\n0,a,1.5\n0,b,2\n1,a,x\n1,b\n2,a,-1\n2,\"a,3\n"
	path := filepath.Join(t.TempDir(), "steps.csv")
	zipped := path + ".gz"
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(zipped)
	if err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(f)
	if _, err := io.WriteString(z, text); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(z.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{path, zipped} {
		all, diagnostics, err := Load(path, "worker", "seconds")
		if err != nil {
			t.Fatal(err)
		}
		if len(all) != 2 || all[0].Name != "a" || len(all[0].Values) != 1 || all[1].Values[0] != 2 {
			t.Errorf("%s: %v", path, all)
		}
		var lines []string
		for _, d := range diagnostics {
			lines = append(lines, strings.TrimPrefix(d.Error(), path))
		}
		want := []string{`:4: "x" is no time`, ":5: 2 fields, want 3", `:6: "-1" is no time`, ":7: extraneous or missing \" in quoted-field"}
		if strings.Join(lines, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s: %q", path, lines)
		}
	}
	for header, column := range map[string]string{"a,b\n": "seconds", "worker,seconds,seconds\n": "seconds"} {
		if _, _, err := read(strings.NewReader(header), "x.csv", "worker", column); !errors.Is(err, ErrColumn) {
			t.Errorf("%q: %v", header, err)
		}
	}
}

func TestRunRefuses(t *testing.T) {
	if _, err := Run([]Series{{"a", []float64{1, 2}}, {"b", make([]float64, 100)}}, 0.03, Itself); !errors.Is(err, ErrTooFew) {
		t.Error(err)
	}
	for _, fraction := range []float64{0, 1, -1} {
		if _, err := Run([]Series{{"a", []float64{1, 2, 3, 4, 5}}}, fraction, Itself); err == nil {
			t.Errorf("fraction %v", fraction)
		}
	}
}

// The mean's interval keeps its promise where its assumption holds, and the
// error is in percent of the sum.
func TestRunOnIndependentSteps(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var all []Series
	for i := range 400 {
		s := Series{Name: string(rune('a' + i))}
		for range 300 {
			s.Values = append(s.Values, 10+rng.NormFloat64())
		}
		all = append(all, s)
	}
	r, err := Run(all, 0.1, Itself)
	if err != nil {
		t.Fatal(err)
	}
	m := r.Methods["mean"]
	if m.Coverage < 0.92 || m.Coverage > 0.98 || m.MAPE < 1 || m.MAPE > 2 || m.Flagged != 0 {
		t.Errorf("%+v", m)
	}
	if a := r.Methods["auto"]; a.Coverage < 0.95 {
		t.Errorf("auto: %+v", a)
	}
}

// On measured series: training workers on a shared cluster, and one benchmark
// repeated for months. Auto holds nine in ten, flags a quarter at most, and its
// interval score is the lowest.
func TestMeasuredSeries(t *testing.T) {
	data := os.Getenv("FORETIME_DATA")
	if data == "" {
		t.Skip("needs the data that FORETIME_DATA names")
	}
	job := regexp.MustCompile("^job_[0-9]+")
	for _, set := range []struct {
		path, value string
		block       func(string) string
	}{
		{"steps-pai/minibatch.csv", "batch_time_norm", job.FindString},
		{"steps-azure/values.csv.gz", "value", Itself},
	} {
		all, diagnostics, err := Load(filepath.Join(data, filepath.FromSlash(set.path)), "series", set.value)
		if err != nil || len(diagnostics) > 0 {
			t.Fatal(err, diagnostics)
		}
		r, err := Run(all, 0.03, set.block)
		if err != nil {
			t.Fatal(err)
		}
		auto := r.Methods["auto"]
		t.Logf("%s: %d series: %+v", set.path, r.Series, auto)
		if auto.Coverage < 0.9 || auto.Flagged > 0.25 {
			t.Errorf("%s: %+v", set.path, auto)
		}
		for name, m := range r.Methods {
			if name != "auto" && m.IntervalScore <= auto.IntervalScore {
				t.Errorf("%s: %s has an interval score of %v, auto %v", set.path, name, m.IntervalScore, auto.IntervalScore)
			}
		}
	}
}
