package validation

import (
	"errors"
	"math"
	"reflect"
	"testing"

	"github.com/foretime/foretime/mirage/internal/chain"
	"github.com/foretime/foretime/mirage/internal/cluster"
	"github.com/foretime/foretime/mirage/internal/policy"
	"github.com/foretime/foretime/mirage/internal/simulator"
	"github.com/foretime/foretime/mirage/internal/trace"
	"github.com/foretime/foretime/mirage/internal/trace/synth"
)

type failing struct{}

var errPlanted = errors.New("planted")

func (failing) Decide(*policy.State) (policy.Decision, error) { return policy.Decision{}, errPlanted }

// patient waits, and its answers stand for an hour.
type patient struct{}

func (patient) Decide(s *policy.State) (policy.Decision, error) {
	return policy.Decision{Next: s.Now + 3600}, nil
}

func TestPlayEpisode(t *testing.T) {
	jobs, err := synth.Default().Generate(t.Context(), synth.Settings{Days: 21, Start: 1_670_000_000, NodeHoursPerDay: .85 * 40 * 24, MaxNodes: 40, Seed: 4})
	if err != nil {
		t.Fatal(err)
	}
	w, err := simulator.NewWorkload(jobs, simulator.Config{Machine: cluster.Machine{Nodes: 40}, Rules: cluster.Defaults(cluster.Slurm)})
	if err != nil {
		t.Fatal(err)
	}
	background := w.New()
	service := chain.Service{Nodes: 4, Limit: 24 * 3600}
	submit := int64(1_670_000_000 + 8*86400)
	play := func(p policy.Policy) Played {
		played, err := playEpisode(background, submit, service, []policy.Policy{p})
		if err != nil {
			t.Fatal(err)
		}
		return played[0]
	}
	reactive, early := play(policy.Fixed{}), play(policy.Fixed{LeadHours: math.Inf(1)})
	if reactive.Submitted != reactive.PredEnd || reactive.Decision < 24*6 {
		t.Errorf("reactive %+v", reactive)
	}
	if seldom := play(patient{}); seldom.Outcome != reactive.Outcome || seldom.Decision < 24 || seldom.Decision > 26 {
		t.Errorf("asked each hour: %+v, reactive %+v", seldom, reactive)
	}
	if early.Submitted != early.PredStart || early.Decision != 1 || early.SuccStart > reactive.SuccStart {
		t.Errorf("never late %+v, reactive %+v", early, reactive)
	}
	fixed := play(policy.Fixed{LeadHours: 6})
	if lead := fixed.PredEnd - fixed.Submitted; lead > 6*3600 || lead <= 6*3600-600 {
		t.Errorf("submitted %d s ahead, want 6 h less up to 10 minutes", lead)
	}
	if again := play(policy.Fixed{LeadHours: 6}); !reflect.DeepEqual(again, fixed) {
		t.Errorf("%+v, then %+v", fixed, again)
	}
	if _, err := playEpisode(background, submit, service, []policy.Policy{failing{}}); !errors.Is(err, errPlanted) {
		t.Errorf("error %v", err)
	}
	if _, err := playEpisode(background, submit, chain.Service{Nodes: 41, Limit: 60}, []policy.Policy{policy.Fixed{}}); !errors.Is(err, cluster.ErrOversize) {
		t.Errorf("error %v", err)
	}
}

// TestInTurn: the second task of an array starts when the first one ends, before younger jobs
// of others; a successor that is submitted then has to wait for them.
func TestInTurn(t *testing.T) {
	other := trace.Job{ID: "1", User: "u", Submit: 47 * 3600, Start: 47 * 3600, End: 50 * 3600, Limit: 3 * 3600, Nodes: 3}
	config := simulator.Config{Machine: cluster.Machine{Nodes: 4}, Rules: cluster.Defaults(cluster.Slurm), Caps: []int64{1}}
	w, err := simulator.NewWorkload([]trace.Job{other}, config)
	if err != nil {
		t.Fatal(err)
	}
	service := chain.Service{Nodes: 2, Limit: 48 * 3600}
	for name, tt := range map[string]struct {
		player       Player
		interruption float64
	}{"array": {InTurn, 0}, "reactive": {With(policy.Fixed{}), 3}} {
		played, err := tt.player(w.NewFrom(0), 0, service)
		if err != nil {
			t.Fatal(err)
		}
		if o := played[0].Outcome; o.InterruptionHours() != tt.interruption || o.OverlapHours() != 0 || o.PredEnd != 48*3600 {
			t.Errorf("%s: %+v, want %v h without a service", name, o, tt.interruption)
		}
	}
}
