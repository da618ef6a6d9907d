package chart

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg/draw"
)

// span is the range of the values on an axis.
type span struct{ low, high float64 }

func emptySpan() span { return span{math.Inf(1), math.Inf(-1)} }

func (s *span) add(values ...float64) {
	for _, x := range values {
		s.low, s.high = min(s.low, x), max(s.high, x)
	}
}

// apply sets the ends of an axis to the values plus a small margin. A linear axis starts
// at zero if no value is below it.
func (s span) apply(a *plot.Axis, log bool, what string) error {
	if log {
		if s.low <= 0 {
			return fmt.Errorf("%s axis: %v: %w", what, s.low, ErrLogScale)
		}
		room := min(max(math.Exp(0.04*(math.Log(s.high)-math.Log(s.low))), 1.05), 1e4)
		a.Min, a.Max = s.low/room, s.high*room
		return nil
	}
	room := 0.04 * (s.high - s.low)
	if room == 0 {
		room = max(math.Abs(s.high)*0.05, 0.5)
	}
	a.Min, a.Max = s.low-room, s.high+room
	if s.low >= 0 {
		a.Min = 0
	}
	return nil
}

// linearTicks marks round numbers: 1, 2, 2.5 or 5 times a power of ten apart.
type linearTicks struct{}

// Ticks returns four to eight labelled ticks.
func (linearTicks) Ticks(low, high float64) []plot.Tick {
	step := roundStep((high - low) / 6)
	decimals := 0
	if d := -math.Floor(math.Log10(step) + 1e-9); d > 0 {
		decimals = int(d)
	}
	if lead := step / math.Pow(10, math.Floor(math.Log10(step)+1e-9)); math.Abs(lead-2.5) < 1e-6 && step < 10 {
		decimals++
	}
	var ticks []plot.Tick
	for i := math.Ceil(low/step - 1e-9); i*step <= high+1e-9*step && len(ticks) < 20; i++ {
		ticks = append(ticks, plot.Tick{Value: i * step, Label: label(i*step, decimals)})
	}
	return ticks
}

func roundStep(rough float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(rough)))
	for _, lead := range []float64{1, 2, 2.5, 5} {
		if rough <= lead*power*(1+1e-9) {
			return lead * power
		}
	}
	return 10 * power
}

// label formats a number for a tick: 12,000, or 2.5e+09 if it is long.
func label(x float64, decimals int) string {
	if x == 0 {
		return "0"
	}
	if math.Abs(x) >= 1e7 || decimals > 6 {
		return strings.Replace(strconv.FormatFloat(x, 'g', 4, 64), "-", "\u2212", 1)
	}
	s := strconv.FormatFloat(math.Abs(x), 'f', decimals, 64)
	whole, part, dotted := strings.Cut(s, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if dotted {
		whole += "." + part
	}
	if x < 0 {
		whole = "\u2212" + whole
	}
	return whole
}

// logTicks marks the powers of ten, and 2 and 5 times them on a short axis.
type logTicks struct{}

// Ticks returns the labelled decades with their unlabelled multiples between.
func (logTicks) Ticks(low, high float64) []plot.Tick {
	first, last := math.Floor(math.Log10(low)), math.Ceil(math.Log10(high))
	every := math.Ceil((last - first) / 8)
	var ticks []plot.Tick
	for e := first; e <= last; e++ {
		for m := 1.0; m < 10; m++ {
			tick := plot.Tick{Value: m * math.Pow(10, e)}
			if tick.Value < low || tick.Value > high {
				continue
			}
			short := last-first <= 2
			if m == 1 && math.Mod(e-first, every) == 0 || short && (m == 2 || m == 5) {
				tick.Label = label(tick.Value, int(max(0, -e)))
			}
			if tick.Label != "" || last-first <= 8 {
				ticks = append(ticks, tick)
			}
		}
	}
	if len(ticks) < 2 || !isLabelled(ticks) { // less than an octave
		return linearTicks{}.Ticks(low, high)
	}
	return ticks
}

func isLabelled(ticks []plot.Tick) bool {
	n := 0
	for _, t := range ticks {
		if t.Label != "" {
			n++
		}
	}
	return n >= 2
}

// addGrid draws faint lines behind the data at the labelled ticks.
func addGrid(p *plot.Plot, vertical, horizontal bool) {
	g := plotter.NewGrid()
	g.Vertical, g.Horizontal = draw.LineStyle{}, draw.LineStyle{}
	s := draw.LineStyle{Color: grid, Width: 0.6}
	if vertical {
		g.Vertical = s
	}
	if horizontal {
		g.Horizontal = s
	}
	p.Add(g)
}
