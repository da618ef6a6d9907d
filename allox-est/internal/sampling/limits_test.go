package sampling

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/foretime/foretime/allox-est/internal/jobspec"
	"github.com/foretime/foretime/allox-est/internal/journal"
	"github.com/foretime/foretime/allox-est/internal/launch"
	"github.com/foretime/foretime/allox-est/internal/progress"
)

func isNear(a, b float64) bool { return math.Abs(a-b) <= 1e-12*max(1, math.Abs(b)) }

// ones are marks of a run whose units take a second each, after a second of set-up.
func ones(n int) []progress.Mark {
	var marks []progress.Mark
	for i := range n {
		marks = append(marks, progress.Mark{Number: float64(i + 1), Of: 99, Seconds: float64(i + 2)})
	}
	return marks
}

// steady is a trace of half a processor and a tenth of a wait, read every two seconds.
func steady(seconds int) (trace []launch.Point) {
	for at := 2; at <= seconds; at += 2 {
		d := time.Duration(at) * time.Second
		trace = append(trace, launch.Point{At: d, CPU: d / 2, Wait: d / 10})
	}
	return trace
}

// Processor time and wait lie on the line between two readings, from
// none at the start, and stay behind the last.
func TestTraceBetweenReadings(t *testing.T) {
	point := func(at, cpu, wait time.Duration) launch.Point {
		return launch.Point{At: at * time.Second, CPU: cpu * time.Second, Wait: wait * time.Second}
	}
	trace := []launch.Point{point(2, 1, 3), point(6, 5, 4), point(6, 7, 4)}
	for at, want := range map[float64][2]float64{0: {0, 0}, 1: {.5, 1.5}, 2: {1, 3}, 3: {2, 3.25}, 5: {4, 3.75}, 6: {5, 4}, 7: {7, 4}, 90: {7, 4}} {
		cpu, wait := traceAt(trace, time.Duration(at*float64(time.Second)))
		if !isNear(cpu, want[0]) || !isNear(wait, want[1]) {
			t.Errorf("at %v s: %v, %v; want %v", at, cpu, wait, want)
		}
	}
	cpu, wait := traceAt([]launch.Point{point(4, 2, 1)}, 9*time.Second)
	if cpu != 2 || wait != 1 {
		t.Errorf("behind the only reading: %v, %v", cpu, wait)
	}
}

// TestMarksOfLines checks the marks that a run's lines leave.
func TestMarksOfLines(t *testing.T) {
	near := []progress.Mark{{Number: 1, Of: 4, Seconds: 1}, {Number: 4, Of: 4, Seconds: 1.0099}}
	apart := []progress.Mark{{Number: 1, Of: 4, Seconds: 1}, {Number: 4, Of: 4, Seconds: 1.01}}
	for _, tt := range []struct {
		name         string
		run          journal.Run
		result       launch.Result
		pattern      string
		fails        bool
		warns        string
		marks        int
		epochs, asks int
	}{
		{name: "all units", run: journal.Run{Epochs: 4}, result: launch.Result{Marks: ones(4)}, marks: 4, epochs: 4},
		{name: "as many as the output says", result: launch.Result{Marks: ones(4)}, marks: 4, epochs: 99},
		{name: "no mark", run: journal.Run{Epochs: 4}, result: launch.Result{Unmarked: "none"}, warns: "no time-writer report, and none", epochs: 4},
		{name: "no line of the pattern", run: journal.Run{Epochs: 4}, pattern: "x", fails: true, epochs: 4},
		{name: "unclear marks", run: journal.Run{Epochs: 4}, result: launch.Result{Marks: ones(4), Unmarked: "two loops"}, warns: "two loops; only", epochs: 4},
		{name: "unclear with a pattern", run: journal.Run{Epochs: 4}, pattern: "x", result: launch.Result{Marks: ones(4), Unmarked: "two loops"}, warns: "two loops; only", epochs: 4},
		{name: "all at once", run: journal.Run{Epochs: 4, Wall: 10}, result: launch.Result{Marks: near}, warns: "all 2 marks came at once", epochs: 4},
		{name: "in a thousandth", run: journal.Run{Epochs: 4, Wall: 9.99}, result: launch.Result{Marks: apart}, marks: 2, epochs: 4},
		{name: "one mark", run: journal.Run{Epochs: 1, Wall: 10}, result: launch.Result{Marks: ones(1)}, marks: 1, epochs: 1},
		{name: "stopped by itself", run: journal.Run{Epochs: 7}, result: launch.Result{Marks: ones(4), Stopped: 4.9}, marks: 4, epochs: 4, asks: 7, warns: "stopped by itself at 4 of 7"},
		{name: "stopped in its first unit", run: journal.Run{Epochs: 7}, result: launch.Result{Marks: ones(4), Stopped: .5}, marks: 4, epochs: 1, asks: 7, warns: "at 0 of 7"},
		{name: "stopped at its end", run: journal.Run{Epochs: 4}, result: launch.Result{Marks: ones(4), Stopped: 4}, marks: 4, epochs: 4},
	} {
		run := tt.run
		if run.Wall == 0 {
			run.Wall = 6
		}
		result := tt.result
		result.Trace = steady(6)
		var warnings []string
		warn := func(format string, args ...any) { warnings = append(warnings, fmt.Sprintf(format, args...)) }
		err := recordMarks(&run, &jobspec.Spec{Progress: jobspec.Progress{Pattern: tt.pattern}}, &result, warn)
		if (err != nil) != tt.fails || len(run.Marks) != tt.marks || run.Epochs != tt.epochs || run.Asked != tt.asks {
			t.Errorf("%s: %d marks, %d epochs of %d, %v", tt.name, len(run.Marks), run.Epochs, run.Asked, err)
		}
		if text := strings.Join(warnings, "; "); !strings.HasPrefix(text, tt.warns) && !strings.Contains(text, tt.warns) || tt.warns == "" && text != "" {
			t.Errorf("%s: warnings %q, want %q", tt.name, text, tt.warns)
		}
		if tt.marks == 0 {
			continue
		}
		if len(run.Laps) != tt.marks+1 || len(run.LapCPU) != len(run.Laps) || run.Marks[0].Of != float64(tt.epochs) {
			t.Errorf("%s: %d laps, marks of %v", tt.name, len(run.Laps), run.Marks[0].Of)
		}
		if tt.marks == 4 {
			// Two seconds to the first mark, then one each, and one to the end.
			if !slices.Equal(run.Laps, []float64{2, 1, 1, 1, 1}) {
				t.Errorf("%s: laps %v", tt.name, run.Laps)
			}
			for i, cpu := range []float64{1, .5, .5, .5, .5} {
				if !isNear(run.LapCPU[i], cpu) || !isNear(run.LapWait[i], cpu/5) {
					t.Errorf("%s: lap %d has %v and waits %v, want %v and %v", tt.name, i, run.LapCPU[i], run.LapWait[i], cpu, cpu/5)
				}
			}
		}
	}
}

// A sample that was stopped ends at its last mark, of which it has two.
func TestStoppedSamples(t *testing.T) {
	for n, good := range map[int]bool{1: false, 2: true, 4: true} {
		run := journal.Run{Stopped: "stopped", Epochs: 9, Wall: 30}
		recordStopped(&run, &launch.Result{Marks: ones(n), Trace: steady(30)})
		if run.HasFailed() == good {
			t.Errorf("%d marks: %q", n, run.Error)
		}
		if !good {
			continue
		}
		end := float64(n + 1)
		if run.Asked != 9 || run.Epochs != n || run.Wall != end || !isNear(run.CPU, end/2) || !isNear(run.Wait, end/10) || run.Marks[0].Of != float64(n) || run.Laps[n] != 0 {
			t.Errorf("%d marks: %+v", n, run)
		}
	}
	run := journal.Run{Stopped: "stopped", Epochs: 9}
	recordStopped(&run, &launch.Result{Marks: ones(4), Unmarked: "two loops"})
	if !run.HasFailed() {
		t.Error("unclear marks count")
	}
	run = journal.Run{Stopped: "stopped", Epochs: 9}
	recordStopped(&run, &launch.Result{Marks: []progress.Mark{{Number: .2, Seconds: 1}, {Number: .6, Seconds: 2}}, Trace: steady(4)})
	if run.Epochs != 1 {
		t.Errorf("a part of a unit counts as %d", run.Epochs)
	}
}

// A run without a GPU fails, one that used none is noted.
func TestEvidenceOfGPUs(t *testing.T) {
	for _, tt := range []struct {
		device   string
		evidence launch.Evidence
		watched  bool
		fails    bool
		warnings int
	}{
		{jobspec.CPU, launch.NoGPU, true, false, 0}, {jobspec.GPU, launch.NoGPU, true, true, 0},
		{jobspec.GPU, launch.GPUOpen, true, false, 1}, {jobspec.GPU, launch.GPUOpen, false, false, 0},
	} {
		run := journal.Run{Device: tt.device, Stopped: "stopped", Epochs: 4}
		record(&run, &jobspec.Spec{}, &launch.Result{Marks: ones(4), Trace: steady(6), GPU: tt.evidence, GPUWatched: tt.watched, Parallel: 1.236, PeakBytes: 7})
		if run.HasFailed() != tt.fails || len(run.Warnings) != 1+tt.warnings {
			t.Errorf("%+v: %q, warnings %q", tt, run.Error, run.Warnings)
		}
		if run.Parallel != 1.24 || run.PeakBytes != 7 {
			t.Errorf("%v threads, %d bytes", run.Parallel, run.PeakBytes)
		}
	}
	for left, want := range map[int]string{0: "", 1: "killed 1 process that", 2: "killed 2 processes that"} {
		run := journal.Run{Stopped: "stopped", Epochs: 4}
		record(&run, &jobspec.Spec{}, &launch.Result{Marks: ones(4), Trace: steady(6), LeftBehind: left})
		if got := strings.Join(run.Warnings, "; "); strings.Contains(got, "killed") != (left > 0) || !strings.Contains(got, want) {
			t.Errorf("%d left: %q", left, got)
		}
	}
}

// Another sample is made while it fits in the budget, and until the
// interval is narrow enough.
func TestBudgetAtItsEdge(t *testing.T) {
	spec := testSpec(1000, jobspec.Sample{Budget: .25, Target: .125})
	// Samples of 10 and 20 epochs in turn; a second for each, and 4 once.
	run := journal.Run{Job: spec.Hash("cpu"), Device: "cpu", Kind: journal.Sample, Epochs: 20, Marks: ones(20)}
	for _, tt := range []struct {
		name              string
		wall, total, half float64
		want              bool
	}{
		{"it fits exactly", 236, 1000, .2, false},
		{"a second too much", 237, 1000, .2, true},
		{"narrow enough", 10, 1000, .125, true},
		{"not quite", 10, 1000, .1251, false},
		{"no estimate", 1e6, 0, 0, false},
	} {
		r := run
		r.Wall = tt.wall
		p := Plan{Spec: spec, Devices: []string{"cpu"}, Predict: func([]journal.Run, string) Forecast {
			return Forecast{Total: tt.total, Once: 4, Unit: 1, HalfWidth: tt.half}
		}}
		if got := p.done([]journal.Run{r}, "cpu"); got != tt.want {
			t.Errorf("%s: done %v", tt.name, got)
		}
	}
	if got := (Forecast{Once: 4, Unit: 3}).cost(5); got != 19 {
		t.Errorf("five epochs cost %v, want 19", got)
	}
	// Without a prediction epochs count: a sample of each length more must fit.
	for epochs, want := range map[int]bool{220: false, 221: true} {
		r := run
		r.Epochs = epochs
		if got := (Plan{Spec: spec}).done([]journal.Run{r}, "cpu"); got != want {
			t.Errorf("%d epochs made: done %v, want %v", epochs, got, want)
		}
	}
	// Three of one shorter length say nothing of the long ones, unless it was asked for.
	short := run
	short.Epochs = 10
	if (Plan{Spec: spec}).done([]journal.Run{short, short}, "cpu") {
		t.Error("short samples alone suffice")
	}
	asked := short
	asked.Asked = 20
	p := Plan{Spec: spec, Predict: func([]journal.Run, string) Forecast { return Forecast{Total: 1, HalfWidth: 0} }}
	if !p.done([]journal.Run{asked, asked}, "cpu") {
		t.Error("samples of the long length that stopped by themselves do not suffice")
	}
}

// Long and short samples take turns; without progress they grow four times from the third on, up to a quarter of the job for both pairs.
func TestLengthsInTurn(t *testing.T) {
	told := journal.Run{Marks: ones(2)}
	for _, tt := range []struct {
		epochs int
		good   []journal.Run
		want   int
	}{
		{1000, nil, 20}, {1000, []journal.Run{told}, 10}, {1000, []journal.Run{told, told}, 20}, {1000, []journal.Run{told, told, told}, 10},
		{1000, []journal.Run{{}, {}}, 80}, {1000, []journal.Run{{}, {}, {}}, 40}, {1000, []journal.Run{{}}, 10},
		{112, []journal.Run{{}, {}}, 20}, {111, []journal.Run{{}, {}}, 5},
	} {
		p := Plan{Spec: testSpec(tt.epochs, jobspec.Sample{})}
		if got := p.length(tt.good); got != tt.want {
			t.Errorf("%d epochs, after %d samples: %d, want %d", tt.epochs, len(tt.good), got, tt.want)
		}
	}
	spec := testSpec(1000, jobspec.Sample{})
	p := Plan{Spec: spec, Devices: []string{"cpu", "gpu"}}
	if runs, epochs := p.First(&journal.Journal{}); runs != 2 || epochs != 40 {
		t.Errorf("%d runs of %d epochs, want 2 of 40", runs, epochs)
	}
	if runs, epochs := p.First(&journal.Journal{Runs: []journal.Run{{Job: spec.Hash("gpu"), Device: "gpu", Kind: journal.Sample}}}); runs != 1 || epochs != 20 {
		t.Errorf("%d runs of %d epochs, want 1 of 20", runs, epochs)
	}
}

// The device with fewest samples goes first, the first of equal ones, and
// one that was given up or cut does not hide the others.
func TestDevicesInTurn(t *testing.T) {
	spec := testSpec(1000, jobspec.Sample{Budget: .5})
	p := Plan{Spec: spec, Devices: []string{"cpu", "gpu"}}
	of := func(device string, change func(*journal.Run)) journal.Run {
		r := journal.Run{Job: spec.Hash(device), Device: device, Kind: journal.Sample, Epochs: 20, Marks: ones(20)}
		change(&r)
		return r
	}
	same := func(*journal.Run) {}
	failed := func(r *journal.Run) { r.Error = "x" }
	late := func(r *journal.Run) { r.Error, r.Timeout = "x", 1 }
	for _, tt := range []struct {
		name string
		runs []journal.Run
		want Step
	}{
		{"none", nil, Step{"cpu", journal.Sample, 20, 0}},
		{"one of the first", []journal.Run{of("cpu", same)}, Step{"gpu", journal.Sample, 20, 0}},
		{"one of each", []journal.Run{of("cpu", same), of("gpu", same)}, Step{"cpu", journal.Sample, 10, 0}},
		{"one failure", []journal.Run{of("cpu", failed)}, Step{"cpu", journal.Sample, 20, 0}},
		{"two failures", []journal.Run{of("cpu", failed), of("cpu", failed)}, Step{"gpu", journal.Sample, 20, 0}},
		{"between two failures", []journal.Run{of("cpu", failed), of("cpu", same), of("cpu", failed)}, Step{"gpu", journal.Sample, 20, 0}},
		{"out of time", []journal.Run{of("cpu", late)}, Step{"gpu", journal.Sample, 20, 0}},
		{"cut", []journal.Run{of("cpu", func(r *journal.Run) { r.Stopped = "cut" })}, Step{"gpu", journal.Sample, 20, 0}},
	} {
		got, ok := p.Next(&journal.Journal{Runs: tt.runs})
		if !ok || got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

// A file of a mebibyte counts by its content, a larger one by its size and date.
func TestDigests(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, size int, fill byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, slices.Repeat([]byte{fill}, size), 0o600); err != nil {
			t.Fatal(err)
		}
		at := time.Unix(1e9, 0)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
		return path
	}
	of := func(word string) string {
		var b strings.Builder
		if err := digest(&b, dir, word); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	for size, content := range map[int]bool{1 << 20: true, 1<<20 + 1: false} {
		path := write("data", size, 'a')
		byName, byPath := of("data"), of(path)
		if strings.TrimPrefix(byName, "data") != strings.TrimPrefix(byPath, path) || len(byName) < 5 {
			t.Errorf("by name %.20q, by path %.20q", byName, byPath)
		}
		write("data", size, 'b')
		if (of("data") != byName) != content {
			t.Errorf("%d bytes: their content counts: %v", size, !content)
		}
	}
	if of(".") != "" || of("absent") != "" {
		t.Error("a directory or no file counts")
	}
}

// TestProcessorAndLoad checks the first model name, and the first number of the load.
func TestProcessorAndLoad(t *testing.T) {
	m := Machine{Proc: t.TempDir()}
	if m.processor() != "" || m.load() != 0 {
		t.Error("of nothing")
	}
	for name, text := range map[string]string{"cpuinfo": "processor : 0\nmodel name : A: 1\nmodel name : B\n", "loadavg": "1.25 7 9 1/2 3\n"} {
		if err := os.WriteFile(filepath.Join(m.Proc, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if m.processor() != "A: 1" || m.load() != 1.25 {
		t.Errorf("%q, %v", m.processor(), m.load())
	}
}

// The digest changes with the variables that the command names and with the
// files on any device that the job runs on.
func TestIdentities(t *testing.T) {
	dir := t.TempDir()
	of := func(text string, env ...string) journal.Identity {
		if err := os.WriteFile(filepath.Join(dir, "run.sh"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		spec := &jobspec.Spec{Command: []string{"sh", "run.sh", "$A/${B}", "{epochs}"}, Epochs: 3, Dir: dir}
		id, err := Identify(spec, Machine{}, env)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	first := of("x", "A=1", "B=2", "C=3")
	if len(first.Inputs) != 16 || first.Host == "" {
		t.Errorf("%+v", first)
	}
	for name, tt := range map[string]struct {
		other journal.Identity
		same  bool
	}{
		"the same": {of("x", "A=1", "B=2", "C=3"), true}, "another C": {of("x", "A=1", "B=2", "C=4"), true}, "another A": {of("x", "A=2", "B=2"), false},
		"another B": {of("x", "A=1", "B=3"), false}, "threads": {of("x", "A=1", "B=2", "OMP_NUM_THREADS=1"), false}, "another script": {of("y", "A=1", "B=2"), false},
	} {
		if (tt.other == first) != tt.same {
			t.Errorf("%s: %+v beside %+v", name, tt.other, first)
		}
	}
}
