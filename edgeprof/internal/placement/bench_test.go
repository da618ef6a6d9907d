package placement

import "testing"

// One request in, one answer out.
func BenchmarkAnswer(b *testing.B) {
	b.ReportAllocs()
	var to []byte
	for b.Loop() {
		r, _, err := ParseRequest([]byte(asked))
		if err != nil {
			b.Fatal(err)
		}
		if to, err = AppendAnswer(to[:0], r, Answer{"rpi-1", "Computer", "Raspberry Pi 4B", "4e849968-21fc-11ed-a346-204ef6b52cc7", 14.74413776397705}, nil); err != nil {
			b.Fatal(err)
		}
	}
}
