package samples

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/foretime/foretime/mirage/internal/chain"
	"github.com/foretime/foretime/mirage/internal/cluster"
	"github.com/foretime/foretime/mirage/internal/simulator"
	"github.com/foretime/foretime/mirage/internal/trace"
)

// TestColumnsByName checks five percentiles of each quantity.
func TestColumnsByName(t *testing.T) {
	got := columns()
	for at, want := range map[int]string{
		0: "pending_jobs", 1: "pending_nodes", 2: "pending_limit_minutes_p0", 3: "pending_limit_minutes_p25", 4: "pending_limit_minutes_p50", 5: "pending_limit_minutes_p75", 6: "pending_limit_minutes_p100",
		7: "pending_age_seconds_p0", 11: "pending_age_seconds_p100", 12: "running_jobs", 21: "running_wait_seconds_p50", 28: "running_elapsed_seconds_p100",
	} {
		if got[at] != want {
			t.Errorf("column %d is %s, want %s", at, got[at], want)
		}
	}
}

// TestSummaryByName computes each value of a summary from its name and the history.
func TestSummaryByName(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	h := History{Moments: make([]Moment, Steps), Service: chain.Service{Nodes: 4, Limit: 80 * 60}, WaitSeconds: 700, ElapsedSeconds: 800}
	for i := range h.Moments {
		for k := range h.Moments[i].Snapshot {
			h.Moments[i].Snapshot[k] = rng.Float64()
		}
	}
	columns := columns()
	at := func(back int, column string) float64 {
		return h.Moments[Steps-1-back].Snapshot[slices.Index(columns, column)]
	}
	want := slices.Clone(columns)
	kept := []string{"pending_jobs", "pending_nodes", "pending_age_seconds_p50", "pending_age_seconds_p100", "running_jobs", "running_nodes", "running_wait_seconds_p50", "running_elapsed_seconds_p50"}
	for _, minutes := range []int{60, 360, 1430} {
		for _, c := range kept {
			want = append(want, fmt.Sprintf("%s_change_%dmin", c, minutes))
		}
	}
	for _, minutes := range []int{60, 360, 1430} {
		for _, c := range kept[:4] {
			want = append(want, fmt.Sprintf("%s_mean_%dmin", c, minutes))
		}
	}
	want = append(want, "pending_node_minutes", "predecessor_wait_seconds", "remaining_seconds", "service_nodes", "service_limit_minutes")
	if names := SummaryColumns(); !slices.Equal(names, want) {
		t.Fatalf("%q, want %q", names, want)
	}
	for i, got := range h.Summary() {
		name := want[i]
		var value float64
		switch {
		case name == "pending_node_minutes":
			for _, p := range []int{0, 25, 50, 75, 100} {
				value += at(0, "pending_nodes") * at(0, fmt.Sprintf("pending_limit_minutes_p%d", p)) / 5
			}
		case name == "predecessor_wait_seconds":
			value = 700
		case name == "remaining_seconds":
			value = 80*60 - 800
		case name == "service_nodes":
			value = 4
		case name == "service_limit_minutes":
			value = 80
		case strings.Contains(name, "_change_") || strings.Contains(name, "_mean_"):
			var minutes int
			column, rest, mean := strings.Cut(name, "_mean_")
			if !mean {
				column, rest, _ = strings.Cut(name, "_change_")
			}
			if _, err := fmt.Sscanf(rest, "%dmin", &minutes); err != nil {
				t.Fatal(err)
			}
			if !mean {
				value = at(0, column) - at(minutes/10, column)
				break
			}
			for back := range minutes / 10 {
				value += at(back, column) / float64(minutes/10)
			}
		default:
			value = at(0, name)
		}
		if math.Abs(got-value) > 1e-12*max(1, math.Abs(value)) {
			t.Errorf("%s: %v, want %v", name, got, value)
		}
	}
}

// TestTakeOfRunning checks quantiles of three running jobs, in their places.
func TestTakeOfRunning(t *testing.T) {
	var l Lens
	got := l.Take(nil, []Running{{4, 1, 10, 100}, {0, 2, 30, 500}, {8, 4, 50, 900}})
	want := Snapshot{12: 3, 7, 0, 2, 4, 6, 8, 10, 20, 30, 40, 50, 100, 300, 500, 700, 900}
	if got != want {
		t.Errorf("%v, want %v", got, want)
	}
}

// quiet is a machine of four nodes on which one job runs from 1,000 s on for ever and another
// waits for two nodes too many from 1,300 s on.
func quiet(t *testing.T) *simulator.Workload {
	t.Helper()
	jobs := []trace.Job{
		{ID: "a", User: "u", Nodes: 3, Submit: 1000, Start: 1000, End: 9e8, Limit: 9e8},
		{ID: "b", User: "v", Nodes: 2, Submit: 1300, Start: 1300, End: 1360, Limit: 7200},
	}
	w, err := simulator.NewWorkload(jobs, simulator.Config{Machine: cluster.Machine{Nodes: 4}, Rules: cluster.Defaults(cluster.EASY)})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// TestSnapshotOfASimulation compares a snapshot with the jobs that wait and run.
func TestSnapshotOfASimulation(t *testing.T) {
	s := quiet(t).New()
	s.RunUntil(1600)
	var l Lens
	got := l.Of(s)
	want := Snapshot{
		1, 2, 120, 120, 120, 120, 120, 300, 300, 300, 300, 300,
		1, 3, 15e6, 15e6, 15e6, 15e6, 15e6, 0, 0, 0, 0, 0, 600, 600, 600, 600, 600,
	}
	if got != want {
		t.Errorf("%v, want %v", got, want)
	}
}

// Snapshots come each ten minutes through the submission, 144 at it, of
// which the latest are kept.
func TestCameraOnItsGrid(t *testing.T) {
	const submit = 200_000
	w := quiet(t)
	background := w.New()
	background.RunUntil(submit - 86400)
	service := chain.Service{Nodes: 1, Limit: 5400}
	pair, c, start, end, err := Begin(background, submit, service)
	if err != nil || start != submit || end != submit+5400 {
		t.Fatalf("from %d to %d, %v", start, end, err)
	}
	if n := len(c.moments); n != 143 || c.moments[0].At != submit-143*600 || c.next != submit {
		t.Errorf("%d snapshots from %d, the next at %d", n, c.moments[0].At, c.next)
	}
	c.RunUntil(pair.Simulation(), submit+59)
	h := c.History(pair)
	if h.Moments[143].At != submit || h.Service.Nodes != 1 || h.Service.Limit != 5400 || h.WaitSeconds != 0 || h.ElapsedSeconds != 59 {
		t.Errorf("the last at %d, service %+v, waited %v s, ran %v s", h.Moments[143].At, h.Service, h.WaitSeconds, h.ElapsedSeconds)
	}
	for _, seconds := range []int64{600, 599 + 600*143, 600 * 144, 600 * 145, 600 * 300} {
		c.RunUntil(pair.Simulation(), submit+seconds)
		h := c.History(pair)
		if len(h.Moments) != 144 || len(c.moments) > 288 {
			t.Fatalf("after %d s: %d snapshots of %d", seconds, len(h.Moments), len(c.moments))
		}
		for i, m := range h.Moments {
			if want := submit + seconds/600*600 - int64(143-i)*600; m.At != want {
				t.Fatalf("after %d s: snapshot %d at %d, want %d", seconds, i, m.At, want)
			}
		}
	}
	// A predecessor that waits: two nodes of the one that is left.
	pair, c, _, _, err = Begin(background, submit, chain.Service{Nodes: 2, Limit: 5400})
	if err == nil {
		c.RunUntil(pair.Simulation(), submit+100)
		if h = c.History(pair); h.WaitSeconds != 100 || h.ElapsedSeconds != 0 {
			t.Errorf("a pending predecessor: %v s, %v s", h.WaitSeconds, h.ElapsedSeconds)
		}
	}
}

// Each field of a plan is accepted at its limit and refused a step beyond.
func TestPlanLimits(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*Plan)
		good   bool
	}{
		"one episode":        {func(p *Plan) { p.Episodes = 1 }, true},
		"none":               {func(p *Plan) { p.Episodes = 0 }, false},
		"the most":           {func(p *Plan) { p.Episodes = 1 << 24 }, true},
		"one more":           {func(p *Plan) { p.Episodes = 1<<24 + 1 }, false},
		"two probes":         {func(p *Plan) { p.Probes = 2 }, true},
		"one probe":          {func(p *Plan) { p.Probes = 1 }, false},
		"the most probes":    {func(p *Plan) { p.Probes = 1 << 12 }, true},
		"one probe more":     {func(p *Plan) { p.Probes = 1<<12 + 1 }, false},
		"a second":           {func(p *Plan) { p.Interval = 1 }, true},
		"no interval":        {func(p *Plan) { p.Interval = 0 }, false},
		"the longest":        {func(p *Plan) { p.Interval = 1 << 32 }, true},
		"a longer interval":  {func(p *Plan) { p.Interval = 1<<32 + 1 }, false},
		"no history":         {func(p *Plan) { p.History = 0 }, true},
		"a negative history": {func(p *Plan) { p.History = -1 }, false},
		"the longest one":    {func(p *Plan) { p.History = 1 << 40 }, true},
		"a longer one":       {func(p *Plan) { p.History = 1<<40 + 1 }, false},
		"a minute":           {func(p *Plan) { p.Service.Limit = 60 }, true},
		"59 seconds":         {func(p *Plan) { p.Service.Limit = 59 }, false},
		"one node":           {func(p *Plan) { p.Service.Nodes = 1 }, true},
		"no node":            {func(p *Plan) { p.Service.Nodes = 0 }, false},
	} {
		p := plan()
		tt.change(&p)
		if err := p.Check(); (err == nil) != tt.good || err != nil && !errors.Is(err, ErrPlan) {
			t.Errorf("%s: %v", name, err)
		}
	}
	p := Plan{Start: 1000, Interval: 7}
	if p.Submit(0) != 1000 || p.Submit(3) != 1021 {
		t.Errorf("episodes at %d and %d", p.Submit(0), p.Submit(3))
	}
	if !slices.Equal(ForecastShares(), []float64{1, .4}) {
		t.Errorf("shares %v", ForecastShares())
	}
}

// TestMeanOfWaits checks the mean of the first hundred.
func TestMeanOfWaits(t *testing.T) {
	waits := slices.Repeat([]float64{2, 4}, 50)
	if got := MeanWait(waits[:1]); got != 2 {
		t.Errorf("of one: %v", got)
	}
	if got := MeanWait(append(waits, 1e9)); got != 3 {
		t.Errorf("of 101: %v", got)
	}
	if got := MeanWait(nil); got != 0 {
		t.Errorf("of none: %v", got)
	}
}

// The simulation of an episode stands a day before it, and begins with an idle machine a history,
// or a day, before the start.
func TestEpisodesInOrder(t *testing.T) {
	const day = 86400
	jobs := []trace.Job{
		{ID: "a", User: "u", Nodes: 1, Submit: 1000, Start: 1000, End: 9e8, Limit: 9e8},
		{ID: "b", User: "u", Nodes: 1, Submit: 1001, Start: 1001, End: 9e8, Limit: 9e8},
	}
	w, err := simulator.NewWorkload(jobs, simulator.Config{Machine: cluster.Machine{Nodes: 4}, Rules: cluster.Defaults(cluster.EASY)})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		start, history int64
		running        int
	}{
		{1000 + day, 0, 2}, {1001 + day, 0, 1}, {1000 + day, day, 2}, {1001 + 20*day, 20 * day, 1}, {1000 + 20*day, 20 * day, 2},
	} {
		p := Plan{Episodes: 30, Probes: 2, Interval: 3600, Start: tt.start, History: tt.history, Service: chain.Service{Nodes: 1, Limit: 60}}
		var played [30]atomic.Int32
		err := p.Each(t.Context(), w, 0, func(s *simulator.Simulator, episode int) error {
			played[episode].Add(1)
			if want := tt.start + int64(episode)*3600 - day; s.Now() != want {
				return fmt.Errorf("stands at %d, want %d", s.Now(), want)
			}
			if n := len(s.Nodes().Running()); episode > 0 && n != tt.running {
				return fmt.Errorf("%d jobs run, want %d", n, tt.running)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		for e := range played {
			if played[e].Load() != 1 {
				t.Errorf("episode %d is played %d times", e, played[e].Load())
			}
		}
	}
	p := Plan{Episodes: 2, Probes: 2, Interval: 3600, Start: 1000 + day, Service: chain.Service{Nodes: 1, Limit: 60}}
	finished := 0
	set, err := p.Generate(t.Context(), w, 1, func() { finished++ })
	if err != nil || set.Manifest.LastSubmit != 1001 || len(set.Samples) != 4 || finished != 2 {
		t.Errorf("%d samples of %d episodes, the last submission at %d, %v", len(set.Samples), finished, set.Manifest.LastSubmit, err)
	}
}
