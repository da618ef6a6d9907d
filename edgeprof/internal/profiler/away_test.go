package profiler

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/foretime/foretime/edgeprof/internal/device"
	"github.com/foretime/foretime/edgeprof/internal/transfer"
	"github.com/foretime/foretime/shared/stats"
)

// What is known of a device says what its time is taken for, and how doubtful that
// is. Costs are those of device.Cost.
func TestAway(t *testing.T) {
	epyc := Facts{UUID: "here", Device: "Server", Processor: "AMD EPYC 7B13", Cores: 4, MaxMHz: 3000}
	unnamed, arm := epyc, epyc
	wide := Facts{UUID: "here", Device: "VM", Processor: "AMD EPYC, AVX-512", Cores: 2, MaxMHz: 3000}
	arm.Processor, arm.MaxMHz = "Cortex-A53", 1200
	unnamed.Processor = ""
	shipped := wide
	shipped.Shipped = true
	pi := device.Device{Node: "pi", Model: "Raspberry Pi 4 Model B Rev 1.4", Cores: 4, MaxMHz: 1500}
	old := device.Device{Node: "old", Model: "Board", Processor: "Cortex-A53", Cores: 4}
	for name, tt := range map[string]struct {
		facts          Facts
		device         device.Device
		factor, spread float64
	}{
		"another kind":         {epyc, pi, 2 * 3.4, spreads[[2]bool{true, true}]},
		"no clock":             {epyc, old, 5.7, spreads[[2]bool{true, false}]},
		"the clock alone":      {unnamed, pi, 2, spreads[[2]bool{false, true}]},
		"nothing":              {unnamed, device.Device{Node: "x", Model: "x"}, 1, spreads[[2]bool{false, false}]},
		"the same, more cores": {unnamed, device.Device{Model: "Server", Cores: 8, MaxMHz: 3000}, 1, sameCore},
		"a core by its name":   {arm, device.Device{Model: "Board", Processor: "Cortex-A53", Cores: 4, MaxMHz: 1500}, 0.8, sameCore},
		"wider vectors":        {wide, device.Device{Model: "VM", Processor: "AMD EPYC, AVX2", Cores: 2, MaxMHz: 3000}, 2, spreads[[2]bool{true, true}]},
		"shipped, by its name": {shipped, device.Device{Model: "VM", Processor: wide.Processor, Cores: 2, MaxMHz: 3000}, 1, spreads[[2]bool{true, false}]},
		"itself":               {epyc, device.Device{Model: "Server", Cores: 4, MaxMHz: 3000}, 1, 0},
	} {
		a := (&Calibration{Facts: tt.facts}).Away(&tt.device)
		if math.Abs(a.Factor/tt.factor-1) > 1e-9 || math.Abs(a.Spread-tt.spread) > 1e-9 {
			t.Errorf("%s: %+v, want factor %v, spread %v", name, a, tt.factor, tt.spread)
		}
	}
}

// gigahertz of chips that the table names without their clock, as their makers
// tell them.
var gigahertz = map[string]float64{
	"NVIDIA Jetson Orin Nano": 1.5, "Intel Atom x5-Z8350": 1.92, "MacBook Pro 13-inch M1 2020": 3.2, "MacBook Air 13-inch M3 2024": 4.05, "Hyper-V guest, Intel Core i7-7700K": 4.5,
	"HUAWEI KunPeng 920 2251K": 2.6, "HUAWEI KunPeng 920 3211K": 2.6, "HUAWEI Kunpeng 920 7260": 2.6,
}

// board is one with its latencies on one core.
type board struct {
	chip   string
	device device.Device
	log    []float64 // of milliseconds; NaN for none
	cost   float64
	id     string
	from   map[string][]float64 // how far its models are from those of another board, in cycles
}

func boards(t *testing.T) []board {
	t.Helper()
	data := os.Getenv("FORETIME_DATA")
	if data == "" {
		t.Skip("FORETIME_DATA is not set")
	}
	table, err := transfer.ReadTable([]string{filepath.Join(data, "ncnn-boards", "latency.csv")}, true)
	if err != nil {
		t.Fatal(err)
	}
	var out []board
	for _, c := range table.Configs {
		if c.Threads != 1 || c.PowerSave == 1 {
			continue
		}
		clock := fastest(c.SoC)
		if ghz, ok := gigahertz[c.Board]; ok {
			clock = ghz
		}
		if math.IsNaN(clock) {
			continue
		}
		b := board{chip: c.Chip, device: device.Device{Node: c.Board, Model: c.Board, Processor: c.SoC, Cores: 4, MaxMHz: 1000 * clock}}
		for k, name := range table.Models {
			v := c.Log[k]
			if strings.Contains(name, "int8") {
				v = math.NaN()
			}
			b.log = append(b.log, v)
		}
		if cost, ok := b.device.CoreCost(); ok {
			b.id, b.cost, b.from = fmt.Sprint(len(out)), cost, map[string][]float64{}
			out = append(out, b)
		}
	}
	for i := range out {
		for j := range out {
			out[j].from[out[i].id] = apart(&out[i], &out[j])
		}
	}
	return out
}

// apart are the differences of the logarithms of two boards' latencies in cycles.
func apart(a, b *board) []float64 {
	var each []float64
	for k := range a.log {
		if d := b.log[k] - a.log[k] + math.Log(b.device.MaxMHz/a.device.MaxMHz); !math.IsNaN(d) {
			each = append(each, d)
		}
	}
	return each
}

// costs are the logarithms of those of device.Cost, fitted to boards: by these.
func costs(boards []board) map[float64]float64 {
	apartBy := map[float64][]float64{}
	for i := range boards {
		for j := range boards {
			if each := boards[i].from[boards[j].id]; boards[j].cost == 1 && i != j && len(each) > 0 {
				apartBy[boards[i].cost] = append(apartBy[boards[i].cost], stat.Mean(each, nil))
			}
		}
	}
	fitted := map[float64]float64{}
	for c, each := range apartBy {
		fitted[c] = stat.Mean(each, nil)
	}
	return fitted
}

// residuals are how far latencies on boards are from what those of another chip say.
func residuals(from, to []board, costs map[float64]float64) []float64 {
	var out []float64
	for i := range from {
		for j := range to {
			if from[i].chip == to[j].chip {
				continue
			}
			for _, d := range to[j].from[from[i].id] {
				out = append(out, math.Abs(d-costs[to[j].cost]+costs[from[i].cost]))
			}
		}
	}
	return out
}

// quantileOfOneCore is how far latencies are from what the clock says on chips with
// cores of one name.
func quantileOfOneCore(all []board) float64 {
	byCore := map[string][]board{}
	for _, b := range all {
		if core := device.FastestCore(b.device.Processor, b.device.Model); core != "" {
			byCore[core] = append(byCore[core], b)
		}
	}
	var off []float64
	for _, boards := range byCore {
		off = append(off, residuals(boards, boards, nil)...)
	}
	return stats.Quantile(off, Level)
}

func within(off []float64, spread float64) float64 {
	n := 0.0
	for _, d := range off {
		if d <= spread {
			n++
		}
	}
	return n / float64(len(off))
}

// Each chip in turn is a foreign device to all others, which alone say what cores
// cost and how far latencies spread. The interval that [Calibration.Away] gives
// holds at least 85 %, and its costs and spread are those of all.
func TestElsewhereOnBoards(t *testing.T) {
	all := boards(t)
	for cost, log := range costs(all) {
		t.Logf("cores of cost %.2f: fitted %.2f", cost, math.Exp(log))
		if math.Abs(log-math.Log(cost)) > 0.1 {
			t.Errorf("cost %v: the boards say %.2f", cost, math.Exp(log))
		}
	}
	var chips []string
	for i := range all {
		if !slices.Contains(chips, all[i].chip) {
			chips = append(chips, all[i].chip)
		}
	}
	grid := []float64{0.2, 0.3, 0.4, 0.5, 0.65, 0.8, 1}
	held, own, byClock := make([]float64, len(grid)), 0.0, 0.0
	var spread, clockAlone []float64
	for _, chip := range chips {
		rest := slices.DeleteFunc(slices.Clone(all), func(b board) bool { return b.chip == chip })
		left := slices.DeleteFunc(slices.Clone(all), func(b board) bool { return b.chip != chip })
		known := costs(rest)
		spread = append(spread, stats.Quantile(residuals(rest, rest, known), Level))
		clockAlone = append(clockAlone, stats.Quantile(residuals(rest, rest, nil), Level))
		there := residuals(rest, left, known)
		own += within(there, spread[len(spread)-1]) / float64(len(chips))
		byClock += within(residuals(rest, left, nil), clockAlone[len(clockAlone)-1]) / float64(len(chips))
		for i, s := range grid {
			held[i] += within(there, s) / float64(len(chips))
		}
	}
	clock := stats.Median(clockAlone)
	t.Logf("%d boards, %d chips; spread without each %.2f, holds %.1f %% of the left out", len(all), len(chips), stats.Median(spread), 100*own)
	t.Logf("by clock alone %.2f: %.2f to %.1f times, holds %.1f %%", clock, math.Exp(-clock), math.Exp(clock), 100*byClock)
	for i, s := range grid {
		t.Logf("spread %.2f: %.2f to %.2f times, width %.2f, holds %.1f %%", s, math.Exp(-s), math.Exp(s), math.Exp(s)-math.Exp(-s), 100*held[i])
	}
	same := quantileOfOneCore(all)
	t.Logf("chips of one core: spread %.2f: %.2f to %.2f times, %.2f to %.2f as it is taken", same, math.Exp(-same), math.Exp(same), math.Exp(-sameCore), math.Exp(sameCore))
	if math.Abs(sameCore/same-1) > 0.1 {
		t.Errorf("of one core the spread is %v, the boards say %.2f", sameCore, same)
	}
	for known, want := range map[bool]float64{true: stats.Median(spread), false: stats.Median(clockAlone)} {
		if got := spreads[[2]bool{known, true}]; math.Abs(got/want-1) > 0.1 {
			t.Errorf("cores known %v: the spread is %v, the boards say %.2f", known, got, want)
		}
	}
	if own < 0.85 {
		t.Errorf("holds %.3f", own)
	}
}

var inGHz = regexp.MustCompile(`(?i)([0-9]+(?:\.[0-9]+)?) ?(GHz|MHz)`)

// fastest is the highest clock that a chip's description names, in GHz.
func fastest(soc string) float64 {
	best := math.NaN()
	for _, m := range inGHz.FindAllStringSubmatch(soc, -1) {
		v, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			continue
		}
		if strings.EqualFold(m[2], "MHz") {
			v /= 1000
		}
		if !(best >= v) {
			best = v
		}
	}
	return best
}
