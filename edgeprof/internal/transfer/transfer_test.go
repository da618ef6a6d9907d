package transfer

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/foretime/foretime/shared/testkit/coveragetest"
	"github.com/foretime/foretime/shared/uncertainty"
)

// drawn is a table of chips whose speeds at two kinds of work differ, and of
// models that are made of both, with noise of some per cent.
func drawn(rng *rand.Rand, chips, models int, noise float64) *Table {
	t := &Table{}
	share := make([]float64, models)
	for k := range share {
		t.Models = append(t.Models, fmt.Sprintf("model-%02d", k))
		share[k] = float64(k) / float64(models-1)
	}
	for chip := range chips {
		c := Config{Board: fmt.Sprint(chip), Chip: fmt.Sprint(chip), Threads: 1 << rng.IntN(3), GPU: -1, Log: make([]float64, models)}
		one, other := rng.NormFloat64(), rng.NormFloat64()
		for k := range c.Log {
			c.Log[k] = 3 + share[k]*one + (1-share[k])*other + 0.1*float64(k) + noise*rng.NormFloat64()
		}
		t.Configs = append(t.Configs, c)
	}
	return t
}

// What two anchors tell of a table of two speeds is all but everything.
func TestRecovers(t *testing.T) {
	table := drawn(rand.New(rand.NewPCG(1, 1)), 24, 9, 0.01)
	o := Options{Anchors: 3, Seed: 1, Chips: table.Chips()[:8]}
	j, err := Judge(t.Context(), table, o)
	if err != nil {
		t.Fatal(err)
	}
	if j.Chips != 8 || j.Predictions != 8*6 || j.MedianAPE > 0.03 || j.Within10 < 0.95 || j.Baselines[NearestRun].MedianAPE < j.MedianAPE || j.Int8 != nil {
		t.Errorf("%+v", j)
	}
	again, err := Judge(t.Context(), table, o)
	if err != nil || again.Scores.MedianAPE != j.Scores.MedianAPE || *again.Coverage != *j.Coverage {
		t.Errorf("judged again: %+v, %v", again, err)
	}
}

// The model to measure next is one that has not been measured, whichever that is.
func TestNextModel(t *testing.T) {
	table := drawn(rand.New(rand.NewPCG(3, 1)), 24, 5, 0.01)
	m, err := Learn(t.Context(), table, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	all := []int{0, 1, 2, 3, 4}
	for _, missing := range all {
		anchors := slices.DeleteFunc(slices.Clone(all), func(k int) bool { return k == missing })
		if got := m.NextModel(anchors); got != table.Models[missing] {
			t.Errorf("%q is to be measured next, want %q", got, table.Models[missing])
		}
	}
	if got := m.NextModel(all); got != "" {
		t.Errorf("%q is to be measured next of no others", got)
	}
}

// Nothing of a judged chip is learnt from but its anchors: other latencies of its
// own change no prediction.
func TestHidden(t *testing.T) {
	table := drawn(rand.New(rand.NewPCG(2, 1)), 30, 8, 0.05)
	table.Configs[1].Chip = table.Configs[0].Chip // two boards of one chip
	predict := func() []uncertainty.Prediction {
		m, err := Learn(t.Context(), table.WithoutChips(table.Configs[0].Chip), 3, 1)
		if err != nil {
			t.Fatal(err)
		}
		return m.PredictMilliseconds(&table.Configs[0], []int{0, 3, 7})
	}
	before := predict()
	for _, k := range []int{1, 2, 4, 5, 6} {
		table.Configs[0].Log[k] += 5
	}
	for k := range table.Configs[1].Log {
		table.Configs[1].Log[k] -= 5
	}
	for k, p := range predict() {
		if p != before[k] {
			t.Errorf("%s: %v, %v before", table.Models[k], p, before[k])
		}
	}
}

// transferCases are models of chips drawn by the law that the table is drawn by.
func transferCases(seed uint64) []uncertainty.Case {
	rng := rand.New(rand.NewPCG(seed, 7))
	table := drawn(rng, 60, 8, 0.2)
	train, test := &Table{Models: table.Models, Configs: table.Configs[:40]}, table.Configs[40:]
	m, err := Learn(context.Background(), train, 3, 1)
	if err != nil {
		panic(err)
	}
	var cases []uncertainty.Case
	for i := range test {
		anchors := m.ChooseAnchors(&test[i], 3)
		p := m.PredictMilliseconds(&test[i], anchors)
		for _, k := range test[i].rest(anchors) {
			cases = append(cases, uncertainty.Case{Prediction: p[k], Actual: math.Exp(test[i].Log[k])})
		}
	}
	return cases
}

func TestCoverage(t *testing.T) { coverage(t, coveragetest.CheckFew) }

// TestStatisticsCoverage asks for as many cases as the promise needs.
func TestStatisticsCoverage(t *testing.T) { coverage(t, coveragetest.Check) }

func coverage(t *testing.T, check func(*testing.T, []coveragetest.Predictor)) {
	check(t, []coveragetest.Predictor{{Name: "transfer to a chip", Level: Level, Run: transferCases, Above: 0.02}})
}

func TestReadTable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.csv")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("board,soc,threads,powersave,gpu_device,model,avg_ms,run,chip\n" +
		"b,A76 2.2 GHz x 4 + A55@1800MHz,4,2,-1,net_int8,10,1,c\nb,,4,2,,net-int8,20,2,c\nb,,4,2,0,net,5,1,c\nb,,4,2,-1,net,0,1,c\n")
	table, err := ReadTable([]string{path}, true)
	if err != nil || len(table.Configs) != 2 || strings.Join(table.Models, " ") != "net net_int8" || table.Dropped != 1 {
		t.Fatalf("%+v, %v", table, err)
	}
	if c := table.Configs[0]; c.Threads != 4 || c.PowerSave != 2 || c.GPU != -1 || math.Abs(c.Log[1]-math.Log(10)) > 1e-12 || !math.IsNaN(c.Log[0]) {
		t.Errorf("%+v", c)
	}
	if _, err := Judge(t.Context(), table, Options{Anchors: 3, Chips: []string{"nosuch"}}); !errors.Is(err, ErrTable) {
		t.Errorf("an unknown chip: %v", err)
	}
	if _, err := Judge(t.Context(), table, Options{Anchors: 3}); !errors.Is(err, ErrTooFew) {
		t.Errorf("one chip: %v", err)
	}
	write("board,model,avg_ms\nb,net,0\n")
	if _, err := ReadTable([]string{path}, false); !errors.Is(err, ErrTable) {
		t.Errorf("no latency: %v", err)
	}
	table = drawn(rand.New(rand.NewPCG(3, 1)), 20, 4, 0.1)
	for name, text := range map[string]string{
		"unknown model": "model,avg_ms\nnosuch,1\n", "twice": "model,avg_ms\nmodel-00,1\nmodel-00,2\n", "no latency": "model,avg_ms\nmodel-00,0\n",
		"threads": "model,avg_ms,threads\nmodel-00,1,1\nmodel-01,1,2\n", "nothing": "model,avg_ms\n",
	} {
		write(text)
		if _, _, err := ReadMeasured(path, "new", table); !errors.Is(err, ErrTable) && !errors.Is(err, ErrTooFew) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, one := range map[string]struct{ rows, refusal string }{
		"seconds":           {"model-00,.02\nmodel-02,.02\n", "as fast as the fastest"},
		"microseconds":      {"model-00,20000\nmodel-02,20000\n", "as slow as the slowest"},
		"seconds in one":    {"model-00,20\nmodel-01,.02\nmodel-02,20\n", "avg_ms 0.02 of model-01"},
		"none with all":     {"model-00,20\nmodel-01,20\n", ""},
		"twice the fastest": {"model-00,1\nmodel-02,1\n", ""},
	} {
		apart := &Table{Models: table.Models}
		for i, c := range table.Configs {
			c.Log = slices.Clone(c.Log)
			if name == "none with all" {
				c.Log[i%2] = math.NaN()
			}
			apart.Configs = append(apart.Configs, c)
		}
		write("model,avg_ms\n" + one.rows)
		_, _, err := ReadMeasured(path, "new", apart)
		if one.refusal == "" && err != nil || one.refusal != "" && (!errors.Is(err, ErrTable) || !strings.Contains(err.Error(), one.refusal)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	alike := &Table{Models: table.Models}
	for i := range 8 {
		speed := float64(i)
		alike.Configs = append(alike.Configs, Config{Log: []float64{speed, speed + 1, speed + 2, speed + 3}})
	}
	write("model,avg_ms\nmodel-00,20\nmodel-01,54\nmodel-02,148\nmodel-03,57\n") // the last one is a seventh
	c, anchors, err := ReadMeasured(path, "new", alike)
	if err != nil {
		t.Fatal(err)
	}
	if odd := alike.FindUnusual(c, anchors); !strings.Contains(odd, "avg_ms 57 of model-03 is") {
		t.Errorf("seven times off: %q", odd)
	}
	if odd := alike.FindUnusual(&alike.Configs[4], anchors); odd != "" {
		t.Errorf("a device of the table: %s", odd)
	}
	write("model,avg_ms,threads\nmodel-02,7.5,4\n")
	if c, anchors, err := ReadMeasured(path, "new", table); err != nil || len(anchors) != 1 || anchors[0] != 2 || c.Threads != 4 || math.Exp(c.Log[2]) < 7.4 {
		t.Errorf("%+v %v %v", c, anchors, err)
	}
}

// TestBoards judges every third chip of real boards.
func TestBoards(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: one thread computes")
	}
	dir := os.Getenv("FORETIME_DATA")
	if dir == "" {
		t.Skip("needs FORETIME_DATA")
	}
	table, err := ReadTable([]string{filepath.Join(dir, "ncnn-boards", "latency.csv")}, true)
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Anchors: 3, Seed: 1}
	for i, chip := range table.Chips() {
		if i%3 == 0 {
			o.Chips = append(o.Chips, chip)
		}
	}
	j, err := Judge(t.Context(), table, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("within 10 %%: %.3f, median error %.3f, coverage %.3f; nearest run %+v", j.Within10, j.MedianAPE, *j.Coverage, j.Baselines[NearestRun])
	for _, c := range j.Fastest {
		ours, constant := c.Rules[ByPrediction], c.Rules[BestConstant]
		t.Logf("fastest of three boards, %s: chosen in %.3f, regret %.3f; best constant %.3f, %.3f", c.Boards, ours.Fastest, ours.Regret, constant.Fastest, constant.Regret)
		if ours.Fastest < constant.Fastest || ours.Regret > constant.Regret || ours.Fastest < c.Rules[NearestRun].Fastest {
			t.Errorf("a simpler rule chooses better: %+v", c)
		}
	}
	if len(j.Fastest) != 2 || j.Within10 < 0.5 || j.MedianAPE > 0.1 || *j.Coverage < 0.85 || *j.Coverage > 0.95 || j.Baselines[NearestRun].Within10 > j.Within10 {
		t.Errorf("%+v", j)
	}
}

// TestStatisticsNetworks judges 1,459 networks on devices that are left out in turn, from ten
// measured networks each.
func TestStatisticsNetworks(t *testing.T) {
	dir := os.Getenv("FORETIME_DATA")
	if dir == "" {
		t.Skip("needs FORETIME_DATA")
	}
	table, err := ReadTable([]string{filepath.Join(dir, "nasbench201", "latency.csv")}, false)
	if err != nil {
		t.Fatal(err)
	}
	j, err := Judge(t.Context(), table, Options{Anchors: 10, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("mean Spearman %.3f, within 10 %% %.3f, coverage %.3f", *j.MeanSpearman, j.Within10, *j.Coverage)
	if *j.MeanSpearman < 0.9 || *j.Coverage < 0.85 || *j.Coverage > 0.95 {
		t.Errorf("%+v", j)
	}
	kindsLeftOut(t, table)
}

// kindsLeftOut checks the intervals of devices if the table has none of their kind.
func kindsLeftOut(t *testing.T, table *Table) {
	inside, devices, least := 0.0, 0.0, 1.0
	for _, kinds := range []string{"1080ti", "titanx", "silver gold", "pixel3", "samsung", "essential", "pixel3 samsung", "samsung essential"} {
		var chips []string
		for _, chip := range table.Chips() {
			if kind, _, _ := strings.Cut(chip, "_"); slices.Contains(strings.Fields(kinds), kind) {
				chips = append(chips, chip)
			}
		}
		m, err := Learn(t.Context(), table.WithoutChips(chips...), 10, 1)
		if err != nil {
			t.Fatal(err)
		}
		for i := range table.Configs {
			if c := &table.Configs[i]; slices.Contains(chips, c.Chip) {
				share := insideOf(m, c)
				inside, devices, least = inside+share, devices+1, min(least, share)
			}
		}
	}
	t.Logf("kinds left out: %.3f of the latencies of %.0f devices are in their intervals, at least %.3f", inside/devices, devices, least)
	if inside/devices < 0.83 {
		t.Error("want 0.83 or more")
	}
}

// insideOf returns the share of a configuration's latencies in their intervals.
func insideOf(m *Model, c *Config) float64 {
	anchors := m.ChooseAnchors(c, 10)
	p := m.PredictMilliseconds(c, anchors)
	inside := 0.0
	others := c.rest(anchors)
	for _, k := range others {
		if p[k].Contains(math.Exp(c.Log[k])) {
			inside++
		}
	}
	return inside / float64(len(others))
}

// Three boards and two models: one board is the fastest for each, and the predictions name it
// for one of them.
func TestJudgeChoices(t *testing.T) {
	table := &Table{Models: []string{"a", "b"}}
	var all []outcome
	for i, logs := range [][]float64{{0, 1}, {0.5, 0.5}, {3, 3}} {
		table.Configs = append(table.Configs, Config{Board: fmt.Sprint(i), Threads: 1, Log: logs})
		for k, log := range logs {
			all = append(all, outcome{config: i, model: k, actual: log, nearest: log, ours: uncertainty.Prediction{Value: []float64{1, 2, 3}[i]}})
		}
	}
	choices := judgeChoices(table, all)
	if len(choices) != 1 || choices[0].Fleets != 1 || choices[0].Decisions != 2 {
		t.Fatalf("%+v", choices)
	}
	excess := (math.Exp(0.5) - 1) / 2
	for name, want := range map[string]Rule{ByPrediction: {0.5, excess}, NearestRun: {1, 0}, BestConstant: {0.5, excess}} {
		if got := choices[0].Rules[name]; math.Abs(got.Fastest-want.Fastest) > 1e-12 || math.Abs(got.Regret-want.Regret) > 1e-12 {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}

// A large table is given up at once.
func TestJudgeStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Judge(ctx, drawn(rand.New(rand.NewPCG(3, 1)), 20, 1000, 0.1), Options{Anchors: 3}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
