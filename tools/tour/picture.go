package tour

import (
	"math"
	"strconv"
)

// Picture is the story on one relative axis: each prediction is at 1, its interval
// and the measurement are ratios to it. The axis is logarithmic.
type Picture struct {
	Rows  []Row
	Ticks []Tick
}

// Row is one prediction. Places are percent of the width.
type Row struct {
	Module                      string
	Line                        Line
	Left, Width, At, MeasuredAt float64
}

// Tick is a labelled place of the axis.
type Tick struct {
	At    float64
	Label string
}

// Picture returns the picture of the story's predictions.
func (r *Results) Picture() Picture {
	var p Picture
	reach := math.Log(1.5) // of the axis, on both sides of 1
	for _, c := range r.Chapters {
		for _, l := range c.Story {
			if l.Predicted == nil || l.Unmeasured != "" {
				continue
			}
			p.Rows = append(p.Rows, Row{Module: c.Module, Line: l})
			for _, v := range []float64{l.Predicted.Low, l.Predicted.High, l.Measured} {
				reach = max(reach, min(math.Abs(math.Log(v/l.Predicted.Value)), math.Log(limit)))
			}
		}
	}
	reach *= 1.05
	place := func(ratio float64) float64 {
		return 50 + 50*max(-1, min(1, math.Log(ratio)/reach))
	}
	for i := range p.Rows {
		row := &p.Rows[i]
		of := row.Line.Predicted
		row.Left, row.At = place(of.Low/of.Value), place(1)
		row.Width = place(of.High/of.Value) - row.Left
		row.MeasuredAt = place(row.Line.Measured / of.Value)
	}
	for _, ratio := range []float64{0.1, 0.2, 0.5, 1, 2, 5, 10} {
		if math.Abs(math.Log(ratio)) <= reach {
			p.Ticks = append(p.Ticks, Tick{place(ratio), strconv.FormatFloat(ratio, 'g', -1, 64) + " ×"})
		}
	}
	return p
}

// limit is the greatest ratio on the axis; larger ones are drawn at its end.
const limit = 10
