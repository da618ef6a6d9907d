package chart

import (
	"image/color"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Box is a chart of box plots after Tukey: the box from the first to the
// third quartile with the median, whiskers to the farthest observation within
// 1.5 times the box's height, and a ring for each beyond.
type Box struct {
	Frame
	Samples []Sample
}

func (c Box) drawing() (*drawing, error) {
	if err := checkSamples(c.Samples); err != nil {
		return nil, err
	}
	d := &drawing{plot: newPlot(c.Frame), frame: c.Frame}
	d.plot.X.Scale = plot.LinearScale{}
	ys := emptySpan()
	var names []string
	for _, s := range c.Samples {
		ys.add(s.Values...)
		names = append(names, s.Name)
	}
	if err := ys.apply(&d.plot.Y, c.LogY, "y"); err != nil {
		return nil, err
	}
	d.nominal(&d.plot.X, names)
	addGrid(d.plot, false, true)
	for i, s := range c.Samples {
		d.plot.Add(newBox(i, s.Values))
	}
	return d, nil
}

// box is one box plot at place i.
type box struct {
	i                      int
	low, q1, mid, q3, high float64
	outside                []float64
}

func newBox(i int, values []float64) box {
	sorted := slices.Sorted(slices.Values(values))
	quantile := func(p float64) float64 { return stat.Quantile(p, stat.LinInterp, sorted, nil) }
	b := box{i: i, q1: quantile(0.25), mid: quantile(0.5), q3: quantile(0.75)}
	reach := 1.5 * (b.q3 - b.q1)
	b.low, b.high = b.q1, b.q3
	for _, x := range sorted {
		if x < b.q1-reach || x > b.q3+reach {
			b.outside = append(b.outside, x)
			continue
		}
		b.low, b.high = min(b.low, x), max(b.high, x)
	}
	return b
}

// Plot implements plot.Plotter.
func (b box) Plot(c draw.Canvas, p *plot.Plot) {
	toX, toY := p.Transforms(&c)
	x := toX(float64(b.i))
	half := min((toX(1)-toX(0))*0.28, 28)
	s := draw.LineStyle{Color: colour(b.i), Width: 1.2}
	corners := rectangle(vg.Point{X: x - half, Y: toY(b.q1)}, vg.Point{X: x + half, Y: toY(b.q3)})
	c.FillPolygon(color.White, corners)
	c.FillPolygon(see(colour(b.i), 0.3), corners)
	c.StrokeLines(s, append(corners, corners[0]))
	for _, end := range [][2]float64{{b.q1, b.low}, {b.q3, b.high}} {
		c.StrokeLine2(s, x, toY(end[0]), x, toY(end[1]))
		c.StrokeLine2(s, x-half/2, toY(end[1]), x+half/2, toY(end[1]))
	}
	c.StrokeLine2(draw.LineStyle{Color: ink, Width: 2}, x-half, toY(b.mid), x+half, toY(b.mid))
	ring := draw.GlyphStyle{Color: colour(b.i), Radius: 2, Shape: draw.RingGlyph{}}
	for _, y := range b.outside {
		c.DrawGlyph(ring, vg.Point{X: x, Y: toY(y)})
	}
}
