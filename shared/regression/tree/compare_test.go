package tree

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/foretime/foretime/shared/regression"
)

// trial is one training and one prediction, by either side in a process of its own:
// files of float32 numbers, first the features of all rows, then their targets.
type trial struct {
	train, test               string
	features, rounds, threads int
}

// outcome is the cost of a trial: seconds, error and memory.
type outcome struct{ train, predict, rmse, megabytes float64 }

// rival trains and predicts with XGBoost. The training includes DMatrix and
// quantile cuts; the prediction excludes its DMatrix.
const rival = `
import sys, time, numpy as np, xgboost as xgb
train, test, features, rounds, threads = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:])
def read(path):
    a = np.fromfile(path, dtype=np.float32)
    n = len(a) // (features+1)
    return a[:n*features].reshape(n, features), a[n*features:]
x, y = read(train)
start = time.perf_counter()
d = xgb.DMatrix(x, y, nthread=threads)
b = xgb.train(dict(max_depth=6, eta=0.1, nthread=threads, tree_method='hist', base_score=14.), d, rounds)
trained = time.perf_counter() - start
del d, x, y
x, y = read(test)
d = xgb.DMatrix(x, nthread=threads)
start = time.perf_counter()
p = b.predict(d)
print(trained, time.perf_counter() - start, np.sqrt(np.mean((p-y)**2)))
`

// BenchmarkCompareXGBoost alternates training and prediction with XGBoost, the one
// installed for the interpreter that PYTHON names (/usr/bin/python3).
func BenchmarkCompareXGBoost(b *testing.B) {
	interpreter := os.Getenv("PYTHON")
	if interpreter == "" {
		interpreter = "/usr/bin/python3"
	}
	if exec.Command(interpreter, "-c", "import xgboost").Run() != nil {
		b.Skip("needs XGBoost for Python: install with apt-get install python3-xgboost")
	}
	dir := b.TempDir()
	var draws uint64 // one for each trial
	for _, size := range []struct{ rows, features, rounds int }{{1200, 10, 145}, {100_000, 20, 100}, {1_000_000, 20, 100}} {
		if testing.Short() && size.rows > 100_000 {
			continue
		}
		t := trial{train: filepath.Join(dir, fmt.Sprint("train", size.rows)), test: filepath.Join(dir, fmt.Sprint("test", size.rows)), features: size.features, rounds: size.rounds}
		for _, t.threads = range []int{1, 2} {
			b.Run(fmt.Sprintf("rows=%d/threads=%d", size.rows, t.threads), func(b *testing.B) {
				var ours, theirs []outcome
				for range b.N {
					draws += 2
					writeFloats(b, t.train, friedman(size.rows, size.features, 0, draws))
					writeFloats(b, t.test, friedman(size.rows, size.features, 0, draws+1))
					ours = append(ours, t.run(b, exec.Command(os.Args[0], t.arguments()...), "TREE_TRIAL=1"))
					theirs = append(theirs, t.run(b, exec.Command(interpreter, append([]string{"-c", rival}, t.arguments()...)...)))
				}
				report(b, "train-s", ours, theirs, func(o outcome) float64 { return o.train })
				report(b, "predict-s", ours, theirs, func(o outcome) float64 { return o.predict })
				report(b, "rmse", ours, theirs, func(o outcome) float64 { return o.rmse })
				report(b, "MB", ours, theirs, func(o outcome) float64 { return o.megabytes })
				b.ReportMetric(0, "ns/op") // meaningless here
			})
		}
	}
}

func (t trial) arguments() []string {
	return []string{t.train, t.test, strconv.Itoa(t.features), strconv.Itoa(t.rounds), strconv.Itoa(t.threads)}
}

// TestMain lets the benchmark start this program as our side of a trial.
func TestMain(m *testing.M) {
	if os.Getenv("TREE_TRIAL") == "" {
		os.Exit(m.Run())
	}
	t := trial{train: os.Args[1], test: os.Args[2]}
	for i, to := range []*int{&t.features, &t.rounds, &t.threads} {
		*to, _ = strconv.Atoi(os.Args[3+i])
	}
	o, err := t.ours()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(o.train, o.predict, o.rmse)
}

func (t trial) ours() (o outcome, err error) {
	s, err := readFloats(t.train, t.features)
	if err != nil {
		return o, err
	}
	start := time.Now()
	e, err := Boost{Rounds: t.rounds, Eta: 0.1, Threads: t.threads}.Fit(context.Background(), s)
	if err != nil {
		return o, err
	}
	o.train = time.Since(start).Seconds()
	s = regression.Samples{}
	runtime.GC() // matches the rival's del
	if s, err = readFloats(t.test, t.features); err != nil {
		return o, err
	}
	out := make([]float64, s.Len())
	start = time.Now()
	err = e.PredictAll(s.X, out, t.threads)
	o.predict = time.Since(start).Seconds()
	for i, v := range out {
		o.rmse += (v - s.Y[i]) * (v - s.Y[i])
	}
	o.rmse = math.Sqrt(o.rmse / float64(len(out)))
	return o, err
}

func (t trial) run(b *testing.B, cmd *exec.Cmd, environment ...string) outcome {
	b.Helper()
	cmd.Env = append(os.Environ(), environment...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		b.Fatal(err)
	}
	var o outcome
	if _, err := fmt.Sscan(string(out), &o.train, &o.predict, &o.rmse); err != nil {
		b.Fatalf("%q: %v", out, err)
	}
	o.megabytes = float64(cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss) / 1024
	return o
}

// report reports the medians of both sides.
func report(b *testing.B, unit string, ours, theirs []outcome, of func(outcome) float64) {
	median := func(all []outcome) float64 {
		values := make([]float64, len(all))
		for i, o := range all {
			values[i] = of(o)
		}
		slices.Sort(values)
		return (values[(len(values)-1)/2] + values[len(values)/2]) / 2
	}
	b.ReportMetric(median(ours), unit)
	b.ReportMetric(median(theirs), "xgboost-"+unit)
}

func writeFloats(b *testing.B, path string, s regression.Samples) {
	b.Helper()
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	w := bufio.NewWriter(f)
	var word [4]byte
	for _, values := range [][]float64{s.X, s.Y} {
		for _, v := range values {
			binary.LittleEndian.PutUint32(word[:], math.Float32bits(float32(v)))
			w.Write(word[:])
		}
	}
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
}

func readFloats(path string, features int) (regression.Samples, error) {
	f, err := os.Open(path)
	if err != nil {
		return regression.Samples{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return regression.Samples{}, err
	}
	n := int(info.Size()) / 4 / (features + 1)
	s := regression.Samples{Features: features, X: make([]float64, n*features), Y: make([]float64, n)}
	r := bufio.NewReader(f)
	var word [4]byte
	for _, values := range [][]float64{s.X, s.Y} {
		for i := range values {
			if _, err := io.ReadFull(r, word[:]); err != nil {
				return s, err
			}
			values[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(word[:])))
		}
	}
	return s, nil
}
