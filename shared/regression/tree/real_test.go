package tree

import (
	"bytes"
	"encoding/csv"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/foretime/foretime/shared/regression"
)

// python runs a script with Debian's interpreter, whose xgboost is 1.7.4.
func python(t *testing.T, dir, script string) string {
	t.Helper()
	cmd := exec.Command("/usr/bin/python3", "-c", script)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("python3: %v\n%s", err, stderr.String())
	}
	return string(out)
}

func needXGBoost(t *testing.T) {
	t.Helper()
	if exec.Command("/usr/bin/python3", "-c", "import xgboost").Run() != nil {
		t.Skip("needs XGBoost for Python: install with apt-get install python3-xgboost")
	}
}

func writeCSV(t *testing.T, path string, s regression.Samples) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := csv.NewWriter(f)
	for i, y := range s.Y {
		row := []string{strconv.FormatFloat(y, 'g', -1, 64)}
		for _, v := range s.Row(i) {
			if math.IsNaN(v) {
				row = append(row, "")
			} else {
				row = append(row, strconv.FormatFloat(v, 'g', -1, 64))
			}
		}
		w.Write(row)
	}
	if w.Flush(); w.Error() != nil {
		t.Fatal(w.Error())
	}
}

func lines(t *testing.T, text string) []float64 {
	t.Helper()
	var out []float64
	for _, field := range strings.Fields(text) {
		v, err := strconv.ParseFloat(field, 64)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
	}
	return out
}

const load = `
import numpy as np, xgboost as xgb
def read(path, kinds=None):
    a = np.genfromtxt(path, delimiter=',')
    return xgb.DMatrix(a[:,1:], a[:,0], feature_types=kinds, enable_categorical=kinds is not None, nthread=1)
`

// XGBoost loads our models and gives the same predictions, with missing and
// categorical values.
func TestRealXGBoostReadsOurs(t *testing.T) {
	needXGBoost(t)
	s := friedman(10_000, 6, 0.1, 1)
	for i := range s.Len() {
		s.X[i*6+5] = float64(i * 7919 % 13)
		s.Y[i] += float64(int(s.X[i*6+5]) % 4)
	}
	s.X[5], s.X[11] = math.NaN(), math.NaN()
	e := fit(t, Boost{Rounds: 30, Categorical: []bool{false, false, false, false, false, true}}, s)
	dir := t.TempDir()
	writeCSV(t, filepath.Join(dir, "data.csv"), s)
	if err := os.WriteFile(filepath.Join(dir, "m.json"), saved(t, e), 0o644); err != nil {
		t.Fatal(err)
	}
	got := lines(t, python(t, dir, load+`
b = xgb.Booster(model_file='m.json')
print(*['%.9g' % v for v in b.predict(read('data.csv', ['q']*5+['c']), validate_features=False)])`))
	if len(got) != s.Len() {
		t.Fatalf("%d predictions of %d rows", len(got), s.Len())
	}
	for i, v := range got {
		p, _ := e.Predict(s.Row(i))
		if !(math.Abs(p.Value-v) <= 1e-5*(1+math.Abs(v))) {
			t.Fatalf("row %d: %v, XGBoost says %v", i, p.Value, v)
		}
	}
}

// With the same data, settings and base score the test RMSE is XGBoost's within 1
// %.
func TestRealXGBoostTrainsLikeOurs(t *testing.T) {
	needXGBoost(t)
	for _, missing := range []float64{0, 0.1} {
		train, test := friedman(20_000, 12, missing, 1), friedman(20_000, 12, missing, 2)
		dir := t.TempDir()
		writeCSV(t, filepath.Join(dir, "train.csv"), train)
		writeCSV(t, filepath.Join(dir, "test.csv"), test)
		out := lines(t, python(t, dir, load+`
d, e = read('train.csv'), read('test.csv')
b = xgb.train(dict(max_depth=6, eta=0.1, nthread=1, tree_method='hist', base_score=float(np.mean(d.get_label()))), d, 100)
print(np.sqrt(np.mean((b.predict(e)-e.get_label())**2)))
b.save_model('theirs.json')
print(*['%.9g' % v for v in b.predict(e)])`))
		theirs := out[0]
		ours := rmse(t, fit(t, Boost{Rounds: 100, Eta: 0.1}, train), test)
		t.Logf("missing %v: RMSE %.4f, XGBoost %.4f", missing, ours, theirs)
		if ours > 1.01*theirs {
			t.Errorf("missing %v: RMSE %.4f is over 1 %% above XGBoost's %.4f", missing, ours, theirs)
		}
		e := read(t, filepath.Join(dir, "theirs.json"))
		for i, want := range out[1:] {
			if p, _ := e.Predict(test.Row(i)); !(math.Abs(p.Value-want) <= 1e-5*(1+math.Abs(want))) {
				t.Fatalf("their model, row %d: %v, XGBoost says %v", i, p.Value, want)
			}
		}
	}
}
