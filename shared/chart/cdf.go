package chart

import (
	"fmt"
	"slices"
)

// Sample is a named set of observations of one quantity.
type Sample struct {
	Name   string
	Values []float64
}

func checkSamples(samples []Sample) error {
	if len(samples) == 0 {
		return ErrEmpty
	}
	for _, s := range samples {
		if len(s.Values) == 0 {
			return fmt.Errorf("series %q: %w", s.Name, ErrEmpty)
		}
		if err := finite(s.Name, s.Values); err != nil {
			return err
		}
	}
	return nil
}

// CDF is a chart of empirical distribution functions: the fraction of observations
// at or below each X. The Y label may be empty.
type CDF struct {
	Frame
	Samples []Sample
}

func (c CDF) drawing() (*drawing, error) {
	if err := checkSamples(c.Samples); err != nil {
		return nil, err
	}
	xs := emptySpan()
	for _, s := range c.Samples {
		xs.add(s.Values...)
	}
	lines := Lines{Frame: c.Frame, Steps: true}
	lines.LogY = false
	if lines.Y == "" {
		lines.Y = "share of observations"
	}
	for _, s := range c.Samples {
		lines.Series = append(lines.Series, cumulate(s, xs))
	}
	d, err := lines.drawing()
	if err != nil {
		return nil, err
	}
	d.plot.Y.Min, d.plot.Y.Max = 0, 1
	return d, nil
}

// cumulate returns the steps of a sample's distribution function across the whole
// axis. Steps below a thousandth are merged, so there are at most about a thousand.
func cumulate(s Sample, axis span) Series {
	const most = 1000
	sorted := slices.Sorted(slices.Values(s.Values))
	out := Series{Name: s.Name, X: []float64{axis.low}, Y: []float64{0}}
	n, drawn := len(sorted), 0
	for i, x := range sorted {
		again := i+1 < n && sorted[i+1] == x
		if again || (i+1-drawn)*most < n {
			continue
		}
		drawn = i + 1
		out.X = append(out.X, x)
		out.Y = append(out.Y, float64(drawn)/float64(n))
	}
	out.X, out.Y = append(out.X, axis.high), append(out.Y, 1)
	return out
}
