// Package chart draws the plots of the Foretime tools as SVG, PNG or JPEG.
//
// It sets the style: colours that colour-blind readers can distinguish, fonts,
// ticks, and a legend above the data that never covers it. The same data gives the
// same bytes. Data that cannot be drawn correctly is an error: an empty series, a
// NaN, a value of zero or less on a logarithmic axis. Units belong in the axis
// labels, as in "wall time (s)".
//
//	func main() {
//		c := chart.Lines{
//			Frame: chart.Frame{Title: "Queue wait", X: "time (h)", Y: "wait (min)"},
//			Series: []chart.Series{
//				{Name: "measured", X: hours, Y: minutes},
//				{Name: "predicted", X: hours, Y: guess, Low: low, High: high},
//			},
//		}
//		if err := chart.Save("wait.svg", c); err != nil {
//			log.Fatal(err)
//		}
//	}
//
// The charts are Lines and Scatter.
package chart
