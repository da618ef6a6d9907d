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
		4, 12, 30, 52.5, 90, 810, 2880, 5, 6.5, 7, 255.25, 1000, 0, 0, 0, 0, 0,
		1, 3, 60, 60, 60, 60, 60, 0, 0, 0, 0, 0, 59, 59, 59, 59, 59,
	}
	if diff := cmp.Diff(want, l.Take(pending, running)); diff != "" {
		t.Error(diff)
	}
	if got := l.Take(nil, nil); got != (Snapshot{}) {
		t.Errorf("an empty queue gives %v, want zeros", got)
	}
	if n := len(Columns()); n != Features {
		t.Errorf("%d columns, want %d", n, Features)
	}
}

// TestEpisode checks what holds for every sample: no snapshot is later than
// the decision, a day is covered, rewards add up, and the last probe is the
// reactive one.
func TestEpisode(t *testing.T) {
	w := month(t)
	p := plan()
	for e := range 20 {
		background, err := p.Background(t.Context(), w, e)
		if err != nil {
			t.Fatal(err)
		}
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
			if s.HistoryEnd > s.Decision || s.HistoryEnd <= s.Decision-SnapshotSeconds || len(s.X) != Steps*Features {
				t.Errorf("episode %d, probe %d: history of %d ends at %d, the decision is at %d", e, i, len(s.X), s.HistoryEnd, s.Decision)
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
	background, err := p.Background(t.Context(), w, e)
	if err != nil {
		t.Fatal(err)
	}
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
		b, err := p.Background(t.Context(), cut, e)
		if err != nil {
			t.Fatal(err)
		}
		pair, camera, _, _, err := Begin(b, p.Submit(e), p.Service)
		if err != nil {
			t.Fatal(err)
		}
		camera.RunUntil(pair, s.Decision)
		h, err := camera.History(pair)
		if err != nil {
			t.Fatal(err)
		}
		x := make([]float64, Steps*Features)
		h.Tensor(x)
		if diff := cmp.Diff(s.X, x); diff != "" {
			t.Errorf("probe %d sees later arrivals: %s", i, diff)
		}
	}
}

func silent(int) {}

func files(t *testing.T, dir string) map[string]string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		out[e.Name()] = string(b)
	}
	return out
}

// TestGenerate: one worker or three, in one run or stopped and gone on, the files are the
// same.
func TestGenerate(t *testing.T) {
	w := month(t)
	p := plan()
	generate := func(dir string, workers int) {
		t.Helper()
		if err := p.Generate(t.Context(), w, dir, workers, silent); err != nil {
			t.Fatal(err)
		}
	}
	whole := t.TempDir()
	generate(whole, 1)
	want := files(t, whole)
	if len(want) != 1+2*3 {
		t.Fatalf("%d files", len(want))
	}
	// As a kill in the middle leaves it: a block whose histories are there and
	// whose samples are not, and a block cut short. A file that is only called like a
	// temporary one may be a user's, and stays.
	similar := filepath.Join(whole, "."+filepath.Base(historiesFile(whole, 2))+"123")
	if err := errors.Join(os.WriteFile(similar, nil, 0o600), os.Truncate(historiesFile(whole, 0), 1000)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{samplesFile(whole, 1), samplesFile(whole, 2), historiesFile(whole, 2)} {
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Load(whole, nil); err == nil {
		t.Error("a part of the blocks is loaded")
	}
	generate(whole, 3)
	if err := os.Remove(similar); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(want, files(t, whole)); diff != "" {
		t.Error("what goes on differs from the whole")
	}
	set, err := Load(whole, nil)
	if err != nil {
		t.Fatal(err)
	}
	background, err := p.Background(t.Context(), w, 13)
	if err != nil {
		t.Fatal(err)
	}
	played, err := p.Episode(background, 13)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(played, set.Samples[13*p.Probes:14*p.Probes]); diff != "" || len(set.Samples) != p.Episodes*p.Probes {
		t.Errorf("%d samples; what is read is not what was played: %s", len(set.Samples), diff)
	}
	p.Interval++
	if err := p.Generate(t.Context(), w, whole, 1, silent); !errors.Is(err, ErrPlan) {
		t.Errorf("another plan in the same folder: %v", err)
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
		if err := p.Generate(t.Context(), w, t.TempDir(), 1, silent); !errors.Is(err, ErrPlan) {
			t.Errorf("%s: %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := plan().Generate(ctx, w, t.TempDir(), 1, silent); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
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
