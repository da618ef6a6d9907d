package chart

import (
	"bytes"
	"image/color"
	"math"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// palette is the qualitative palette of Okabe and Ito ("Color Universal Design",
// 2008), which readers with any common colour blindness can distinguish. It is
// ordered by contrast on white; its black is left for text.
var palette = []color.RGBA{
	{0x00, 0x72, 0xB2, 0xFF}, // blue
	{0xD5, 0x5E, 0x00, 0xFF}, // vermilion
	{0x00, 0x9E, 0x73, 0xFF}, // bluish green
	{0xCC, 0x79, 0xA7, 0xFF}, // reddish purple
	{0xE6, 0x9F, 0x00, 0xFF}, // orange
	{0x56, 0xB4, 0xE9, 0xFF}, // sky blue
	{0x6B, 0x6B, 0x6B, 0xFF}, // grey
	{0xB8, 0xA8, 0x00, 0xFF}, // yellow, darkened to be seen on white
}

var (
	ink   = color.RGBA{0x22, 0x22, 0x22, 0xFF}
	faint = color.RGBA{0x55, 0x55, 0x55, 0xFF}
	rule  = color.RGBA{0x99, 0x99, 0x99, 0xFF}
	grid  = color.RGBA{0xE6, 0xE6, 0xE6, 0xFF}
)

// dashes distinguish series in addition to colour, and in print without colour.
var dashes = [][]vg.Length{nil, {6, 2.5}, {1.5, 2}, {8, 2, 1.5, 2}}

func colour(i int) color.RGBA { return palette[i%len(palette)] }

// translucent returns c with the given opacity, premultiplied.
func translucent(c color.RGBA, opacity float64) color.RGBA {
	part := func(x uint8) uint8 { return uint8(math.Round(float64(x) * opacity)) }
	return color.RGBA{part(c.R), part(c.G), part(c.B), part(0xFF)}
}

// stroke returns the line style of series i. The dash changes with every full turn
// of the palette, and from the fifth series on with every series.
func stroke(i int) draw.LineStyle {
	s := draw.LineStyle{Color: colour(i), Width: 1.6}
	if i >= 4 {
		s.Dashes = dashes[(i-3)%len(dashes)]
	}
	return s
}

func style(size vg.Length, c color.Color, weight xfont.Weight) text.Style {
	return text.Style{
		Color:   c,
		Font:    font.Font{Typeface: "Liberation", Variant: "Sans", Weight: weight, Size: size},
		Handler: plot.DefaultTextHandler,
		XAlign:  draw.XLeft,
		YAlign:  draw.YTop,
	}
}

// newPlot returns an empty plot in the common style.
func newPlot(f Frame) *plot.Plot {
	p := plot.New()
	for _, a := range []struct {
		axis  *plot.Axis
		label string
		log   bool
	}{{&p.X, f.X, f.LogX}, {&p.Y, f.Y, f.LogY}} {
		a.axis.Label.Text = a.label
		a.axis.Label.TextStyle.Font = style(10, ink, xfont.WeightNormal).Font
		a.axis.Label.TextStyle.Color = ink
		a.axis.Label.Padding = 5
		a.axis.Tick.Label.Font = style(9, faint, xfont.WeightNormal).Font
		a.axis.Tick.Label.Color = faint
		a.axis.LineStyle = draw.LineStyle{Color: rule, Width: 0.75}
		a.axis.Tick.LineStyle = a.axis.LineStyle
		a.axis.Tick.Length = 4
		a.axis.Padding = 0
		a.axis.Tick.Marker = linearTicks{}
		if a.log {
			a.axis.Scale = plot.LogScale{}
			a.axis.Tick.Marker = logTicks{}
		}
	}
	return p
}

// entry is one line of the legend: a name and a small picture.
type entry struct {
	name   string
	swatch func(c draw.Canvas)
}

const (
	margin      = 10 * vg.Length(1)
	swatchWidth = 20 * vg.Length(1)
	swatchGap   = 5 * vg.Length(1)
	entryGap    = 16 * vg.Length(1)
	lineHeight  = 15 * vg.Length(1)
)

// draw paints the title, the legend, and the plot in the rest of the canvas.
func (d *drawing) draw(c draw.Canvas) {
	c.FillPolygon(color.White, rectangle(c.Min, c.Max))
	c = draw.Crop(c, margin, -1.6*margin, margin, -margin)
	if d.frame.Title != "" {
		title := style(12, ink, xfont.WeightBold)
		c.FillText(title, vg.Point{X: c.Min.X, Y: c.Max.Y}, d.frame.Title)
		c.Max.Y -= 21
	}
	c.Max.Y -= d.drawLegend(c)
	d.plot.Draw(c)
}

// drawLegend paints the entries in rows from the top left and returns their height.
func (d *drawing) drawLegend(c draw.Canvas) vg.Length {
	if len(d.legend) == 0 {
		return 0
	}
	name := style(9.5, ink, xfont.WeightNormal)
	name.YAlign = draw.YCenter
	x, y := c.Min.X, c.Max.Y
	for _, e := range d.legend {
		width := swatchWidth + swatchGap + name.Width(e.name)
		if x > c.Min.X && x+width > c.Max.X {
			x, y = c.Min.X, y-lineHeight
		}
		box := c
		box.Rectangle = vg.Rectangle{Min: vg.Point{X: x, Y: y - 10}, Max: vg.Point{X: x + swatchWidth, Y: y}}
		e.swatch(box)
		c.FillText(name, vg.Point{X: x + swatchWidth + swatchGap, Y: y - 5}, e.name)
		x += width + entryGap
	}
	return c.Max.Y - y + lineHeight + 4
}

func rectangle(low, high vg.Point) []vg.Point {
	return []vg.Point{low, {X: high.X, Y: low.Y}, high, {X: low.X, Y: high.Y}}
}

// line returns the swatch of a line, with its band if it has one.
func line(s draw.LineStyle, band bool) func(draw.Canvas) {
	return func(c draw.Canvas) {
		if band {
			c.FillPolygon(translucent(s.Color.(color.RGBA), bandOpacity), rectangle(c.Min, c.Max))
		}
		y := c.Center().Y
		c.StrokeLine2(s, c.Min.X, y, c.Max.X, y)
	}
}

// anyFont adds fonts of the same widths for viewers that lack the first one.
func anyFont(svg []byte) []byte {
	return bytes.ReplaceAll(svg, []byte("font-family:Liberation Sans"), []byte("font-family:Liberation Sans,Arial,Helvetica,sans-serif"))
}
