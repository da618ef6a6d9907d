package samples

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foretime/foretime/mirage/internal/chain"
	"github.com/foretime/foretime/mirage/internal/cluster"
	"github.com/foretime/foretime/mirage/internal/simulator"
	"github.com/foretime/foretime/mirage/internal/trace/synth"
)

const epoch = 1_670_000_000

func month(t testing.TB) *simulator.Workload {
	jobs, err := synth.Default().Generate(t.Context(), synth.Settings{Days: 28, Start: epoch, NodeHoursPerDay: .9 * 40 * 24, MaxNodes: 40, Seed: 9})
	if err != nil {
		t.Fatal(err)
	}
	w, err := simulator.NewWorkload(jobs, simulator.Config{Machine: cluster.Machine{Nodes: 40}, Rules: cluster.Defaults(cluster.Slurm)})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func plan() Plan {
	return Plan{Episodes: 26, Probes: 3, Interval: 4 * 3600, Start: epoch + 9*86400, History: 9 * 86400, Service: chain.Service{Nodes: 4, Limit: 12 * 3600}}
}

func TestTake(t *testing.T) {
	// numpy 1.24: numpy.percentile([30, 60, 120, 2880], [0, 25, 50, 75, 100])
	// is [30, 52.5, 90, 810, 2880], of [5, 7, 7, 1000] it is
	// [5, 6.5, 7, 255.25, 1000].
	pending := []Pending{{60, 2, 7}, {30, 1, 1000}, {2880, 8, 5}, {120, 1, 7}}
	running := []Running{{60, 3, 0, 59}}
	var l Lens
	want := Snapshot{
		4, 12, 30, 52.5, 90, 810, 2880, 5, 6.5, 7, 255.25, 1000,
		1, 3, 60, 60, 60, 60, 60, 0, 0, 0, 0, 0, 59, 59, 59, 59, 59,
	}
	if diff := cmp.Diff(want, l.Take(pending, running)); diff != "" {
		t.Error(diff)
	}
	if got := l.Take(nil, nil); got != (Snapshot{}) {
		t.Errorf("an empty queue gives %v, want zeros", got)
	}
	if n := len(columns()); n != features {
		t.Errorf("%d columns, want %d", n, features)
	}
}

// warm returns a simulation of the other jobs that has come to the day before an episode.
func warm(t *testing.T, p Plan, w *simulator.Workload, episode int) *simulator.Simulator {
	t.Helper()
	s := w.NewFrom(p.Start - p.History)
	if err := p.forward(t.Context(), s, episode); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestEpisode checks what holds for every sample: no snapshot is later than
// the decision, a day is covered, rewards add up, and the last probe is the
// reactive one.
func TestEpisode(t *testing.T) {
	w := month(t)
	p := plan()
	for e := range 20 {
		background := warm(t, p, w, e)
		samples, err := p.Episode(background, e)
		if err != nil {
			t.Fatal(err)
		}
		if len(samples) != p.Probes {
			t.Fatalf("%d samples", len(samples))
		}
		pair, err := chain.Begin(background, p.Submit(e), p.Service)
		if err != nil {
			t.Fatal(err)
		}
		reactive, err := pair.Decisions(func(*chain.Pair) (bool, error) { return false, nil })
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range samples {
			if len(s.X) != len(SummaryColumns()) {
				t.Errorf("episode %d, probe %d: history of %d", e, i, len(s.X))
			}
			if s.Reward != s.SuccStart-s.PredEnd || s.SuccStart < s.Decision || s.PredEnd-s.PredStart != p.Service.Limit {
				t.Errorf("episode %d, probe %d: %+v", e, i, s)
			}
		}
		last := samples[p.Probes-1]
		if last.Reward != reactive.RewardSeconds() || last.Decision != reactive.Submitted || last.Reward < 0 {
			t.Errorf("episode %d: the last probe is %+v, reactive %+v", e, last, reactive)
		}
	}
}

// TestHistoryIsDecisionTime: what is in a history does not depend on the
// arrivals after the decision.
func TestHistoryIsDecisionTime(t *testing.T) {
	w := month(t)
	p := plan()
	const e = 7
	background := warm(t, p, w, e)
	whole, err := p.Episode(background, e)
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range whole {
		n := 0
		for n < len(w.Jobs) && w.Jobs[n].Submit <= s.Decision {
			n++
		}
		cut, err := simulator.NewWorkload(w.Jobs[:n], w.Config)
		if err != nil {
			t.Fatal(err)
		}
		b := warm(t, p, cut, e)
		pair, camera, _, _, err := Begin(b, p.Submit(e), p.Service)
		if err != nil {
			t.Fatal(err)
		}
		camera.RunUntil(pair.Simulation(), s.Decision)
		h := camera.History(pair)
		if diff := cmp.Diff(s.X, h.Summary()); diff != "" {
			t.Errorf("probe %d sees later arrivals: %s", i, diff)
		}
	}
}

func silent() {}

// TestGenerate checks that one worker and three write the same files, and that the samples read
// from them are those that were played.
func TestGenerate(t *testing.T) {
	w := month(t)
	p := plan()
	var files []string
	dir := filepath.Join(t.TempDir(), "samples")
	for _, workers := range []int{1, 3} {
		set, err := p.Generate(t.Context(), w, workers, silent)
		if err != nil {
			t.Fatal(err)
		}
		if err := set.Save(dir); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(dir, samplesFile))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, string(b))
	}
	if files[0] != files[1] {
		t.Error("one worker and three write different files")
	}
	set, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	played, err := p.Episode(warm(t, p, w, 13), 13)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(played, set.Samples[13*p.Probes:14*p.Probes]); diff != "" || len(set.Samples) != p.Episodes*p.Probes {
		t.Errorf("%d samples; what is read is not what was played: %s", len(set.Samples), diff)
	}
	set.Samples = set.Samples[1:]
	if err := set.Save(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(dir); !errors.Is(err, ErrPlan) {
		t.Errorf("a sample is missing: %v", err)
	}
	if err := os.Truncate(filepath.Join(dir, samplesFile), 1000); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(dir); err == nil {
		t.Error("a file that was cut short is loaded")
	}
}

func TestGenerateRefuses(t *testing.T) {
	w := month(t)
	for name, change := range map[string]func(*Plan){
		"no episodes": func(p *Plan) { p.Episodes = 0 }, "one probe": func(p *Plan) { p.Probes = 1 },
		"no interval": func(p *Plan) { p.Interval = 0 }, "no nodes": func(p *Plan) { p.Service.Nodes = 0 },
		"no time": func(p *Plan) { p.Service.Limit = 0 },
	} {
		p := plan()
		change(&p)
		if _, err := p.Generate(t.Context(), w, 1, silent); !errors.Is(err, ErrPlan) {
			t.Errorf("%s: %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := plan().Generate(ctx, w, 1, silent); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestSummary(t *testing.T) {
	h := History{Moments: make([]Moment, Steps), Service: chain.Service{Nodes: 1, Limit: 172800}}
	for i := range h.Moments {
		s := &h.Moments[i].Snapshot
		s[0], s[12] = float64(i), 70
	}
	x, names := h.Summary(), SummaryColumns()
	if len(x) != len(names) {
		t.Fatalf("%d values, %d names", len(x), len(names))
	}
	got := map[string]float64{}
	for i, n := range names {
		got[n] = x[i]
	}
	for name, want := range map[string]float64{
		"pending_jobs": 143, "running_jobs": 70, "pending_jobs_change_60min": 6, "pending_jobs_mean_60min": 140.5,
		"service_limit_minutes": 2880, "remaining_seconds": 172800,
	} {
		if got[name] != want {
			t.Errorf("%s %v, want %v", name, got[name], want)
		}
	}
	if len(names) != len(got) {
		t.Error("names repeat")
	}
}

func TestProbeTimes(t *testing.T) {
	got := Plan{Probes: 4}.probeTimes(100, 100+3600+59)
	if diff := cmp.Diff([]int64{160, 1320, 2520, 3759}, got); diff != "" {
		t.Error(diff)
	}
	for _, at := range got {
		if at < 160 || math.Abs(float64(at)) > 3759 {
			t.Error(at)
		}
	}
}
