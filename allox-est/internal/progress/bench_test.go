package progress

import (
	"fmt"
	"slices"
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

// BenchmarkRepeats reads one line again and again, with a number and without.
func BenchmarkRepeats(b *testing.B) {
	for _, line := range []string{"error 404: 3 of 5 tries failed\n", "name | value | state\n"} {
		b.Run(line[:5], func(b *testing.B) {
			var r Reader
			var s Splitter
			for range b.N {
				s.Split([]byte(line), func(text string) { r.Line(text, 1) })
			}
		})
	}
}

// TestRepeats: a line that comes again and again is read a few times, and what comes after it too.
func TestRepeats(t *testing.T) {
	var r Reader
	marks := read(&r, append(slices.Repeat([]string{"epoch 1/9 0.5"}, 100), every("epoch %d/9 0.5", 2, 6, 1)...)...)
	for _, c := range r.counters {
		if c.seen > mostRepeats+6 {
			t.Errorf("%q was read %d times", c.key, c.seen)
		}
	}
	if len(marks) == 0 || marks[len(marks)-1].Number < 5 {
		t.Errorf("%v", marks)
	}
}
