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
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foretime/foretime/shared/pickle"
	"github.com/foretime/foretime/shared/regression"
	"github.com/foretime/foretime/shared/regression/tree"
)

// What Python pickles by protocol 4, without its memo.
func text(s string) string { return "\x8c" + string(byte(len(s))) + s }

func list(items ...string) string { return "](" + strings.Join(items, "") + "e" }

func tuple(items ...string) string { return "(" + strings.Join(items, "") + "t" }

func object(class pickle.Global, state string) string {
	return text(class.Module) + text(class.Name) + "\x93)\x81" + state + "b"
}

// with is a state of attributes and values by turns.
func with(attributes ...string) string {
	for i := 0; i < len(attributes); i += 2 {
		attributes[i] = text(attributes[i])
	}
	return "}(" + strings.Join(attributes, "") + "u"
}

func number(n int) string { return "K" + string([]byte{byte(n)}) }

func typeOf(kind, order string) string {
	return text(dtype.Module) + text(dtype.Name) + "\x93" + text(kind) + "\x89\x88\x87R" + tuple(number(3), text(order), "N") + "b"
}

// arrayOf is an array as joblib writes it.
func arrayOf(values ...float64) string {
	b := []byte(object(wrapper, with("dtype", typeOf("f8", "<"), "shape", number(len(values))+"\x85", "numpy_array_alignment_bytes", number(16))) + "\x03\xff\xff\xff")
	for _, v := range values {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
	}
	return string(b)
}

// namesOf is an array of text, which is a pickle in the pickle.
func namesOf(names ...string) string {
	for i := range names {
		names[i] = text(names[i])
	}
	inner := object(pickle.Global{Module: "numpy", Name: "ndarray"}, tuple(number(1), number(len(names))+"\x85", typeOf("O8", "|"), "\x89", list(names...)))
	return object(wrapper, with("dtype", typeOf("O8", "|"), "shape", number(len(names))+"\x85")) + "\x80\x02" + inner + "."
}

// trees is a booster on scaled rows of 2 columns and 2 devices, and the rows
// unscaled with their answers.
func trees(t *testing.T) (ubjson string, rows [][]float64, answers []float64) {
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
	return b.String(), rows, answers
}

// parts of a model file.
type parts struct{ center, scale, columns, devices, handle string }

func whole(ubjson string) parts {
	return parts{
		center: arrayOf(20, 250), scale: arrayOf(11, 70), columns: list(text("conv_layers"), text("total_parameters")), devices: namesOf("jetson", "raspberrypi"),
		handle: string(binary.LittleEndian.AppendUint64([]byte{0x96}, uint64(len(ubjson)))) + ubjson,
	}
}

func (p parts) String() string {
	prepare := object(transformer, with("transformers_", list(
		tuple(text("num"), object(scaler, with("center_", p.center, "scale_", p.scale)), p.columns),
		tuple(text("cat"), object(encoder, with("categories_", list(p.devices))), list(text("device"))),
		tuple(text("remainder"), text("drop"), list()),
	)))
	regress := object(regressor, with("_Booster", object(booster, with("handle", p.handle))))
	return "\x80\x04" + object(pipeline, with("steps", list(tuple(text("prepare"), prepare), tuple(text("regress"), regress)))) + "."
}

func TestRead(t *testing.T) {
	ubjson, rows, answers := trees(t)
	p, err := Read(strings.NewReader(whole(ubjson).String()))
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
	ubjson, _, _ := trees(t)
	change := func(do func(*parts)) string {
		p := whole(ubjson)
		do(&p)
		return p.String()
	}
	good := whole(ubjson).String()
	for name, data := range map[string]string{
		"a number":           "\x80\x04K\x01.",
		"no center":          change(func(p *parts) { p.center = "N" }),
		"no booster":         strings.Replace(good, "_Booster", "_Bxxster", 1),
		"a column less":      change(func(p *parts) { p.columns = list(text("conv_layers")) }),
		"columns by number":  change(func(p *parts) { p.columns = list(number(0), number(1)) }),
		"a device less":      change(func(p *parts) { p.devices = namesOf("jetson") }),
		"devices by number":  change(func(p *parts) { p.devices = arrayOf(1, 2) }),
		"a scale of 0":       change(func(p *parts) { p.scale = arrayOf(0, 70) }),
		"a center of NaN":    change(func(p *parts) { p.center = arrayOf(math.NaN(), 250) }),
		"a center too few":   change(func(p *parts) { p.center = arrayOf(20) }),
		"big-endian numbers": strings.Replace(good, typeOf("f8", "<"), typeOf("f8", ">"), 1),
		"endless numbers":    strings.Replace(good, typeOf("f8", "<"), typeOf("f0", "<"), 1),
		"a booster of None":  change(func(p *parts) { p.handle = "N" }),
	} {
		if _, err := Read(strings.NewReader(data)); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, data := range map[string]string{
		"nothing": "", "cut": good[:len(good)/2], "another class": strings.Replace(good, "RobustScaler", "RobustXcaler", 1),
	} {
		if _, err := Read(strings.NewReader(data)); !errors.Is(err, pickle.ErrFormat) || !strings.Contains(err.Error(), "offset") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Read(strings.NewReader(strings.Replace(good, "reg:squarederror", "bin:squarederror", 1))); !errors.Is(err, tree.ErrModel) {
		t.Errorf("a booster that is not read: %v", err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add("")
	f.Add(whole("{L\x00\x00\x00\x00\x00\x00\x00\x06Config").String())
	f.Fuzz(func(t *testing.T, data string) {
		if p, err := Read(strings.NewReader(data)); err == nil && p.Booster == nil {
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
	cell := func(row []string, name string) float64 {
		v, err := strconv.ParseFloat(row[at[name]], 64)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, row := range rows[1:] {
		var x []float64
		for _, name := range p.Booster.Names() {
			x = append(x, cell(row, name))
		}
		got, err := p.Booster.Predict(x)
		if want := cell(row, "want"); err != nil || math.Abs(got.Value-want) > 1e-5*math.Abs(want) {
			t.Fatalf("%v: %v, %v; want %v", row, got.Value, err, want)
		}
	}
}
