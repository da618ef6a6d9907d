package synth

import (
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestGenerate(t *testing.T) {
	p := Default()
	s := Settings{Days: 60, Start: 1_670_000_000, Seed: 3, NodeHoursPerDay: 1300}
	jobs, err := p.Generate(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	again, _ := p.Generate(t.Context(), s)
	if diff := cmp.Diff(jobs, again); diff != "" {
		t.Error("two draws with one seed differ")
	}
	work := 0.0
	for i, j := range jobs {
		if i > 0 && j.Submit < jobs[i-1].Submit || j.Duration() > j.Limit || j.Nodes < 1 {
			t.Fatalf("job %+v", j)
		}
		work += float64(j.Duration()) * float64(j.Nodes) / 3600
	}
	// Sessions are heavy-tailed: sixty days come within a fifth of the mean.
	if got := work / 60; math.Abs(got-1300) > 260 {
		t.Errorf("%.0f node-hours a day, want about 1300", got)
	}
}

// TestFitRecovers: a profile fitted to what was drawn from another is close
// to it in what matters for a queue.
func TestRefuses(t *testing.T) {
	none := *Default()
	none.Classes = nil
	for _, tt := range []struct {
		name    string
		profile *Profile
		s       Settings
	}{
		{"nothing asked for", Default(), Settings{}},
		{"negative work", Default(), Settings{Jobs: 1, NodeHoursPerDay: -1}},
		{"no classes", &none, Settings{Jobs: 1}},
		{"empty profile", &Profile{}, Settings{Jobs: 1}},
	} {
		if _, err := tt.profile.Generate(t.Context(), tt.s); !errors.Is(err, ErrProfile) {
			t.Errorf("%s: error %v", tt.name, err)
		}
	}
}
