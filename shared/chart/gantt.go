package chart

import (
	"fmt"
	"image/color"
	"math"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Task is a bar of a Gantt chart: it occupies a row from Start to End.
type Task struct {
	Row        int // index of Gantt.Rows
	Start, End float64
	Group      int    // index of Gantt.Groups, which sets the colour
	Label      string // written on the bar if it fits
}

// Gantt is a chart of what occupied each row, such as a machine, over time.
// The first row is at the top.
type Gantt struct {
	Frame
	Rows   []string
	Groups []string // may be empty: all tasks alike
	Tasks  []Task
}

func (c Gantt) drawing() (*drawing, error) {
	xs, err := c.check()
	if err != nil {
		return nil, err
	}
	if c.HeightInches == 0 {
		c.HeightInches = min(max(1.5+0.2*float64(len(c.Rows)), 2.4), 11)
	}
	d := &drawing{plot: newPlot(c.Frame), frame: c.Frame}
	if err := xs.apply(&d.plot.X, c.LogX, "x"); err != nil {
		return nil, err
	}
	d.plot.X.Max = xs.high
	if xs.high == xs.low {
		d.plot.X.Max++
	}
	d.plot.Y.Scale = plot.LinearScale{}
	d.plot.Y.Min, d.plot.Y.Max = 0.4-float64(len(c.Rows)), 0.6
	d.plot.Y.Tick.Marker = c.rowTicks()
	d.plot.Y.Tick.LineStyle.Color = color.Transparent
	addGrid(d.plot, true, false)
	d.plot.Add(tasks{c})
	for i, name := range c.Groups {
		if len(c.Groups) > 1 {
			d.legend = append(d.legend, entry{name, filled(colour(i))})
		}
	}
	return d, nil
}

func (c Gantt) check() (span, error) {
	xs := emptySpan()
	if len(c.Rows) == 0 || len(c.Tasks) == 0 {
		return xs, ErrEmpty
	}
	for i, t := range c.Tasks {
		switch {
		case t.Row < 0 || t.Row >= len(c.Rows):
			return xs, fmt.Errorf("task %d: row %d of %d: %w", i, t.Row, len(c.Rows), ErrLength)
		case t.Group < 0 || t.Group >= max(1, len(c.Groups)):
			return xs, fmt.Errorf("task %d: group %d of %d: %w", i, t.Group, len(c.Groups), ErrLength)
		case !drawable(t.Start) || !drawable(t.End):
			return xs, fmt.Errorf("task %d: %v to %v: %w", i, t.Start, t.End, ErrNotFinite)
		case t.End < t.Start:
			return xs, fmt.Errorf("task %d: %v to %v: %w", i, t.Start, t.End, ErrOrder)
		}
		xs.add(t.Start, t.End)
	}
	return xs, nil
}

// rowTicks labels every row, or every few rows if the labels would overlap.
func (c Gantt) rowTicks() plot.ConstantTicks {
	every := int(math.Ceil(float64(len(c.Rows)) * 12 / (72*c.HeightInches - 90)))
	var ticks plot.ConstantTicks
	for i := 0; i < len(c.Rows); i += max(1, every) {
		ticks = append(ticks, plot.Tick{Value: -float64(i), Label: c.Rows[i]})
	}
	return ticks
}

// tasks draws the bars.
type tasks struct{ Gantt }

// Plot implements plot.Plotter.
func (c tasks) Plot(canvas draw.Canvas, p *plot.Plot) {
	toX, toY := p.Transforms(&canvas)
	edge := draw.LineStyle{Color: color.White, Width: 0.5}
	name := style(8, color.White, xfont.WeightNormal)
	name.XAlign, name.YAlign = draw.XCenter, draw.YCenter
	for _, t := range c.Tasks {
		low := vg.Point{X: toX(t.Start), Y: toY(-float64(t.Row) - 0.4)}
		high := vg.Point{X: toX(t.End), Y: toY(-float64(t.Row) + 0.4)}
		canvas.FillPolygon(colour(t.Group), rectangle(low, high))
		if high.X-low.X > 3 {
			canvas.StrokeLine2(edge, high.X, low.Y, high.X, high.Y)
		}
		if t.Label != "" && name.Width(t.Label)+4 < high.X-low.X && name.Height(t.Label) < high.Y-low.Y {
			canvas.FillText(name, vg.Point{X: (low.X + high.X) / 2, Y: (low.Y + high.Y) / 2}, t.Label)
		}
	}
}
