package chart

import (
	"fmt"
	"image/color"
	"math"
	"strings"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Bar is one bar of every group. Low and High, where given, are drawn as an
// interval about each value.
type Bar struct {
	Name      string
	Values    []float64
	Low, High []float64
}

// Bars is a chart of groups of bars side by side. Every Bar has one value for
// each group.
type Bars struct {
	Frame
	Groups []string
	Bars   []Bar
}

func (c Bars) drawing() (*drawing, error) {
	if len(c.Groups) == 0 || len(c.Bars) == 0 {
		return nil, ErrEmpty
	}
	ys := emptySpan()
	for _, b := range c.Bars {
		if len(b.Values) == 0 {
			return nil, fmt.Errorf("series %q: %w", b.Name, ErrEmpty)
		}
		place := make([]float64, len(c.Groups))
		if err := (Series{b.Name, place, b.Values, b.Low, b.High}).check(); err != nil {
			return nil, err
		}
		ys.add(b.Values...)
		ys.add(b.Low...)
		ys.add(b.High...)
	}
	if !c.LogY {
		ys.add(0)
	}
	d := &drawing{plot: newPlot(c.Frame), frame: c.Frame}
	d.plot.X.Scale = plot.LinearScale{}
	if err := ys.apply(&d.plot.Y, c.LogY, "y"); err != nil {
		return nil, err
	}
	if !c.LogY && ys.high > 0 { // room for the numbers
		d.plot.Y.Max += 0.04 * ys.high
	}
	d.nominal(&d.plot.X, c.Groups)
	addGrid(d.plot, false, true)
	d.plot.Add(bars{c})
	for i, b := range c.Bars {
		if len(c.Bars) > 1 {
			d.legend = append(d.legend, entry{b.Name, filled(colour(i))})
		}
	}
	return d, nil
}

// nominal labels the places 0, 1, 2 ... of the X axis with names, slanted
// where they would run into each other.
func (d *drawing) nominal(a *plot.Axis, names []string) {
	a.Min, a.Max = -0.5, float64(len(names))-0.5
	ticks := make(plot.ConstantTicks, len(names))
	width, _ := d.size()
	slot := (width - 60) / vg.Length(len(names))
	for i, name := range names {
		ticks[i] = plot.Tick{Value: float64(i), Label: name}
		if a.Tick.Label.Width(name) > slot-6 {
			a.Tick.Label.Rotation = math.Pi / 5
			a.Tick.Label.XAlign = draw.XRight
			a.Tick.Label.YAlign = draw.YCenter
		}
	}
	a.Tick.Marker = ticks
	a.Tick.LineStyle.Color = color.Transparent // the length is the labels' distance
}

// bars paints the bars themselves.
type bars struct{ Bars }

// Plot implements plot.Plotter.
func (c bars) Plot(canvas draw.Canvas, p *plot.Plot) {
	toX, toY := p.Transforms(&canvas)
	floor := max(0, p.Y.Min)
	if p.Y.Max < 0 {
		floor = p.Y.Max
	}
	width := 0.8 / float64(len(c.Bars.Bars))
	for i, b := range c.Bars.Bars {
		for g, value := range b.Values {
			left := float64(g) - 0.4 + width*float64(i)
			x0, x1 := toX(left), toX(left+width)
			gap := min(1, (x1-x0)*0.06)
			canvas.FillPolygon(colour(i), rectangle(vg.Point{X: x0 + gap, Y: toY(floor)}, vg.Point{X: x1 - gap, Y: toY(value)}))
			top := toY(max(value, floor))
			if b.Low != nil {
				top = max(top, whisker(canvas, (x0+x1)/2, toY(b.Low[g]), toY(b.High[g])))
			}
			number(canvas, vg.Point{X: (x0 + x1) / 2, Y: top + 2}, x1-x0, value)
		}
	}
	canvas.StrokeLine2(draw.LineStyle{Color: rule, Width: 0.75}, canvas.Min.X, toY(floor), canvas.Max.X, toY(floor))
}

// whisker paints an interval and returns its upper end.
func whisker(c draw.Canvas, x, low, high vg.Length) vg.Length {
	s := draw.LineStyle{Color: ink, Width: 0.9}
	c.StrokeLine2(s, x, low, x, high)
	c.StrokeLine2(s, x-2.5, low, x+2.5, low)
	c.StrokeLine2(s, x-2.5, high, x+2.5, high)
	return high
}

// number writes a value above its bar where there is room.
func number(c draw.Canvas, at vg.Point, width vg.Length, value float64) {
	s := style(8, color.RGBA(faint), xfont.WeightNormal)
	s.XAlign, s.YAlign = draw.XCenter, draw.YBottom
	if label := short(value); s.Width(label) <= width+2 {
		c.FillText(s, at, label)
	}
}

// short writes a number with at most three significant digits.
func short(x float64) string {
	if x == 0 {
		return "0"
	}
	decimals := 2 - int(math.Floor(math.Log10(math.Abs(x))))
	s := label(x, max(0, decimals))
	if strings.Contains(s, ".") && !strings.Contains(s, "e") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}
