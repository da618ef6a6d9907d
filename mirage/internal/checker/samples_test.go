package checker

import (
	"fmt"
	"math"
	"testing"

	"github.com/foretime/foretime/mirage/internal/chain"
	"github.com/foretime/foretime/mirage/internal/cluster"
	"github.com/foretime/foretime/mirage/internal/samples"
	"github.com/foretime/foretime/mirage/internal/simulator"
	"github.com/foretime/foretime/mirage/internal/trace/synth"
)

// TestSamples judges samples as generate makes them, and their histories.
func TestSamples(t *testing.T) {
	const epoch = 1_670_000_000
	jobs, err := synth.Default().Generate(t.Context(), synth.Settings{Days: 28, Start: epoch, NodeHoursPerDay: .9 * 40 * 24, MaxNodes: 40, Seed: 9})
	if err != nil {
		t.Fatal(err)
	}
	w, err := simulator.NewWorkload(jobs, simulator.Config{Machine: cluster.Machine{Nodes: 40}, Rules: cluster.Defaults(cluster.Slurm)})
	if err != nil {
		t.Fatal(err)
	}
	p := samples.Plan{Episodes: 26, Probes: 3, Interval: 4 * 3600, Start: epoch + 9*86400, History: 9 * 86400, Service: chain.Service{Nodes: 4, Limit: 12 * 3600}}
	var r Report
	r.checked(13, 14)
	err = p.Each(t.Context(), w, 1, func(background *simulator.Simulator, episode int) error {
		probes, err := p.Episode(background, episode)
		if err != nil {
			return err
		}
		pair, camera, _, _, err := samples.Begin(background, p.Submit(episode), p.Service)
		if err != nil {
			return err
		}
		for i, s := range probes {
			camera.RunUntil(pair.Simulation(), s.Decision)
			h := camera.History(pair)
			r.sample(s, i == p.Probes-1)
			r.history(s, h)
		}
		return nil
	})
	if err != nil || r.Err() != nil {
		t.Errorf("%v, %v", err, r.Err())
	}
}

// The shape of a history and the place of things in it.
const (
	historySteps = 144
	stepSeconds  = 600
	pendingFrom  = 0
	runningFrom  = 12
)

// sample checks invariant 13: rewards add up, and the last probe of each episode is the reactive
// one.
func (r *Report) sample(s samples.Sample, reactive bool) {
	id := fmt.Sprintf("episode %d probe %d", s.Episode, s.Probe)
	switch {
	case s.Reward != s.SuccStart-s.PredEnd:
		r.breach(13, id, s.Decision, "reward %d, want %d", s.Reward, s.SuccStart-s.PredEnd)
	case s.SuccStart < s.Decision:
		r.breach(13, id, s.Decision, "the successor starts %d s before it is submitted", s.Decision-s.SuccStart)
	case reactive && (s.Decision != s.PredEnd || s.Reward < 0):
		r.breach(13, id, s.Decision, "the reactive probe is %d s from the end, with reward %d", s.PredEnd-s.Decision, s.Reward)
	}
}

// history checks invariant 14: a history covers the day before its decision, and each snapshot
// obeys its definition.
func (r *Report) history(s samples.Sample, h samples.History) {
	id := fmt.Sprintf("episode %d probe %d", s.Episode, s.Probe)
	if n := len(h.Moments); n != historySteps || h.Moments[n-1].At > s.Decision || h.Moments[n-1].At <= s.Decision-stepSeconds {
		r.breach(14, id, s.Decision, "the history of %d snapshots ends at %d", n, h.Moments[n-1].At)
		return
	}
	for i, m := range h.Moments {
		if what := wrong(m.Snapshot); what != "" {
			r.breach(14, id, s.Decision, "snapshot %d: %s", i, what)
			return
		}
	}
	// At the decision the predecessor has waited and run for as long as it is
	// submitted; a pending one has not run.
	if running := s.Decision >= s.PredStart; running && h.ElapsedSeconds != float64(s.Decision-s.PredStart) || h.WaitSeconds < 0 || h.ElapsedSeconds < 0 {
		r.breach(14, id, s.Decision, "the predecessor has run %v s, want %d", h.ElapsedSeconds, s.Decision-s.PredStart)
	}
}

// wrong says what is impossible in a snapshot.
func wrong(x samples.Snapshot) string {
	for from, quantities := range map[int]int{pendingFrom: 2, runningFrom: 3} {
		jobs, nodes := x[from], x[from+1]
		if jobs != math.Trunc(jobs) || jobs < 0 || nodes < jobs {
			return fmt.Sprintf("%v jobs on %v nodes", jobs, nodes)
		}
		for q := range quantities {
			v := x[from+2+5*q : from+7+5*q]
			for k := range v {
				if v[k] < 0 || k > 0 && v[k] < v[k-1] || jobs == 0 && v[k] != 0 || jobs == 1 && v[k] != v[0] {
					return fmt.Sprintf("quantiles %v of %v jobs", v, jobs)
				}
			}
		}
	}
	return ""
}
