package trial

import (
	"testing"
	"time"

	"github.com/foretime/foretime/deft/internal/experiment"
	"github.com/foretime/foretime/deft/internal/policy"
)

// headlinePair returns a pair of the kind that the original was measured with: a job
// without pauses beside an urgent one.
func headlinePair(model string, height, width, urgentHeight, urgentWidth int, pause time.Duration) *experiment.Experiment {
	return &experiment.Experiment{Duration: 2 * time.Minute, MinJobs: 10, Jitter: 0.05, Models: []experiment.Model{
		{ModelName: model, OutputName: "A", BatchSize: 1, Height: height, Width: width, Terms: policy.Terms{Weight: 1}},
		{
			ModelName: "fasterrcnn_resnet50_fpn", OutputName: "B", BatchSize: 1, Height: urgentHeight, Width: urgentWidth,
			SleepTime: pause, Terms: policy.Terms{Priority: 1, Weight: 1},
		},
	}}
}

// sharedRun is a pair next to each other: the sum of both mean delays, and the urgent jobs
// that took more than 1.3 times their time alone.
type sharedRun struct {
	delay, late float64
}

// runPair runs a pair under a policy; interval is that of the background job, 0: chosen.
func runPair(t *testing.T, x *experiment.Experiment, name string, interval int, alone []float64) sharedRun {
	t.Helper()
	x.Policy, x.Models[0].Control.SyncEvery = name, interval
	x.Models[1].Deadline = time.Duration(1.3 * alone[1] * float64(time.Millisecond))
	o, err := Virtual(t.Context(), x)
	if err != nil {
		t.Fatal(err)
	}
	var r sharedRun
	for i, m := range o.Run.Models {
		r.delay += m.JCT.Mean - alone[i]
		r.late = float64(m.Missed) / float64(m.Jobs)
	}
	return r
}

// The claim of the original's paper: less delay and fewer missed deadlines than with fixed
// synchronization points, here every 4 launches as in REEF and every 20 as in Shepherd. The
// interval that sync chooses is never worse than the better of the two.
func TestStatisticsHeadline(t *testing.T) {
	const detector = "fasterrcnn_resnet50_fpn"
	ways := []struct {
		name, policy string
		interval     int
	}{{"fixed 4", "sync", 4}, {"fixed 20", "sync", 20}, {"sync", "sync", 0}, {"priority", "priority", 0}, {"edf", "edf", 0}}
	sums := make([]sharedRun, len(ways))
	var better sharedRun
	pairs := []*experiment.Experiment{
		headlinePair(detector, 1440, 2560, 720, 1280, time.Second),
		headlinePair(detector, 1440, 2560, 720, 1280, time.Second/5),
		headlinePair(detector, 720, 1280, 720, 1280, 2*time.Second),
		headlinePair("retinanet_resnet50_fpn", 1080, 1920, 480, 640, time.Second),
	}
	for k, x := range pairs {
		a, err := Alone(t.Context(), x, Virtual)
		if err != nil {
			t.Fatal(err)
		}
		alone := []float64{a.Models[0].JCT.Mean, a.Models[1].JCT.Mean}
		var runs []sharedRun
		for i, w := range ways {
			r := runPair(t, x, w.policy, w.interval, alone)
			t.Logf("pair %d, %-8s: delay %5.2f ms, late %3.0f %%", k+1, w.name, r.delay, 100*r.late)
			runs = append(runs, r)
			sums[i].delay += r.delay / float64(len(pairs))
			sums[i].late += r.late / float64(len(pairs))
		}
		better.delay += min(runs[0].delay, runs[1].delay) / float64(len(pairs))
		better.late += min(runs[0].late, runs[1].late) / float64(len(pairs))
		if least := min(runs[0].delay, runs[1].delay); runs[2].delay > least {
			t.Errorf("pair %d: sync %.2f ms, the better fixed interval %.2f", k+1, runs[2].delay, least)
		}
	}
	for i, w := range ways[2:] {
		r := sums[i+2]
		t.Logf("%s: delay %+.0f %% of the better fixed interval, late %.0f %% for %.0f %%", w.name, 100*(r.delay/better.delay-1), 100*r.late, 100*better.late)
	}
}
