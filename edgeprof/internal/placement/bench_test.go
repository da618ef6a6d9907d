package placement

import (
	"bytes"
	"testing"

	"github.com/foretime/foretime/shared/uncertainty"
)

// One request in, one answer out.
func BenchmarkAnswer(b *testing.B) {
	b.ReportAllocs()
	fastest := Candidate{Node: "rpi-1", Class: "Computer", Model: "Raspberry Pi 4B", UUID: "4e849968-21fc-11ed-a346-204ef6b52cc7", Seconds: uncertainty.Point(14.74413776397705)}
	var out bytes.Buffer
	for b.Loop() {
		out.Reset()
		r, _, err := ParseRequest([]byte(asked))
		if err != nil {
			b.Fatal(err)
		}
		if err := r.Answer(fastest).Write(&out); err != nil {
			b.Fatal(err)
		}
	}
}
