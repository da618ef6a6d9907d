package placement

import (
	"bytes"
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

	"github.com/foretime/foretime/edgeprof/internal/device"
	"github.com/foretime/foretime/edgeprof/internal/onnx"
	"github.com/foretime/foretime/edgeprof/internal/profiler"
	"github.com/foretime/foretime/shared/stats"
	"github.com/foretime/foretime/shared/testkit/coveragetest"
	"github.com/foretime/foretime/shared/uncertainty"
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
	fastest := Candidate{Node: "rpi-1", Class: "Computer", Model: "Raspberry Pi 4B", UUID: "4e849968-21fc-11ed-a346-204ef6b52cc7", Seconds: uncertainty.Point(14.74413776397705)}
	if diff := cmp.Diff(answered, written(t, r.Answer(fastest))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	a := r.Answer(fastest)
	a.Candidates, a.Excluded, a.Warnings = []Candidate{}, []device.Exclusion{{Node: "<é>"}}, []string{"<é>", "2\""}
	for _, part := range []string{
		"},\n  \"profiling_candidates\": [],\n  \"profiling_excluded\": [\n    {\n      \"node\": \"<é>\",", "\n  },\n  \"profiling_warnings\": [\n    \"<é>\",\n    \"2\\\"\"\n  ],\n  \"status\"",
	} {
		if got := written(t, a); !strings.Contains(got, part) {
			t.Errorf("no %q in\n%s", part, got)
		}
	}
	a.Warnings = []string{}
	if got := written(t, a); !strings.Contains(got, "\n  },\n  \"profiling_warnings\": [],\n  \"status\"") {
		t.Errorf("%s", got)
	}
	if err := r.Answer(Candidate{Seconds: uncertainty.Point(math.NaN())}).Write(new(bytes.Buffer)); err == nil {
		t.Error("a time that is no number was written")
	}
}

// Members are sorted by name; within a member keys keep the request's order, and texts
// and numbers their spelling.
func TestFurtherMembers(t *testing.T) {
	body := strings.Replace(asked, "{", `{"z": [ ], "a\"b": {"b": 1e400, "a": [ {}, "\ud800<\/" ]}, "é": 0.50,`, 1)
	r, problems, err := ParseRequest([]byte(body))
	if err != nil || problems != nil {
		t.Fatal(problems, err)
	}
	got := written(t, r.Answer(Candidate{}))
	for _, part := range []string{
		"{\n    \"a\\\"b\": {\n      \"b\": 1e400,\n      \"a\": [\n        {},\n        \"\\ud800<\\/\"\n      ]\n    },\n    \"conv_layers\"",
		"\n    \"z\": [],\n    \"é\": 0.50\n  },\n",
	} {
		if !strings.Contains(got, part) {
			t.Errorf("no %s in\n%s", part, got)
		}
	}
	if !json.Valid([]byte(got)) {
		t.Errorf("not JSON: %s", got)
	}
}

// written is the text of an answer.
func written(t testing.TB, a Answer) string {
	t.Helper()
	var b bytes.Buffer
	if err := a.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
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
		"-1": "is negative", "-1e-3": "is negative", "1.5": "is not a whole number", "1e-400": "is not a whole number", "1e-9999999999": "is not a whole number", "1e9999999999": "is above 18446744073709551615", "1e-99999999999999999999": "is not a whole number",
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
				if text := written(t, r.Answer(Candidate{})); !strings.Contains(strings.ReplaceAll(text, ",\n", "\n"), `"`+name+`": `+value+"\n") {
					t.Errorf("%s: not echoed as %s\n%s", name, value, text)
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

// withEchoes is the example with other members, as a text and as a request.
func withEchoes(t testing.TB, echoes map[string]any) (string, *Request) {
	t.Helper()
	body := map[string]any{}
	if err := json.Unmarshal([]byte(asked), &body); err != nil {
		t.Fatal(err)
	}
	for name, v := range echoes {
		if _, own := body[name]; !own {
			body[name] = v
		}
	}
	body["total_parameters"] = json.Number("1e19")
	raw, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	r, problems, err := ParseRequest(raw)
	if err != nil || problems != nil {
		t.Fatal(problems, err)
	}
	return string(raw), r
}

// Python reads the members of the request in the answer as it reads the request.
func TestRealPython(t *testing.T) {
	if _, err := exec.LookPath("/usr/bin/python3"); err != nil {
		t.Skip("needs Python: install with apt-get install python3")
	}
	values := rapid.Custom(echoes)
	var lines []string
	for seed := range 200 {
		raw, r := withEchoes(t, values.Example(seed))
		lines = append(lines, raw, strings.ReplaceAll(written(t, r.Answer(Candidate{})), "\n", " "))
	}
	body := strings.Replace(asked, "{", `{"lone": "\ud800", "": "\/\u0041\b\f\u007f\u0080\ud83d\ude00", "deep": [{"b": 1e400, "a": [ ]}],`, 1)
	r, problems, err := ParseRequest([]byte(body))
	if err != nil || problems != nil {
		t.Fatal(problems, err)
	}
	lines = append(lines, strings.ReplaceAll(body, "\n", " "), strings.ReplaceAll(written(t, r.Answer(Candidate{})), "\n", " "))
	path := filepath.Join(t.TempDir(), "lines")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("/usr/bin/python3", "-c", `
import json, sys
lines = [json.loads(line, parse_float=str, parse_int=str) for line in open(sys.argv[1], encoding="utf-8", newline="\n")]
for asked, answer in zip(lines[::2], lines[1::2]):
    if answer["model_characteristics"] != asked or answer["profiling_prediction"]["model"] != asked["model"]:
        sys.exit("asked %r, answered %r" % (asked, answer))`, path).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
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
		out := []byte(written(t, r.Answer(Candidate{})))
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
		Facts: profiler.Facts{UUID: "here", Threads: 1, Cores: 4}, Models: 20, Low: 0.5, High: 2, Shortest: 1e-6, Longest: 10,
		Rates: map[onnx.Class]profiler.Rates{},
	}
	for _, class := range onnx.Classes() {
		c.Rates[class] = profiler.Rates{Start: 1e-6, MAC: 1e-10, Byte: 1e-10, Nodes: 10}
	}
	return c
}

func TestLaw(t *testing.T) {
	law, err := FitPowerLaw(t.Context(), calibration())
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", law)
	// a network of matrices runs its weights once or once for each step: counts do
	// not tell, so that law may be far off
	for limit, p := range map[float64]PowerFit{4: law.Convolutional, 100: law.Other} {
		if !(p.Error > 1 && p.Error < limit) || !(p.Low < 1 && p.High > 1) || p.Filters < 0 || p.Parameters < 0 || p.Input < 0 || p.Filters+p.Parameters+p.Input == 0 {
			t.Errorf("%+v", p)
		}
	}
	if got := strings.Join(law.UnfamiliarCounts(Counts{ConvLayers: 66666666, TotalParameters: 1e19, FilterDetails: 66, ModelInputSize: 4000}), " "); got != "conv_layers total_parameters" {
		t.Errorf("unlike what was fitted: %s", got)
	}
	if got := law.UnfamiliarCounts(Counts{ConvLayers: 53, PoolLayers: 1, FCLayers: 1, FilterDetails: 26560, TotalParameters: 25557032, ModelInputSize: 602112, ModelOutputSize: 4000}); got != nil { // ResNet-50
		t.Errorf("a common model is unlike: %v", got)
	}
	resnet := Counts{ConvLayers: 53, PoolLayers: 1, FCLayers: 1, FilterDetails: 26560, TotalParameters: 25557032, ModelInputSize: 602112, ModelOutputSize: 4000}
	for want, empty := range map[string]*uint64{"filter_details (too small)": &resnet.FilterDetails, "total_parameters (too small)": &resnet.TotalParameters, "model_input_size (too small)": &resnet.ModelInputSize} {
		was := *empty
		*empty = 0
		if got := law.UnusableCounts(resnet); !slices.Equal(got, []string{want}) || law.Predict(resnet).IsBounded() {
			t.Errorf("%v: %+v, want %s", got, law.Predict(resnet), want)
		}
		*empty = was
	}
	if law.UnusableCounts(Counts{}) == nil || law.Predict(Counts{}).IsBounded() {
		t.Errorf("no work at all has an interval: %+v", law.Predict(Counts{}))
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
		if !(p.Value > 0) || p.IsBounded() != (law.UnusableCounts(small) == nil) || q.IsBounded() != (law.UnusableCounts(large) == nil) || q.Value > 86400 || p.Value > q.Value || !p.Contains(p.Value) {
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
	law := PowerLaw{Convolutional: p, MaxCounts: Counts{ConvLayers: 1, FilterDetails: 1e4, TotalParameters: 1e7, ModelInputSize: 1e6}}
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
		p, actual := law.Predict(m.Counts), c.Predict(m.analysis(), calibratedDevice(c)).Idle
		n++
		if p.IsBounded() && p.Contains(actual) {
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
