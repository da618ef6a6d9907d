package chart

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/foretime/foretime/shared/file"
)

// Errors returned when data cannot be drawn. They arrive wrapped with the
// series and the point.
var (
	// ErrEmpty is returned when there is nothing to draw.
	ErrEmpty = errors.New("no data")
	// ErrNotFinite is returned for a NaN, an infinity, or a number too large for an
	// axis.
	ErrNotFinite = errors.New("not a finite number")
	// ErrLength is returned when parallel slices differ in length.
	ErrLength = errors.New("lengths differ")
	// ErrLogScale is returned for a value of zero or less on a logarithmic axis.
	ErrLogScale = errors.New("not above zero on a logarithmic axis")
	// ErrOrder is returned for an interval whose end is before its begin.
	ErrOrder = errors.New("end before begin")
	// ErrFormat is returned for a file name that ends in none of .svg, .png and .jpg.
	ErrFormat = errors.New("unknown image format")
)

// Chart is one of the charts of this package.
type Chart interface {
	drawing() (*drawing, error)
}

// Frame holds the settings that all charts share.
type Frame struct {
	Title string
	// X and Y are the axis labels, with units.
	X, Y string
	// LogX and LogY make an axis logarithmic.
	LogX, LogY bool
}

// drawing is a chart made of plot elements.
type drawing struct {
	plot   *plot.Plot
	frame  Frame
	square bool
	legend []entry
}

const (
	imageDPI    = 144
	jpegQuality = 95 // lines keep sharp edges
)

// SVG writes the chart as an SVG document.
func SVG(w io.Writer, c Chart) error {
	d, err := c.drawing()
	if err != nil {
		return err
	}
	canvas := vgsvg.New(d.size())
	d.draw(draw.New(canvas))
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return err
	}
	_, err = w.Write(anyFont(b.Bytes()))
	return err
}

// PNG writes the chart as a PNG image of 144 dots per inch.
func PNG(w io.Writer, c Chart) error { return writeImage(w, c, png.Encode) }

// JPEG writes the chart as a JPEG image of 144 dots per inch.
func JPEG(w io.Writer, c Chart) error {
	return writeImage(w, c, func(w io.Writer, m image.Image) error { return jpeg.Encode(w, m, &jpeg.Options{Quality: jpegQuality}) })
}

// writeImage draws the chart in dots and encodes them.
func writeImage(w io.Writer, c Chart, encode func(io.Writer, image.Image) error) error {
	d, err := c.drawing()
	if err != nil {
		return err
	}
	width, height := d.size()
	canvas := vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(imageDPI))
	d.draw(draw.New(canvas))
	return encode(w, canvas.Image())
}

// formats holds the writers by the file name's extension.
var formats = map[string]func(io.Writer, Chart) error{".svg": SVG, ".png": PNG, ".jpg": JPEG, ".jpeg": JPEG}

// Check returns an error if no chart can be saved to a path: its extension names no form, or its
// directory does not exist.
func Check(path string) error {
	if formats[strings.ToLower(filepath.Ext(path))] == nil {
		return fmt.Errorf("%s: %w (want .svg, .png or .jpg)", path, ErrFormat)
	}
	_, err := os.Stat(filepath.Dir(path))
	return err
}

// Save writes the chart to a file, as SVG, PNG or JPEG by the file name's extension, .svg,
// .png or .jpg. The file appears complete or not at all.
func Save(path string, c Chart) error {
	if err := Check(path); err != nil {
		return err
	}
	write := formats[strings.ToLower(filepath.Ext(path))]
	if err := file.Write(path, func(w io.Writer) error { return write(w, c) }); err != nil {
		return fmt.Errorf("chart %s: %w", path, err)
	}
	return nil
}

func (d *drawing) size() (width, height vg.Length) {
	if d.square {
		return 5.2 * vg.Inch, 5.2 * vg.Inch
	}
	return 7 * vg.Inch, 4.2 * vg.Inch
}

// finite checks the values of one series.
func finite(name string, values []float64) error {
	for i, x := range values {
		if !drawable(x) {
			return fmt.Errorf("series %q: point %d: %v: %w", name, i, x, ErrNotFinite)
		}
	}
	return nil
}

func drawable(x float64) bool { return math.Abs(x) <= 1e300 }

// sameLength checks slices that belong to one series; optional ones may be nil.
func sameLength(name string, n int, optional ...[]float64) error {
	for _, s := range optional {
		if s != nil && len(s) != n {
			return fmt.Errorf("series %q: %w: %d and %d", name, ErrLength, n, len(s))
		}
	}
	return nil
}
