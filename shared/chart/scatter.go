package chart

import (
	"fmt"
	"math"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg/draw"
)

// Scatter is a chart of points, such as predicted against actual values. Low and
// High of a series become bars around its points.
type Scatter struct {
	Frame
	Series []Series
	// Identity draws the line y = x and gives both axes the same range.
	Identity bool
}

func (c Scatter) drawing() (*drawing, error) {
	if err := checkAll(c.Series); err != nil {
		return nil, err
	}
	if c.Identity && c.LogX != c.LogY {
		return nil, fmt.Errorf("the line y = x needs both axes logarithmic or none: %w", ErrLogScale)
	}
	d := &drawing{plot: newPlot(c.Frame), frame: c.Frame, square: c.Identity}
	if err := c.setAxes(d); err != nil {
		return nil, err
	}
	addGrid(d.plot, true, true)
	if c.Identity {
		if err := addIdentity(d); err != nil {
			return nil, err
		}
	}
	for i, s := range c.Series {
		if err := c.addPoints(d, i, s); err != nil {
			return nil, err
		}
		if len(c.Series) > 1 || c.Identity && s.Name != "" {
			d.legend = append(d.legend, entry{s.Name, dot(i)})
		}
	}
	if c.Identity {
		d.legend = append(d.legend, entry{"y = x", line(identityLine, false)})
	}
	return d, nil
}

func (c Scatter) setAxes(d *drawing) error {
	xs, ys := emptySpan(), emptySpan()
	for _, s := range c.Series {
		xs.add(s.X...)
		ys.add(s.Y...)
		ys.add(s.Low...)
		ys.add(s.High...)
	}
	if c.Identity {
		xs.add(ys.low, ys.high)
		ys = xs
	}
	if err := xs.apply(&d.plot.X, c.LogX, "x"); err != nil {
		return err
	}
	return ys.apply(&d.plot.Y, c.LogY, "y")
}

var identityLine = draw.LineStyle{Color: faint, Width: 1, Dashes: dashes[1]}

func addIdentity(d *drawing) error {
	low, high := d.plot.X.Min, d.plot.X.Max
	l, err := plotter.NewLine(plotter.XYs{{X: low, Y: low}, {X: high, Y: high}})
	if err != nil {
		return err
	}
	l.LineStyle = identityLine
	d.plot.Add(l)
	return nil
}

func (c Scatter) addPoints(d *drawing, i int, s Series) error {
	xys := points(s.X, s.Y)
	g := glyph(i)
	if n := len(xys); n > 100 { // transparent points show the density
		g.Color = translucent(colour(i), max(0.25, math.Pow(100/float64(n), 0.25)))
		g.Radius = 2
	}
	for k := range s.Low {
		bar, err := plotter.NewLine(plotter.XYs{{X: s.X[k], Y: s.Low[k]}, {X: s.X[k], Y: s.High[k]}})
		if err != nil {
			return fmt.Errorf("series %q: %w", s.Name, err)
		}
		bar.LineStyle = draw.LineStyle{Color: translucent(colour(i), 0.55), Width: 1}
		d.plot.Add(bar)
	}
	cloud, err := plotter.NewScatter(xys)
	if err != nil {
		return fmt.Errorf("series %q: %w", s.Name, err)
	}
	cloud.GlyphStyle = g
	d.plot.Add(cloud)
	return nil
}

// glyph returns the point style of series i. Colour and shape both identify the
// series.
func glyph(i int) draw.GlyphStyle {
	shapes := []draw.GlyphDrawer{draw.CircleGlyph{}, draw.PyramidGlyph{}, draw.BoxGlyph{}, draw.PlusGlyph{}, draw.CrossGlyph{}, draw.RingGlyph{}}
	return draw.GlyphStyle{Color: colour(i), Radius: 3, Shape: shapes[i%len(shapes)]}
}

// dot returns the swatch of a series of points.
func dot(i int) func(draw.Canvas) {
	return func(c draw.Canvas) { c.DrawGlyph(glyph(i), c.Center()) }
}
