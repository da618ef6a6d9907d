package sampling

import (
	"context"
	"errors"
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

// sampler returns a Sampler of a shell job.
func sampler(t *testing.T, script string, change func(*jobspec.Spec)) *Sampler {
	t.Helper()
	spec := &jobspec.Spec{Name: "sh", Command: []string{"sh", "-c", script, "sh", "{epochs}", "{hw}"}, Epochs: 10, Base: t.TempDir(), Env: map[string]jobspec.Scalar{"GREETING": "hello"}}
	if change != nil {
		change(spec)
	}
	if err := spec.Check(); err != nil {
		t.Fatal(err)
	}
	j, err := journal.Open(filepath.Join(t.TempDir(), "j.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return &Sampler{
		Plan: Plan{Spec: spec}, Journal: j, Runner: launch.New(launch.Settings{Scratch: t.TempDir()}), Env: os.Environ(),
		Machine: FindMachine("/", 2),
	}
}

func sampled(ctx context.Context, s *Sampler, devices []string) error {
	s.Devices = devices
	return s.Sample(ctx)
}

const tellLaps = `
sleep 0.05
laps=0.001; i=0
while [ $i -lt $1 ]; do laps="$laps, 0.002"; i=$((i+1)); done
echo "<TIME_WRITTER_OUTPUT>[$laps, 0.001]</TIME_WRITTER_OUTPUT>"
sleep 0.01`

func TestSample(t *testing.T) {
	s := sampler(t, tellLaps, nil)
	var events []Event
	s.Progress = func(e Event) { events = append(events, e) }
	if err := sampled(t.Context(), s, []string{"cpu"}); err != nil {
		t.Fatal(err)
	}
	runs := s.Journal.Runs
	if len(runs) != 1 || len(events) < 2 || events[0].Done != 0 || events[len(events)-1].Done != 1 {
		t.Fatalf("runs %+v, events %+v", runs, events)
	}
	for _, r := range runs {
		if r.HasFailed() || len(r.Laps) != r.Epochs+2 || len(r.LapCPU) != len(r.Laps) || len(r.LapWait) != len(r.Laps) {
			t.Errorf("run %+v", r)
		}
		// The laps are all that lies between the start of the process and its
		// end, less what comes before and after them.
		total := r.Before + r.After
		for _, lap := range r.Laps {
			total += lap
		}
		if d := total - r.Wall; d > 1e-6 || d < -1e-6 {
			t.Errorf("laps and ends sum to %v of %v", total, r.Wall)
		}
		if r.Before <= 0 || r.After < 0 || r.CPUs != 2 || r.Name != "sh" {
			t.Errorf("run %+v", r)
		}
	}
	if err := s.Full(t.Context(), []string{"cpu"}, 2); err != nil {
		t.Fatal(err)
	}
	key := s.Spec.Hash("cpu")
	if full := s.Journal.Of(key, journal.Full); len(full) != 2 || full[0].Epochs != 10 {
		t.Errorf("whole runs %+v", full)
	}
}

func TestSampleOutcomes(t *testing.T) {
	tag := func(laps string) string {
		return "echo '<TIME_WRITTER_OUTPUT>[" + laps + "]</TIME_WRITTER_OUTPUT>'; sleep 0.02; "
	}
	lines := func(s *jobspec.Spec) { s.Progress = jobspec.Progress{Pattern: `^epoch (\d+)`} }
	const mark = `i=0; while [ $i -lt $1 ]; do i=$((i+1)); sleep 0.01; echo "epoch $i"; done; sleep 0.01`
	tests := []struct {
		name, script string
		change       func(*jobspec.Spec)
		err, warning string
		laps         int // of the run of 5 epochs
		first        float64
	}{
		{name: "silent", script: "sleep 0.01", warning: "no time-writer report"},
		{name: "fails", script: "echo out of luck >&2; exit 3", err: "exit status 3: out of luck"},
		{name: "other laps", script: tag("0.001"), warning: "time-writer report of 1 laps"},
		{name: "nan", script: tag("nan"), err: "not a list of finite times"},
		{name: "forged", script: "if [ $1 = 2 ]; then " + tag("900.0, 1.0, 1.0, 1.0") + "else " + tag("900.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0") + "fi", err: "s in a run of"},
		{name: "torn", script: "echo '<TIME_WRITTER_OUTPUT>[1.0, 2.'", err: "torn time-writer report"},
		{name: "leaves a child", script: "sleep 60 & " + tellLaps, warning: "killed 1 process that outlived the job", laps: 7},
		{name: "marks", script: mark, change: lines, laps: 6, first: 1},
		{name: "marks missing", script: "echo lap 1", change: lines, err: `no line matches '^epoch (\d+)'`},
		{name: "ends by itself", script: strings.ReplaceAll(mark, "-lt $1", "-lt 3"), change: func(s *jobspec.Spec) { s.Sample.MinEpochs = []int{6, 9} }, warning: "by itself", laps: 4, first: 1},
		{name: "ends by itself, by report", script: tag("0.001, 0.002, 0.002, 0.001"), change: func(s *jobspec.Spec) { s.Sample.MinEpochs = []int{5, 5} }, warning: "by itself", laps: 4},
		{name: "lines of themselves", script: mark, laps: 6, first: 0},
		{name: "bars of tqdm", script: strings.ReplaceAll(mark, `echo "epoch $i"`, `printf '\r%d%%|# | %d/%d [00:01<00:02]' $((100*i/$1)) $i $1; printf '\r | 7/9 ['`) + "; echo", laps: 6, first: 1},
		{name: "a line more", script: mark + "; echo 'the best was epoch 1'", laps: 6},
		{name: "no growth", script: "echo epoch 1; sleep 0.01; echo epoch 1", warning: `the number in lines like "epoch i" came 2 times and does not grow (--pattern selects progress lines): only whole runs count`},
		{name: "marks all at once", script: `sleep 0.3; i=0; o=; while [ $i -lt $1 ]; do i=$((i+1)); o="${o}epoch $i\n"; done; printf "$o"`, change: lines, warning: "the job buffers its output"},
		{name: "environment", script: `[ "$GREETING" = hello ] && [ -n "$TMPDIR" ]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := sampler(t, tt.script, tt.change)
			if err := sampled(t.Context(), s, []string{"cpu"}); err != nil {
				t.Fatal(err)
			}
			for _, r := range s.Journal.Runs {
				if (tt.err == "") == r.HasFailed() || !strings.Contains(r.Error, tt.err) {
					t.Errorf("error %q, want %q", r.Error, tt.err)
				}
				if !slices.ContainsFunc(append(r.Warnings, ""), func(w string) bool { return strings.Contains(w, tt.warning) }) {
					t.Errorf("warnings %q, want %q", r.Warnings, tt.warning)
				}
				if (tt.warning == "by itself") != (r.Asked > r.Epochs) {
					t.Errorf("%d epochs of %d asked for", r.Epochs, r.Asked)
				}
				// On a busy machine lines come together, which makes one mark of them, and a
				// late first line hides that the set-up before it was short.
				late := func(first float64) bool { return tt.first == 0 && first == 1 }
				if marks := r.Timeline(); max(r.Asked, r.Epochs) == 5 && (len(r.Laps) > tt.laps || tt.laps > 0 && len(marks) == 0 || len(r.Laps) == tt.laps && tt.laps > 0 && marks[0].Number != tt.first && !late(marks[0].Number)) {
					t.Errorf("%d laps, marks %v: %+v", len(r.Laps), marks, r)
				}
			}
		})
	}
}

func TestSampleDevices(t *testing.T) {
	s := sampler(t, `[ "$2" = --cpu ] || { echo no GPU code >&2; exit 1; }`+tellLaps, nil)
	s.Machine = Machine{CPUs: 2}
	if err := sampled(t.Context(), s, []string{"gpu", "cpu"}); err != nil {
		t.Fatal(err)
	}
	gpu := s.Journal.Of(s.Spec.Hash("gpu"), journal.Sample)
	if len(gpu) != mostFailures || gpu[0].Error != "exit status 1: no GPU code" || len(s.Journal.Runs) != mostFailures+1 {
		t.Errorf("runs %+v", s.Journal.Runs)
	}
	if err := sampled(t.Context(), s, []string{"tpu"}); !errors.Is(err, jobspec.ErrInvalid) {
		t.Errorf("unknown device: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s.Spec.Command = append(s.Spec.Command, "other")
	if err := sampled(ctx, s, []string{"cpu"}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestFindMachine(t *testing.T) {
	root := t.TempDir()
	if m := FindMachine(root, 3); m.GPU || m.CPUs != 3 || m.load() != 0 {
		t.Errorf("empty: %+v", m)
	}
	for name, text := range map[string]string{"dev/nvidia0": "", "proc/loadavg": "1.25 0.5 0.1 1/100 1\n"} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if m := FindMachine(root, 3); !m.GPU || m.load() != 1.25 {
		t.Errorf("got %+v, load %v", m, m.load())
	}
}

// TestSampleCutOff: the epochs that a sample had finished when its time or the user ended it
// count; a sample without progress does not.
func TestSampleCutOff(t *testing.T) {
	const script = `i=0; while [ $i -lt 8 ]; do i=$((i+1)); sleep 0.05; echo "epoch $i loss 0.5"; done; : >up; sleep 600`
	timeout := time.Second
	for causes := []string{"timeout", "interrupt", "interrupt without progress"}; len(causes) > 0; {
		cause := causes[0]
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		text := script
		if strings.Contains(cause, "without") {
			text = "sleep 600; echo $1"
			time.AfterFunc(100*time.Millisecond, cancel)
		}
		s := sampler(t, text, func(spec *jobspec.Spec) {
			spec.Epochs, spec.Sample.MinEpochs = 100, []int{10, 10}
			if cause == "timeout" {
				spec.Sample.Timeout = timeout
			}
		})
		if cause == "interrupt" {
			s.Watch = func(marks []progress.Mark) {
				if len(marks) >= 5 {
					cancel()
				}
			}
		}
		s.Devices = []string{"cpu"}
		err := s.Sample(ctx)
		if cause != "timeout" && !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", cause, err)
		}
		runs := s.Journal.Runs
		if cause == "timeout" && timeout < time.Minute && (len(runs) == 0 || runs[0].Epochs < 4) {
			timeout *= 2 // the machine is slow
			continue
		}
		causes = causes[1:]
		if strings.Contains(cause, "without") {
			if len(runs) != 0 {
				t.Errorf("%s: %+v", cause, runs)
			}
			continue
		}
		if len(runs) == 0 || runs[0].HasFailed() || runs[0].Epochs < 4 || runs[0].Epochs > 8 || runs[0].Asked != 10 || runs[0].Stopped == "" || (runs[0].Timeout == 1) != (cause == "timeout") {
			t.Errorf("%s: %+v", cause, runs)
		}
	}
}
