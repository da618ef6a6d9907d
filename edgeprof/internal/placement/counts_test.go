package placement

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/foretime/foretime/edgeprof/internal/onnx"
	"github.com/foretime/foretime/edgeprof/internal/profiler"
	"github.com/foretime/foretime/shared/stats"
	"github.com/foretime/foretime/shared/uncertainty"
	"github.com/foretime/foretime/shared/uncertainty/coveragetest"
)

// asked and answered are the example of the original's manual, byte for byte.
var (
	//go:embed testdata/manual-request.json
	asked string
	//go:embed testdata/manual-answer.json
	answered string
)

func TestTheManualsExample(t *testing.T) {
	r, problems, err := ParseRequest([]byte(asked))
	if err != nil || problems != nil {
		t.Fatal(problems, err)
	}
	want := Counts{66666666, 77777777, 34535353535, 66, 10000000000000000000, 345343543, 123421435}
	if r.Counts != want {
		t.Errorf("counts %+v", r.Counts)
	}
	got, err := AppendAnswer(nil, r, Answer{"rpi-1", "Computer", "Raspberry Pi 4B", "4e849968-21fc-11ed-a346-204ef6b52cc7", 14.74413776397705}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(answered, string(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	got, err = AppendAnswer(nil, r, Answer{}, []Extra{{"profiling_candidates", []int{}}, {"profiling_excluded", map[string]any{"b": 1, "a": "<é>"}}, {"profiling_warnings", nil}})
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{
		"},\n  \"profiling_candidates\": [],\n  \"profiling_excluded\": {\n    \"a\": \"<\\u00e9>\",\n    \"b\": 1\n  },\n  \"profiling_prediction\": {",
		"\"predicted_execution_time\": 0.0\n  },\n  \"profiling_warnings\": null,\n  \"status\"",
	} {
		if !strings.Contains(string(got), part) {
			t.Errorf("no %q in\n%s", part, got)
		}
	}
	if _, err := AppendAnswer(nil, r, Answer{}, []Extra{{"profiling_candidates", math.NaN()}}); err == nil {
		t.Error("an extra that is no JSON was written")
	}
}

// one replaces a line of the example.
func one(name, value string) string {
	var lines []string
	for line := range strings.Lines(asked) {
		if strings.Contains(line, `"`+name+`"`) {
			line = `"` + name + `": ` + value + ",\n"
			if value == "" {
				line = ""
			}
			if name == "model" { // stands behind the brace
				line = "{" + line
			}
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "")
}

func TestNumbers(t *testing.T) {
	for value, want := range map[string]string{ // "" is accepted
		"0": "", "18446744073709551615": "", "1e19": "", "1E+19": "", "5.0": "", "50e-1": "", "0.5e1": "", "-0": "", "0e999999999999999999999": "", "1.8446744073709551615e19": "",
		"18446744073709551616": "is above 18446744073709551615", "1e400": "is above 18446744073709551615", "1e99999999999999999999": "is above 18446744073709551615",
		"-1": "is negative", "-1e-3": "is negative", "1.5": "is not a whole number", "1e-400": "is not a whole number", "1e-99999999999999999999": "is not a whole number",
		`"5"`: "is a string, want a number", "null": "is null, want a number", "true": "is a boolean, want a number",
		"[]": "is an array, want a number", "{}": "is an object, want a number", "": "is missing",
	} {
		for _, name := range RequestFields[:len(RequestFields)-1] { // the last line has no comma after it
			r, problems, err := ParseRequest([]byte(one(name, value)))
			switch {
			case err != nil:
				t.Errorf("%s: %s: %v", name, value, err)
			case want == "" && problems != nil:
				t.Errorf("%s: %s: %v", name, value, problems)
			case want != "" && (len(problems) != 1 || problems[0] != Problem{"/" + name, want}):
				t.Errorf("%s: %s: %v, want %q", name, value, problems, want)
			case want == "":
				text, err := AppendAnswer(nil, r, Answer{}, nil)
				if err != nil || !strings.Contains(strings.ReplaceAll(string(text), ",\n", "\n"), `"`+name+`": `+value+"\n") {
					t.Errorf("%s: not echoed as %s: %v\n%s", name, value, err, text)
				}
			}
		}
	}
	r, _, err := ParseRequest([]byte(one("conv_layers", "1.8446744073709551615e19")))
	if err != nil || r.ConvLayers != math.MaxUint64 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestBodies(t *testing.T) {
	for body, want := range map[string]any{
		"":                                       ErrSyntax,
		"{":                                      ErrSyntax,
		`{"a":1}{}`:                              ErrSyntax,
		"{\"model\":\"\xff\"}":                   ErrSyntax,
		strings.Repeat("[", 20000):               ErrSyntax,
		"[]":                                     Problem{"", "want an object"},
		" 7 ":                                    Problem{"", "want an object"},
		"null":                                   Problem{"", "want an object"},
		one("model", "7"):                        Problem{"/model", "is a number, want a string"},
		one("model", ""):                         Problem{"/model", "is missing"},
		one("model", `"a", "model": "b"`):        Problem{"/model", "is given twice"},
		one("model", `"a", "a/~b": 1, "a/~b":1`): Problem{"/a~1~0b", "is given twice"},
		one("model", `"a", "conv_layers": 1`):    Problem{"/conv_layers", "is given twice"},
	} {
		_, problems, err := ParseRequest([]byte(body))
		switch want := want.(type) {
		case error:
			if !errors.Is(err, want) {
				t.Errorf("%.60q: %v, %v", body, problems, err)
			}
		case Problem:
			if err != nil || len(problems) != 1 || problems[0] != want {
				t.Errorf("%.60q: %v, %v, want %v", body, problems, err, want)
			}
		}
	}
	if _, problems, err := ParseRequest([]byte("{}")); err != nil || len(problems) != 8 {
		t.Errorf("{}: %v, %v", problems, err)
	}
}

func TestFloats(t *testing.T) {
	// python3 -c 'print([repr(v) for v in (...)])', Python 3.11
	for v, want := range map[float64]string{
		0: "0.0", 1: "1.0", 14.74413776397705: "14.74413776397705", 0.0001: "0.0001", 0.00001: "1e-05", 1.5e-7: "1.5e-07",
		123456789: "123456789.0", 1e15: "1000000000000000.0", 1e16: "1e+16", 1.25e22: "1.25e+22", 1e300: "1e+300",
	} {
		if got := string(appendFloat(nil, v)); got != want {
			t.Errorf("%v: %s, want %s", v, got, want)
		}
	}
}

// echoes draws an object of what a request may carry beside its fields.
func echoes(t *rapid.T) map[string]any {
	var value func(depth int) *rapid.Generator[any]
	value = func(depth int) *rapid.Generator[any] {
		simple := rapid.OneOf(rapid.Just[any](nil), rapid.Bool().AsAny(), rapid.Int64().AsAny(), rapid.String().AsAny())
		if depth == 0 {
			return simple
		}
		return rapid.OneOf(simple, rapid.SliceOfN(value(depth-1), 0, 3).AsAny(), rapid.MapOfN(rapid.String(), value(depth-1), 0, 3).AsAny())
	}
	return rapid.MapOfN(rapid.String(), value(3), 0, 5).Draw(t, "echoes")
}

// What is written is the same JSON, and indenting it again changes nothing.
func TestIndentKeepsTheValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := echoes(t)
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		out := indent(nil, raw, 0)
		var back, want any
		if err := json.Unmarshal(out, &back); err != nil {
			t.Fatalf("%v in %s", err, out)
		}
		if err := json.Unmarshal(raw, &want); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, back); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
		if again := indent(nil, out, 0); string(again) != string(out) {
			t.Fatalf("%s became %s", out, again)
		}
	})
}

// Python's own json writes the same bytes.
func TestRealPython(t *testing.T) {
	if _, err := exec.LookPath("/usr/bin/python3"); err != nil {
		t.Skip("needs Python: install with apt-get install python3")
	}
	values := rapid.Custom(echoes)
	var raws []string
	for seed := range 200 {
		raw, err := json.Marshal(values.Example(seed))
		if err != nil {
			t.Fatal(err)
		}
		raws = append(raws, string(raw))
	}
	raws = append(raws, `{"lone \ud800 half":"\udc00", "":"\/\u0041\b\f\u007f\u0080\ud83d\ude00"}`, `[ ]`, "[\t{ } ,[1, 2]]")
	path := filepath.Join(t.TempDir(), "lines")
	if err := os.WriteFile(path, []byte(strings.Join(raws, "\n")), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("/usr/bin/python3", "-c", `
import json, sys
for line in open(sys.argv[1], encoding="utf-8", newline="\n"):
    print(json.dumps(json.loads(line), indent=2, sort_keys=True), end="\0")`, path).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for i, want := range strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if got := string(indent(nil, []byte(raws[i])[space([]byte(raws[i]), 0):], 0)); got != want {
			t.Errorf("%s: got %s, want %s", raws[i], got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(asked)
	f.Add(`{"model":"\ud800","x":[{"y":[]}],"conv_layers":1e19}`)
	f.Fuzz(func(t *testing.T, body string) {
		r, problems, err := ParseRequest([]byte(body))
		if err != nil || problems != nil {
			if err != nil && !errors.Is(err, ErrSyntax) {
				t.Fatalf("untyped: %v", err)
			}
			return
		}
		out, err := AppendAnswer(nil, r, Answer{}, nil)
		if err != nil || !json.Valid(out) {
			t.Fatalf("%q became %s, %v", body, out, err)
		}
		// the echo is a request too, and the same one
		var echo struct {
			Request json.RawMessage `json:"model_characteristics"`
		}
		if err := json.Unmarshal(out, &echo); err != nil {
			t.Fatal(err)
		}
		again, problems, err := ParseRequest(echo.Request)
		if err != nil || problems != nil || again.Counts != r.Counts {
			t.Fatalf("%s: %v, %v", echo.Request, problems, err)
		}
	})
}

func calibration() *profiler.Calibration {
	c := &profiler.Calibration{
		Facts: profiler.Facts{UUID: "here", Runtime: "go", Threads: 1, Cores: 4}, Models: 20, Low: 0.5, High: 2, Shortest: 1e-6, Longest: 10,
		Rates: map[onnx.Class]profiler.Rates{},
	}
	for _, class := range []onnx.Class{onnx.ClassConv, onnx.ClassDepthwise, onnx.ClassDense, onnx.ClassRecurrent, onnx.ClassPool, onnx.ClassFunction, onnx.ClassOther} {
		c.Rates[class] = profiler.Rates{Start: 1e-6, MAC: 1e-10, Byte: 1e-10, Nodes: 10}
	}
	return c
}

func TestLaw(t *testing.T) {
	law, err := FitLaw(t.Context(), calibration())
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", law)
	// a network of matrices runs its weights once or once for each step: counts do
	// not tell, so that law may be far off
	for limit, p := range map[float64]Powers{4: law.Convolutional, 100: law.Other} {
		if !(p.Error > 1 && p.Error < limit) || !(p.Low < 1 && p.High > 1) || p.Filters < 0 || p.Parameters < 0 || p.Input < 0 || p.Filters+p.Parameters+p.Input == 0 {
			t.Errorf("%+v", p)
		}
	}
	if law.Models != 77+len(shipped()) {
		t.Errorf("fitted to %d models", law.Models)
	}
	if got := strings.Join(law.Unlike(Counts{ConvLayers: 66666666, TotalParameters: 1e19, FilterDetails: 66}), " "); got != "conv_layers total_parameters" {
		t.Errorf("unlike what was fitted: %s", got)
	}
	if got := law.Unlike(Counts{ConvLayers: 53, PoolLayers: 1, FCLayers: 1, FilterDetails: 26560, TotalParameters: 25557032, ModelInputSize: 602112, ModelOutputSize: 4000}); got != nil { // ResNet-50
		t.Errorf("a common model is unlike: %v", got)
	}
	// finite for every count, and never less for more
	rapid.Check(t, func(t *rapid.T) {
		var small, large Counts
		for i := range RequestFields {
			*small.field(i) = rapid.Uint64().Draw(t, "small")
			*large.field(i) = rapid.Uint64Min(*small.field(i)).Draw(t, "large")
		}
		if small.ConvLayers == 0 {
			large.ConvLayers = 0 // another law begins with the first convolution
		}
		p, q := law.Predict(small), law.Predict(large)
		if !(p.Value > 0) || p.Bounded() != (law.Outside(small) == nil) || q.Bounded() != (law.Outside(large) == nil) || q.Value > 86400 || p.Value > q.Value || !p.Contains(p.Value) {
			t.Fatalf("%+v for %+v, %+v for %+v", p, small, q, large)
		}
	})
}

// powersCases are models whose time follows a law, but for noise.
func powersCases(seed uint64) []uncertainty.Case {
	rng := rand.New(rand.NewPCG(seed, 6))
	draw := func(i int) sample {
		c := Counts{ConvLayers: 1, FilterDetails: 1 + rng.Uint64N(1e4), TotalParameters: 1 + rng.Uint64N(1e7), ModelInputSize: 1 + rng.Uint64N(1e6)}
		x := row(c)
		return sample{fmt.Sprint(i / 9), c, 0.4*x[0] + 0.3*x[1] + 0.2*x[2] - 9 + 0.5*rng.NormFloat64(), false}
	}
	samples := make([]sample, 99)
	for i := range samples {
		samples[i] = draw(i)
	}
	p, err := fit(context.Background(), samples, func(Counts) bool { return true }, &profiler.Calibration{Low: 1, High: 1})
	if err != nil {
		panic(err)
	}
	law := Law{Convolutional: p, Most: Counts{ConvLayers: 1, FilterDetails: 1e4, TotalParameters: 1e7, ModelInputSize: 1e6}}
	cases := make([]uncertainty.Case, 100)
	for i := range cases {
		s := draw(i)
		cases[i] = uncertainty.Case{Prediction: law.Predict(s.counts), Actual: math.Exp(s.log)}
	}
	return cases
}

// TestCoverage: the law's interval holds what it promises where nothing but
// noise parts the models from the law.
func TestCoverage(t *testing.T) { coverage(t, coveragetest.CheckFew) }

// TestStatisticsCoverage asks for as many cases as the promise needs.
func TestStatisticsCoverage(t *testing.T) { coverage(t, coveragetest.Check) }

func coverage(t *testing.T, check func(*testing.T, []coveragetest.Predictor)) {
	check(t, []coveragetest.Predictor{{Name: "law of counts", Level: profiler.Level, Run: powersCases, Above: 0.02}})
}

// Models that people ship are held by the interval of a law that they had no part
// in, nor the others of their package, but for onnx's, which are networks by
// different people.
func TestShipped(t *testing.T) {
	c := calibration()
	c.Low, c.High = 0.8, 1.3 // as `calibrate` has it of one machine
	samples, err := samplesOf(c)
	if err != nil {
		t.Fatal(err)
	}
	held, n := 0, 0
	var off, width []float64
	for _, m := range shipped() {
		law, err := lawOf(t.Context(), slices.DeleteFunc(slices.Clone(samples), func(s sample) bool {
			return s.real && (s.counts == m.Counts || s.family == m.Family && !strings.HasPrefix(m.Model, "onnx"))
		}), c)
		if err != nil {
			t.Fatal(err)
		}
		p, actual := law.Predict(m.Counts), c.Predict(m.analysis(), calibrated(c)).Idle
		n++
		if p.Bounded() && p.Contains(actual) {
			held++
		}
		off, width = append(off, math.Abs(math.Log(p.Value/actual))), append(width, p.High/p.Low)
		t.Logf("%-60s %9.3f ms, predicted %9.3f (%.3f to %.3f)", m.Model, 1000*actual, 1000*p.Value, 1000*p.Low, 1000*p.High)
	}
	t.Logf("%d of %d held, median factor %.2f, high over low %.1f", held, n, math.Exp(stats.Median(off)), stats.Median(width))
	if float64(held) < 0.85*float64(n) {
		t.Errorf("%d of %d held", held, n)
	}
}
