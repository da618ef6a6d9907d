// Package chart draws the few plots the Foretime tools need, in one house
// style, as SVG or PNG.
//
// It decides for its caller everything about looks: colours that colour-blind
// readers tell apart, fonts, ticks, a legend above the data that never covers
// it, and bytes that are the same for the same data. It refuses data it cannot
// show truly: an empty series, a NaN, a value of zero or less on a logarithmic
// axis. Units belong in the axis labels, as in "wall time (s)".
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
// The charts are Lines, CDF, Scatter and Gantt.
package chart
