package progress

import (
	"fmt"
	"testing"
)

// BenchmarkLine reads the lines of a trainer that prints ten numbers a line.
func BenchmarkLine(b *testing.B) {
	var r Reader
	b.ReportAllocs()
	for i := range b.N {
		r.Line(fmt.Sprintf("2031-06-12 14:11:%02d,%03d | INFO | train | epoch %03d: %6d / 1050 loss=%.2f, ppl=%.2f, wps=%d, ups=1.62, lr=0.001, gnorm=2.1", i/1000%60, i%1000, i/1050, i%1050, float64(i%97)/10, float64(i%31)/7, 900+i%99), float64(i)/100)
	}
}

// BenchmarkMarks asks for the marks after each line, as a command that follows a run.
func BenchmarkMarks(b *testing.B) {
	var r Reader
	b.ReportAllocs()
	for i := range b.N {
		r.Line(fmt.Sprintf("epoch %03d: %6d / 1050 loss=%.2f", i/1050, i%1050, float64(i%97)/10), float64(i)/100)
		r.Marks()
	}
}
