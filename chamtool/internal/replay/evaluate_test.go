package replay_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/foretime/foretime/chamtool/internal/forecast"
	"github.com/foretime/foretime/chamtool/internal/perfmodel"
	"github.com/foretime/foretime/chamtool/internal/replay"
	"github.com/foretime/foretime/chamtool/internal/task"
)

func read(t *testing.T, format task.Format, texts ...string) []*task.Log {
	t.Helper()
	var logs []*task.Log
	for i, text := range texts {
		l, err := task.ReadLog(strings.NewReader(text), fmt.Sprintf("log%d", i), format)
		if err != nil {
			t.Fatal(err)
		}
		logs = append(logs, l)
	}
	return logs
}

// lineOf is a log whose runs take a nanosecond a byte.
func lineOf(sizes ...int) string {
	var b strings.Builder
	for i, s := range sizes {
		fmt.Fprintf(&b, "%d\t%d\t0\t%.9f\t0\n", i, s, float64(s)*1e-9)
	}
	return b.String()
}

func upTo(n int) (sizes []int) {
	for i := range n {
		sizes = append(sizes, 1000*(1+i%30))
	}
	return sizes
}

func TestTasks(t *testing.T) {
	logs := read(t, task.FormatMXM, lineOf(upTo(100)...), lineOf(append(upTo(60), 500_000)...))
	for _, tt := range []struct {
		name                string
		split               replay.Split
		train, test, unseen int
		err                 error
	}{
		{"fraction", replay.Split{Fraction: 0.5}, 80, 81, 1, nil},
		{"rows", replay.Split{Rows: 10}, 20, 141, 101, nil},
		{"files", replay.Split{Files: []string{"log0"}}, 100, 61, 1, nil},
		{"nothing to judge", replay.Split{Files: []string{"log0", "log1"}}, 0, 0, 0, replay.ErrSplit},
		{"nothing to learn", replay.Split{Fraction: 0.001}, 0, 0, 0, replay.ErrSplit},
		{"no split", replay.Split{}, 0, 0, 0, replay.ErrSplit},
		{"NaN", replay.Split{Fraction: math.NaN()}, 0, 0, 0, replay.ErrSplit},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := replay.EvaluateTasks(t.Context(), logs, tt.split, perfmodel.Options{})
			if !errors.Is(err, tt.err) {
				t.Fatalf("error %v, want %v", err, tt.err)
			}
			if err != nil {
				return
			}
			if r.Train != tt.train || r.Test != tt.test || r.Unseen.Test != tt.unseen {
				t.Errorf("%d learned, %d judged, %d unseen", r.Train, r.Test, r.Unseen.Test)
			}
			// The times are a law of the sizes, so that little but the edge is off.
			if *r.MedianAPE > 2 {
				t.Errorf("median APE %v %%", *r.MedianAPE)
			}
		})
	}
}

// header is the beginning of the header of csv logs; the other columns may be absent.
const header = "iteration,lane,flag,entry,sizes,core,mhz,start_seconds,queue_seconds,seconds,cpu_seconds,predicted_seconds\n"

func TestUnknownFunctionsAreNotJudged(t *testing.T) {
	row := func(entry string, n int) string {
		return strings.Repeat("0,0,local,"+entry+",8,0,,0,,0.5,,\n", n)
	}
	logs := read(t, task.FormatCSV, header+row("f", 30)+row("g", 10))
	r, err := replay.EvaluateTasks(t.Context(), logs, replay.Split{Rows: 20}, perfmodel.Options{})
	if err != nil || r.Test != 10 || len(r.Warnings) == 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestLoads(t *testing.T) {
	var b strings.Builder
	for i := range 60 {
		fmt.Fprintf(&b, "%d\t8\t16\t%d\n", i, 1+i%2)
	}
	logs := read(t, task.FormatPerm, b.String())
	for _, recursive := range []bool{false, true} {
		r, err := replay.EvaluateLoads(logs, replay.Split{Rows: 20}, forecast.Options{}, recursive)
		if err != nil || r.Train != 20 || r.Test != 40 || *r.MAPE > 1e-6 {
			t.Errorf("%+v, %v", r, err)
		}
	}
	if _, err := replay.EvaluateLoads(logs, replay.Split{Files: []string{"log0"}}, forecast.Options{}, false); !errors.Is(err, replay.ErrSplit) {
		t.Error(err)
	}
	torn := read(t, task.FormatAR, "1,2,3\n2,3,4\n9,4,5\n")
	if _, err := replay.EvaluateLoads(torn, replay.Split{Rows: 1}, forecast.Options{}, false); err == nil {
		t.Error("windows of no one series were taken")
	}
}

// data is the folder of recorded logs.
func data(t *testing.T, parts ...string) string {
	root := os.Getenv("FORETIME_DATA")
	if root == "" {
		t.Skip("needs recorded logs: set FORETIME_DATA to their folder")
	}
	return filepath.Join(append([]string{root}, parts...)...)
}

// The recorded run's own predictions were off by 1034 % (median 153 %, R2
// .62); a local median over the nearest sizes, computed apart with numpy, by
// 37.4 % (11.9 %, .668).
func TestRecordedTasks(t *testing.T) {
	var logs []*task.Log
	for rank := range 4 {
		l, err := task.LoadLog(t.Context(), data(t, "mxm-tasks", fmt.Sprintf("chamtool_logfile_rank_%d.csv", rank)), task.FormatMXM)
		if err != nil {
			t.Fatal(err)
		}
		logs = append(logs, l)
	}
	for _, model := range []string{perfmodel.Auto, "local"} {
		r, err := replay.EvaluateTasks(t.Context(), logs, replay.Split{Fraction: 0.3}, perfmodel.Options{Serve: model})
		if err != nil {
			t.Fatal(err)
		}
		if r.Train != 2400 || r.Test != 5600 || *r.MAPE > 37 || *r.MedianAPE > 12 || *r.R2 < 0.64 || math.Abs(*r.Coverage-0.9) > 0.03 {
			t.Errorf("%v: %d/%d: MAPE %.2f, median %.2f, R2 %.4f, held %.3f", model, r.Train, r.Test, *r.MAPE, *r.MedianAPE, *r.R2, *r.Coverage)
		}
	}
	r, err := replay.EvaluateTasks(t.Context(), logs, replay.Split{Files: []string{logs[0].Name, logs[1].Name}}, perfmodel.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Unseen.Test == 0 || *r.Unseen.MAPE > 55 {
		t.Errorf("%d unseen, MAPE %.2f", r.Unseen.Test, *r.Unseen.MAPE)
	}
}

// References, computed apart with numpy: ordinary least squares on six lags
// 3.49 and 3.98 %, the load two iterations ago 3.69 and 4.07 %; recursive with
// 14 rows R2 .94 to .97 for the latter.
func TestRecordedLoads(t *testing.T) {
	for file, most := range map[string]float64{"osc_cc_runtime_dataset_r0_nmax100.csv": 3.2, "osc_cc_runtime_dataset_r1_nmax100.csv": 3.4} {
		l, err := task.LoadLog(t.Context(), data(t, "samoa-osc", file), task.FormatAR)
		if err != nil {
			t.Fatal(err)
		}
		for _, kind := range []forecast.Kind{forecast.Auto, forecast.AR, forecast.Seasonal} {
			r, err := replay.EvaluateLoads([]*task.Log{l}, replay.Split{Rows: 50}, forecast.Options{Kind: kind}, false)
			if err != nil || r.Test != 144 || *r.MAPE > most {
				t.Errorf("%s %v: %d judged, MAPE %.2f (%v)", file, kind, r.Test, *r.MAPE, err)
			}
			r, err = replay.EvaluateLoads([]*task.Log{l}, replay.Split{Rows: 14}, forecast.Options{Kind: kind}, true)
			if err != nil || *r.R2 < 0.93 {
				t.Errorf("%s %v recursive: R2 %.3f (%v)", file, kind, *r.R2, err)
			}
		}
	}
}
