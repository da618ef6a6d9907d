package chart_test

import (
	"bytes"
	"fmt"
	"log"

	"github.com/foretime/foretime/shared/chart"
)

func ExampleSVG() {
	var svg bytes.Buffer
	err := chart.SVG(&svg, chart.Lines{
		Frame:  chart.Frame{Title: "Queue wait", X: "time (h)", Y: "wait (min)"},
		Series: []chart.Series{{Name: "measured", X: []float64{0, 1, 2}, Y: []float64{3, 5, 4}}},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(bytes.Contains(svg.Bytes(), []byte("<svg")))
	// Output: true
}
