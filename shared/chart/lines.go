package chart

import (
	"fmt"
	"slices"

	"gonum.org/v1/plot/plotter"
)

// Series is a named line or cloud of points. Low and High, if set, are the ends of
// an interval around each Y.
type Series struct {
	Name      string
	X, Y      []float64
	Low, High []float64
}

func (s Series) check() error {
	if len(s.X) == 0 {
		return fmt.Errorf("series %q: %w", s.Name, ErrEmpty)
	}
	if len(s.X) != len(s.Y) || (s.Low == nil) != (s.High == nil) {
		return fmt.Errorf("series %q: %w", s.Name, ErrLength)
	}
	if err := sameLength(s.Name, len(s.X), s.Low, s.High); err != nil {
		return err
	}
	for _, values := range [][]float64{s.X, s.Y, s.Low, s.High} {
		if err := finite(s.Name, values); err != nil {
			return err
		}
	}
	for i := range s.Low {
		if s.Low[i] > s.High[i] {
			return fmt.Errorf("series %q: interval %d: %w", s.Name, i, ErrOrder)
		}
	}
	return nil
}

func checkAll(series []Series) error {
	if len(series) == 0 {
		return ErrEmpty
	}
	for _, s := range series {
		if err := s.check(); err != nil {
			return err
		}
	}
	return nil
}

func points(x, y []float64) plotter.XYs {
	xys := make(plotter.XYs, len(x))
	for i := range x {
		xys[i] = plotter.XY{X: x[i], Y: y[i]}
	}
	return xys
}

// Lines is a chart of lines over a common X, such as time. Series with Low
// and High have their interval shaded. Points are joined in the order given.
type Lines struct {
	Frame
	Series []Series
}

// bandOpacity is the opacity of a shaded interval.
const bandOpacity = 0.2

func (c Lines) drawing() (*drawing, error) {
	if err := checkAll(c.Series); err != nil {
		return nil, err
	}
	d := &drawing{plot: newPlot(c.Frame), frame: c.Frame}
	xs, ys := emptySpan(), emptySpan()
	for _, s := range c.Series {
		xs.add(s.X...)
		ys.add(slices.Concat(s.Y, s.Low, s.High)...)
	}
	if err := xs.apply(&d.plot.X, c.LogX, "x"); err != nil {
		return nil, err
	}
	if xs.low < xs.high { // a line may reach the sides
		d.plot.X.Min, d.plot.X.Max = xs.low, xs.high
	}
	if err := ys.apply(&d.plot.Y, c.LogY, "y"); err != nil {
		return nil, err
	}
	addGrid(d.plot, false, true)
	for i, s := range c.Series {
		if s.Low != nil {
			if err := c.addBand(d, i, s); err != nil {
				return nil, err
			}
		}
	}
	for i, s := range c.Series {
		if err := c.addLine(d, i, s); err != nil {
			return nil, err
		}
		if len(c.Series) > 1 || s.Low != nil {
			d.legend = append(d.legend, entry{s.Name, line(stroke(i), s.Low != nil)})
		}
	}
	return d, nil
}

func (c Lines) addBand(d *drawing, i int, s Series) error {
	outline := thin(points(s.X, s.Low))
	back := thin(points(s.X, s.High))
	slices.Reverse(back)
	band, err := plotter.NewPolygon(append(outline, back...))
	if err != nil {
		return fmt.Errorf("series %q: %w", s.Name, err)
	}
	band.LineStyle.Width = 0
	band.Color = translucent(colour(i), bandOpacity)
	d.plot.Add(band)
	return nil
}

func (c Lines) addLine(d *drawing, i int, s Series) error {
	xys := thin(points(s.X, s.Y))
	l, err := plotter.NewLine(xys)
	if err != nil {
		return fmt.Errorf("series %q: %w", s.Name, err)
	}
	l.LineStyle = stroke(i)
	d.plot.Add(l)
	if len(s.X) > mostMarks {
		return nil
	}
	dot, err := plotter.NewScatter(xys)
	if err != nil {
		return fmt.Errorf("series %q: %w", s.Name, err)
	}
	dot.GlyphStyle = glyph(i)
	d.plot.Add(dot)
	return nil
}

// mostMarks is the largest number of points of a line that have a mark each.
const mostMarks = 40

// mostPoints is the largest number of points that is drawn for a line.
const mostPoints = 4000

// thin shortens a long line: it keeps the first, lowest, highest and last point of
// each of equally long runs. At the size of a chart it looks the same.
func thin(xys plotter.XYs) plotter.XYs {
	if len(xys) <= mostPoints {
		return xys
	}
	var kept plotter.XYs
	runs := mostPoints / 4
	for r := range runs {
		run := xys[r*len(xys)/runs : (r+1)*len(xys)/runs]
		low, high := 0, 0
		for i := range run {
			if run[i].Y < run[low].Y {
				low = i
			}
			if run[i].Y > run[high].Y {
				high = i
			}
		}
		at := []int{0, min(low, high), max(low, high), len(run) - 1}
		for _, i := range slices.Compact(at) {
			kept = append(kept, run[i])
		}
	}
	return kept
}
