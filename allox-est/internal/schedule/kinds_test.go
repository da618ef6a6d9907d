package schedule

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// kinds returns a job with times on further kinds of nodes alone.
func kinds(id int, user string, arrival float64, seconds ...float64) Record {
	j := job(id, user, arrival, inf, inf)
	for k, x := range seconds {
		j.On[Other+Device(k)] = Demand{Seconds: x}
	}
	return j
}

// Three kinds of nodes under every policy: the rules hold, and no schedule beats
// the bound.
func TestFurtherKinds(t *testing.T) {
	c := Cluster{Others: []Kind{{"v100", 2}, {"p100", 1}, {"k80", 3}}}
	random := rand.New(rand.NewPCG(1, 1))
	var jobs []Record
	for i := range 60 {
		fast := 10 + 90*random.Float64()
		jobs = append(jobs, kinds(i, fmt.Sprint("u", i%3), 4*float64(i), fast, fast*(1+random.Float64()), fast*(2+4*random.Float64())))
	}
	for _, name := range Policies.Names() {
		p, err := New(name, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		s, err := Replay(t.Context(), jobs, c, p, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := audit(s); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if sum := s.Summary(); sum.MeanJCT < sum.LowerBound*(1-1e-9) {
			t.Errorf("%s: mean %v below the bound %v", name, sum.MeanJCT, sum.LowerBound)
		}
		used := map[string]bool{}
		for _, row := range s.Gantt().Rows {
			used[strings.TrimRight(row, "0123456789")] = true
		}
		if len(s.Gantt().Rows) != 6 || !used["k"] && !used["v"] {
			t.Errorf("rows %v", s.Gantt().Rows)
		}
	}
}

// One job alone takes its fastest kind, whichever that is.
func TestFastestKind(t *testing.T) {
	c := Cluster{CPUNodes: 1, Others: []Kind{{"a", 1}, {"b", 1}}}
	for _, name := range Policies.Names() {
		p, err := New(name, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		s, err := Replay(t.Context(), []Record{kinds(1, "u", 0, 5, 9)}, c, p, nil)
		if err != nil {
			t.Fatal(err)
		}
		if on := s.Runs[0].Parts[0]; c.Name(on.Device) != "a" {
			t.Errorf("%s: ran on %s", name, c.Name(on.Device))
		}
	}
}

// TestThroughputTable places jobs of measured throughputs on three kinds of GPUs,
// from little load to too much, estimates 10 % off: each policy's mean and 95 %
// completion time and fairness.
func TestThroughputTable(t *testing.T) {
	rates := throughputs(t)
	c := Cluster{Others: []Kind{{"v100", 4}, {"p100", 4}, {"k80", 4}}}
	for _, gap := range []float64{4000, 1500, 900, 600} {
		jobs := measured(rates, 400, gap)
		t.Logf("a job every %.0f s:", gap)
		for _, name := range Policies.Names() {
			p, err := New(name, Settings{})
			if err != nil {
				t.Fatal(err)
			}
			s, err := Replay(context.Background(), jobs, c, p, nil)
			if err != nil {
				t.Fatal(err)
			}
			sum := s.Summary()
			t.Logf("  %-9s mean %6.2f h, p95 %6.2f h, fairness %.3f, %.2f of the bound", name, sum.MeanJCT/3600, sum.P95JCT/3600, sum.Fairness, sum.MeanJCT/sum.LowerBound)
			if sum.MeanJCT < sum.LowerBound*(1-1e-9) {
				t.Errorf("%s: mean %v below the bound %v", name, sum.MeanJCT, sum.LowerBound)
			}
		}
	}
}

// measured returns jobs of the types with known rates, iterations a second on
// each kind, of half an hour to eight hours on their fastest.
func measured(rates [][3]float64, n int, gap float64) []Record {
	random := rand.New(rand.NewPCG(7, 7))
	var jobs []Record
	at := 0.0
	for i := range n {
		at += random.ExpFloat64() * gap
		rate := rates[random.IntN(len(rates))]
		hours := 0.5 * math.Pow(16, random.Float64())
		j := job(i, fmt.Sprint("u", random.IntN(10)), at, inf, inf)
		for k, r := range rate {
			j.On[Other+Device(k)] = Demand{Seconds: 3600 * hours * slices.Max(rate[:]) / r, Error: max(-0.5, 0.1*random.NormFloat64())}
		}
		jobs = append(jobs, j)
	}
	return jobs
}

// throughputs are the rates of jobs on one v100, p100 and k80.
func throughputs(t *testing.T) [][3]float64 {
	t.Helper()
	root := os.Getenv("FORETIME_DATA")
	if root == "" {
		t.Skip("set FORETIME_DATA to the folder of the measured data")
	}
	f, err := os.Open(filepath.Join(root, "gavel-throughputs", "simulation_throughputs.json.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	zip, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]map[string]map[string]any
	if err := json.NewDecoder(zip).Decode(&all); err != nil {
		t.Fatal(err)
	}
	var rates [][3]float64
	for _, name := range slices.Sorted(maps.Keys(all["v100"])) {
		if !strings.HasSuffix(name, ", 1)") {
			continue
		}
		var r [3]float64
		for k, gpu := range []string{"v100", "p100", "k80"} {
			r[k], _ = all[gpu][name]["null"].(float64)
		}
		if slices.Min(r[:]) > 0 {
			rates = append(rates, r)
		}
	}
	if len(rates) < 20 {
		t.Fatalf("%d jobs", len(rates))
	}
	return rates
}
