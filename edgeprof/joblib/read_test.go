package joblib

import (
	"bytes"
	"encoding/binary"
	"encoding/csv"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foretime/foretime/shared/regression"
	"github.com/foretime/foretime/shared/regression/tree"
)

// text is a string in a pickle.
func text(s string) []byte { return append([]byte{0x8c, byte(len(s))}, s...) }

// arrayOf is an attribute with an array, as joblib writes it.
func arrayOf(name string, values ...float64) []byte {
	b := append(text(name), "\x94h[)\x81\x94}\x94(h^h`haK"...)
	b = append(b, byte(len(values)))
	b = append(b, "\x85\x94hchdhGh\x88hk\x88hlK\x10ub\x03\xff\xff\xff"...)
	for _, v := range values {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
	}
	return b
}

// booster is trees on scaled rows of 2 columns and 2 devices, and the rows
// unscaled with their answers.
func booster(t *testing.T) (ubjson []byte, rows [][]float64, answers []float64) {
	t.Helper()
	var scaled [][]float64
	for i := range 200 {
		x := []float64{float64(i * 7 % 50), float64(100 + i*13%300), float64(i % 2), float64(1 - i%2)}
		rows = append(rows, x)
		scaled = append(scaled, []float64{(x[0] - 20) / 11, (x[1] - 250) / 70, x[2], x[3]})
		answers = append(answers, x[0]+x[1]/10+5*x[2])
	}
	s, err := regression.NewSamples(scaled, answers)
	if err != nil {
		t.Fatal(err)
	}
	e, err := tree.Boost{Rounds: 20, MaxDepth: 4}.Fit(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	for i := range answers {
		p, err := e.Predict(scaled[i])
		if err != nil {
			t.Fatal(err)
		}
		answers[i] = p.Value
	}
	var b bytes.Buffer
	b.WriteString("{L\x00\x00\x00\x00\x00\x00\x00\x06Config{}L\x00\x00\x00\x00\x00\x00\x00\x05Model")
	if err := e.WriteUBJSON(&b); err != nil {
		t.Fatal(err)
	}
	b.WriteString("}")
	return b.Bytes(), rows, answers
}

// pickled is a model file that holds the booster as BYTEARRAY8.
func pickled(ubjson []byte) []byte {
	b := []byte("\x80\x04\x95")
	for _, part := range [][]byte{
		text("conv_layers"), text("total_parameters"), arrayOf("center_", 20, 250), arrayOf("scale_", 11, 70), text("raspberrypi"), []byte("X\x06\x00\x00\x00jetson"),
		binary.LittleEndian.AppendUint64([]byte{0x96}, uint64(len(ubjson))), ubjson, text("scale_"), []byte("u."),
	} {
		b = append(b, part...)
	}
	return b
}

func TestRead(t *testing.T) {
	ubjson, rows, answers := booster(t)
	p, err := Read(bytes.NewReader(pickled(ubjson)))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"conv_layers", "total_parameters", "device_jetson", "device_raspberrypi"}, p.Booster.Names()); diff != "" {
		t.Error(diff)
	}
	if c := p.Columns[1]; c.Center != 250 || c.Scale != 70 || !math.IsNaN(c.Mean) {
		t.Errorf("%+v", c)
	}
	for i, x := range rows {
		got, err := p.Booster.Predict(x)
		if err != nil || got.Value != answers[i] {
			t.Fatalf("row %d: %v, %v; want %v", i, got, err, answers[i])
		}
	}
}

func TestReadErrors(t *testing.T) {
	ubjson, _, _ := booster(t)
	whole := pickled(ubjson)
	without := func(part string) []byte { return bytes.Replace(whole, []byte(part), []byte("xxxxxxx"), 1) }
	for name, data := range map[string][]byte{
		"nothing": {}, "no booster": without("Config"), "no center": without("center_"), "no scale": bytes.ReplaceAll(whole, []byte("scale_"), []byte("sc_le_")),
		"a column less": without("total_parameters"), "a device less": without("jetson"), "cut": whole[:len(whole)-len(ubjson)],
		"a length beyond the file": bytes.Replace(whole, binary.LittleEndian.AppendUint64([]byte{0x96}, uint64(len(ubjson))), binary.LittleEndian.AppendUint64([]byte{0x96}, 1<<60), 1),
		"a scale of 0":             bytes.Replace(whole, arrayOf("scale_", 11, 70), arrayOf("scale_", 0, 70), 1),
		"a center that is NaN":     bytes.Replace(whole, arrayOf("center_", 20, 250), arrayOf("center_", math.NaN(), 250), 1),
		"other lengths":            bytes.Replace(whole, arrayOf("center_", 20, 250), arrayOf("center_", 20), 1),
	} {
		if _, err := Read(bytes.NewReader(data)); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Read(bytes.NewReader(bytes.Replace(whole, []byte("reg:squarederror"), []byte("bin:squarederror"), 1))); !errors.Is(err, tree.ErrModel) {
		t.Errorf("a booster that is not read: %v", err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte{})
	f.Add(append(arrayOf("center_", 1, 2), serialized...))
	f.Add(append([]byte("B\x10\x00\x00\x00"), serialized...))
	f.Fuzz(func(t *testing.T, data []byte) {
		if p, err := Read(bytes.NewReader(data)); err == nil && p.Booster == nil {
			t.Error("neither a model nor an error")
		}
	})
}

// Files that scikit-learn, XGBoost and joblib themselves write predict what the
// pipeline predicts.
func TestRealPipeline(t *testing.T) {
	if exec.Command("/usr/bin/python3", "-c", "import sklearn, joblib, pandas, xgboost").Run() != nil {
		t.Skip("needs scikit-learn and XGBoost for Python: install with apt-get install python3-sklearn python3-joblib python3-pandas python3-xgboost")
	}
	for _, args := range [][]string{nil, {"impute"}} {
		path := filepath.Join(t.TempDir(), "m.joblib")
		if out, err := exec.Command("/usr/bin/python3", append([]string{"testdata/train.py", path}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		p, err := Read(file)
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Columns) != 9 || len(p.Devices) != 2 || len(p.Plain) != 0 || math.IsNaN(p.Columns[0].Mean) != (args == nil) || p.Booster.Trees() != 30 {
			t.Errorf("%+v", p)
		}
		compareWith(t, p, path+".csv")
	}
}

func compareWith(t *testing.T, p *Pipeline, path string) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]int{}
	for i, name := range rows[0] {
		at[name] = i
	}
	number := func(row []string, name string) float64 {
		v, err := strconv.ParseFloat(row[at[name]], 64)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, row := range rows[1:] {
		var x []float64
		for _, name := range p.Booster.Names() {
			x = append(x, number(row, name))
		}
		got, err := p.Booster.Predict(x)
		if want := number(row, "want"); err != nil || math.Abs(got.Value-want) > 1e-5*math.Abs(want) {
			t.Fatalf("%v: %v, %v; want %v", row, got.Value, err, want)
		}
	}
}
