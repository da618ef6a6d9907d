package chart

import (
	"bytes"
	"errors"
	"flag"
	"image/jpeg"
	"image/png"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var (
	update     = flag.Bool("update", false, "rewrite the golden files")
	gallerySet = flag.String("gallery", "", "also keep the PNG of every chart in this directory")
)

// gallery has one small chart of each kind.
func gallery() map[string]Chart {
	rng := rand.New(rand.NewPCG(1, 2))
	var hours, wait, guess, low, high []float64
	for i := range 25 {
		h := float64(i)
		hours = append(hours, h)
		wait = append(wait, 40+25*math.Sin(h/4)+6*rng.NormFloat64())
		guess = append(guess, 40+25*math.Sin(h/4))
		low = append(low, guess[i]-8-h/3)
		high = append(high, guess[i]+8+h/3)
	}
	draw := func(n int, mean float64) []float64 {
		values := make([]float64, n)
		for i := range values {
			values[i] = mean * math.Exp(0.6*rng.NormFloat64())
		}
		return values
	}
	actual := draw(40, 100)
	var predicted []float64
	for _, x := range actual {
		predicted = append(predicted, x*math.Exp(0.12*rng.NormFloat64()))
	}
	return map[string]Chart{
		"lines": Lines{
			Frame:  Frame{Title: "Queue wait over one day", X: "time (h)", Y: "wait (min)"},
			Series: []Series{{Name: "predicted, 90 % interval", X: hours, Y: guess, Low: low, High: high}, {Name: "measured", X: hours, Y: wait}},
		},
		"scatter": Scatter{
			Frame:    Frame{Title: "Predicted against actual", X: "actual time (s)", Y: "predicted time (s)"},
			Series:   []Series{{Name: "LeNet", X: actual[:20], Y: predicted[:20]}, {Name: "AlexNet", X: actual[20:], Y: predicted[20:]}},
			Identity: true,
		},
	}
}

func render(t *testing.T, c Chart) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := SVG(&b, c); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestGolden(t *testing.T) {
	for name, c := range gallery() {
		got := render(t, c)
		path := filepath.Join("testdata", name+".svg")
		if *update {
			if err := os.WriteFile(path, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s differs; look at it, then run go test -update", path)
		}
		if !bytes.Equal(got, render(t, c)) {
			t.Errorf("%s: the same data gave other bytes", name)
		}
	}
}

func TestPNG(t *testing.T) {
	for name, c := range gallery() {
		path := filepath.Join(t.TempDir(), name+".png")
		if *gallerySet != "" {
			path = filepath.Join(*gallerySet, name+".png")
		}
		if err := Save(path, c); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		img, err := png.Decode(f)
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		var again bytes.Buffer
		if err := PNG(&again, c); err != nil {
			t.Fatal(err)
		}
		if first, err := os.ReadFile(path); err != nil || !bytes.Equal(first, again.Bytes()) {
			t.Errorf("%s: the same data gave other bytes, %v", name, err)
		}
		if width := img.Bounds().Dx(); name != "scatter" && width != 7*imageDPI {
			t.Errorf("%s is %d dots wide", name, width)
		}
	}
}

func TestJPEG(t *testing.T) {
	path := filepath.Join(t.TempDir(), "box.jpg")
	if err := Save(path, gallery()["lines"]); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if img, err := jpeg.Decode(f); err != nil || img.Bounds().Dx() != 7*imageDPI {
		t.Errorf("%v, %v", img.Bounds(), err)
	}
}

func TestErrors(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	one := []float64{1}
	logX, logY := Frame{LogX: true}, Frame{LogY: true}
	for _, test := range []struct {
		name  string
		chart Chart
		want  error
	}{
		{"lines: none", Lines{}, ErrEmpty},
		{"lines: empty", Lines{Series: []Series{{}}}, ErrEmpty},
		{"lines: lengths", Lines{Series: []Series{{X: one}}}, ErrLength},
		{"lines: half an interval", Lines{Series: []Series{{X: one, Y: one, Low: one}}}, ErrLength},
		{"lines: short interval", Lines{Series: []Series{{X: one, Y: one, Low: []float64{}, High: one}}}, ErrLength},
		{"lines: interval reversed", Lines{Series: []Series{{X: one, Y: one, Low: []float64{2}, High: one}}}, ErrOrder},
		{"lines: NaN", Lines{Series: []Series{{X: one, Y: []float64{nan}}}}, ErrNotFinite},
		{"lines: infinity", Lines{Series: []Series{{X: []float64{inf}, Y: one}}}, ErrNotFinite},
		{"lines: log x", Lines{Frame: logX, Series: []Series{{X: []float64{0}, Y: one}}}, ErrLogScale},
		{"lines: log y", Lines{Frame: logY, Series: []Series{{X: one, Y: []float64{-1}}}}, ErrLogScale},
		{"lines: beyond any axis", Lines{Series: []Series{{X: one, Y: []float64{math.MaxFloat64}}}}, ErrNotFinite},
		{"scatter: none", Scatter{}, ErrEmpty},
		{"scatter: half logarithmic", Scatter{Frame: logX, Identity: true, Series: []Series{{X: one, Y: one}}}, ErrLogScale},
	} {
		if err := SVG(io.Discard, test.chart); !errors.Is(err, test.want) {
			t.Errorf("%s: got %v, want %v", test.name, err, test.want)
		}
		if err := PNG(io.Discard, test.chart); !errors.Is(err, test.want) {
			t.Errorf("%s: got %v, want %v", test.name, err, test.want)
		}
	}
	path := filepath.Join(t.TempDir(), "a.gif")
	if err := Save(path, gallery()["lines"]); !errors.Is(err, ErrFormat) {
		t.Errorf("got %v", err)
	}
	path = filepath.Join(t.TempDir(), "a.svg")
	if err := Save(path, Lines{}); !errors.Is(err, ErrEmpty) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a chart that failed left a file: %v", err)
	}
}

// TestDegenerate draws valid data of the smallest sizes.
func TestDegenerate(t *testing.T) {
	one, same := []float64{5}, []float64{3, 3, 3}
	huge := []float64{-1e300, 1e300}
	tiny := []float64{1e-300, 2e-300}
	var long []float64
	for i := range 20000 {
		long = append(long, float64(i%977))
	}
	for name, c := range map[string]Chart{
		"one point":      Lines{Series: []Series{{X: one, Y: one}}},
		"all equal":      Lines{Series: []Series{{X: same, Y: same}}},
		"zeros":          Lines{Series: []Series{{X: []float64{0, 0}, Y: []float64{0, 0}}}},
		"huge":           Lines{Series: []Series{{X: huge, Y: huge}}},
		"tiny":           Lines{Series: []Series{{X: tiny, Y: tiny}}},
		"log, one value": Lines{Frame: Frame{LogX: true, LogY: true}, Series: []Series{{X: same, Y: same}}},
		"log, wide":      Scatter{Frame: Frame{LogX: true, LogY: true}, Identity: true, Series: []Series{{X: []float64{1e-300, 1e300}, Y: []float64{1, 2}}}},
		"long":           Lines{Series: []Series{{X: long, Y: long}}},
		"long legend":    Lines{Series: []Series{{Name: strings.Repeat("x", 300), X: one, Y: one}, {Name: "b", X: one, Y: one}}},
	} {
		t.Run(name, func(t *testing.T) {
			svg := render(t, c)
			if bytes.Contains(svg, []byte("NaN")) || bytes.Contains(svg, []byte("Inf")) {
				t.Error("the image has places that are no numbers")
			}
			if len(svg) > 400_000 {
				t.Errorf("%d bytes", len(svg))
			}
		})
	}
}

func TestTicks(t *testing.T) {
	labels := func(low, high float64, log bool) string {
		ticks := linearTicks{}.Ticks(low, high)
		if log {
			ticks = logTicks{}.Ticks(low, high)
		}
		var names []string
		for _, tick := range ticks {
			if tick.Value < low || tick.Value > high {
				t.Errorf("tick %v is outside %v to %v", tick.Value, low, high)
			}
			if tick.Label != "" {
				names = append(names, tick.Label)
			}
		}
		return strings.Join(names, " ")
	}
	for _, test := range []struct {
		low, high float64
		log       bool
		want      string
	}{
		{0, 1, false, "0 0.2 0.4 0.6 0.8 1.0"},
		{0, 10, false, "0 2 4 6 8 10"},
		{-1, 1, false, "−1.0 −0.5 0 0.5 1.0"},
		{0, 14000, false, "0 2,500 5,000 7,500 10,000 12,500"},
		{0.1, 1.4, false, "0.25 0.50 0.75 1.00 1.25"},
		{999.9, 1000.5, false, "999.9 1,000.0 1,000.1 1,000.2 1,000.3 1,000.4 1,000.5"},
		{0, 6e9, false, "0 1e+09 2e+09 3e+09 4e+09 5e+09 6e+09"},
		{1, 1000, true, "1 10 100 1,000"},
		{0.02, 3, true, "0.1 1"},
		{8, 90, true, "10 20 50"},
		{3, 4.5, true, "3.00 3.25 3.50 3.75 4.00 4.25 4.50"},
	} {
		if got := labels(test.low, test.high, test.log); got != test.want {
			t.Errorf("%v to %v: %s, want %s", test.low, test.high, got, test.want)
		}
	}
}

func TestThinKeepsExtremes(t *testing.T) {
	var xs, ys []float64
	for i := range 100_000 {
		xs, ys = append(xs, float64(i)), append(ys, 1)
	}
	ys[31_337], ys[77_777] = 9, -9
	low, high := emptySpan(), emptySpan()
	kept := thin(points(xs, ys))
	for _, p := range kept {
		low.add(p.X)
		high.add(p.Y)
	}
	if len(kept) > mostPoints || high != (span{-9, 9}) || low != (span{0, 99_999}) {
		t.Errorf("%d points, x %v, y %v", len(kept), low, high)
	}
}
