package counts

import "testing"

// One request in, one answer out.
func BenchmarkAnswer(b *testing.B) {
	b.ReportAllocs()
	var to []byte
	for b.Loop() {
		r, _, err := Parse([]byte(asked))
		if err != nil {
			b.Fatal(err)
		}
		if to, err = Append(to[:0], r, Prediction{"rpi-1", "Computer", "Raspberry Pi 4B", "4e849968-21fc-11ed-a346-204ef6b52cc7", 14.74413776397705}, nil); err != nil {
			b.Fatal(err)
		}
	}
}
