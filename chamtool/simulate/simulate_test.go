package simulate

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestParameters(t *testing.T) {
	good := Parameters{Ranks: 4, TasksPerRank: 3, Policy: Proactive}
	for name, change := range map[string]func(*Parameters){
		"no ranks":        func(p *Parameters) { p.Ranks = 0 },
		"no tasks":        func(p *Parameters) { p.TasksPerRank = 0 },
		"too many":        func(p *Parameters) { p.Ranks, p.TasksPerRank = math.MaxInt, math.MaxInt },
		"policy":          func(p *Parameters) { p.Policy = "best" },
		"NaN":             func(p *Parameters) { p.Imbalance = math.NaN() },
		"negative cost":   func(p *Parameters) { p.MigrationCost = -1 },
		"infinite delay":  func(p *Parameters) { p.MigrationDelay = math.Inf(1) },
		"over the ranks'": func(p *Parameters) { p.Imbalance = 4 },
	} {
		p := good
		change(&p)
		if _, err := Run(p); !errors.Is(err, ErrParameter) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Run(good); err != nil {
		t.Error(err)
	}
}

func TestFactors(t *testing.T) {
	for _, n := range []int{1, 2, 8, 1000} {
		for _, imbalance := range []float64{0, 0.3, 1, 5} {
			if imbalance > float64(n-1) {
				continue
			}
			sum, most := 0.0, 0.0
			for _, f := range factors(n, imbalance) {
				if !(f >= 0) {
					t.Fatalf("factor %v", f)
				}
				sum, most = sum+f, max(most, f)
			}
			if math.Abs(sum/float64(n)-1) > 1e-9 || math.Abs(most-1-imbalance) > 1e-6 {
				t.Errorf("%d ranks, imbalance %v: mean %v, most %v", n, imbalance, sum/float64(n), most)
			}
		}
	}
}

// Whatever the program and the policy: no work is lost or made, nothing ends
// before the mean load, and the same seed gives the same result.
func TestAnyProgram(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := Parameters{
			Ranks: rapid.IntRange(1, 30).Draw(t, "ranks"), TasksPerRank: rapid.IntRange(1, 40).Draw(t, "tasks"),
			MigrationCost:  rapid.Float64Range(0, 0.02).Draw(t, "cost"),
			MigrationDelay: rapid.Float64Range(0, 0.05).Draw(t, "delay"), Error: rapid.Float64Range(0, 200).Draw(t, "error"),
			Seed: rapid.Uint64().Draw(t, "seed"), Policy: rapid.SampledFrom(Policies()).Draw(t, "policy"),
		}
		p.Imbalance = rapid.Float64Range(0, float64(p.Ranks-1)).Draw(t, "imbalance")
		r, err := Run(p)
		if err != nil {
			t.Fatal(err)
		}
		work := 0.0
		if err := p.check(); err != nil {
			t.Fatal(err)
		}
		s := draw(p)
		for _, x := range s.actual {
			work += x
		}
		s.play()
		did := 0.0
		for i := range s.ranks {
			did += s.ranks[i].did
			if s.ranks[i].did > r.MakespanSeconds*(1+1e-9) {
				t.Fatalf("rank %d worked %v s of %v", i, s.ranks[i].did, r.MakespanSeconds)
			}
		}
		if math.Abs(did-work) > 1e-9*work || r.MakespanSeconds < r.IdealSeconds*(1-1e-9) || s.last != r.MakespanSeconds || s.migrations != r.Migrations {
			t.Fatalf("%+v: did %v of %v", r, did, work)
		}
		if (p.Policy == None || p.Ranks == 1) && r.Migrations != 0 {
			t.Fatalf("%d migrations", r.Migrations)
		}
	})
}

// The order that the policies are for, at the error that was measured on
// recorded logs.
func TestPolicies(t *testing.T) {
	for _, ranks := range []int{8, 128} {
		span := map[Policy]float64{}
		for _, policy := range Policies() {
			r, err := Run(Parameters{Ranks: ranks, TasksPerRank: 100, Imbalance: 1, MigrationCost: 1e-4, MigrationDelay: 5e-4, Error: 36, Seed: 1, Policy: policy})
			if err != nil {
				t.Fatal(err)
			}
			span[policy] = r.MakespanSeconds
		}
		if !(span[Proactive] <= 1.05*span[Oracle]) || !(span[Proactive] < span[Steal]) || !(span[Steal] < span[Reactive]) || !(span[Reactive] < span[None]) {
			t.Errorf("%d ranks: %v", ranks, span)
		}
	}
}

func BenchmarkRun(b *testing.B) {
	for _, policy := range Policies() {
		b.Run("policy="+string(policy), func(b *testing.B) {
			for b.Loop() {
				if _, err := Run(Parameters{Ranks: 1000, TasksPerRank: 100, Imbalance: 1, MigrationCost: 1e-4, MigrationDelay: 5e-4, Error: 36, Seed: 1, Policy: policy}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
