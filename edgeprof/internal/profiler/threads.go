package profiler

import (
	"math"

	"github.com/foretime/foretime/edgeprof/internal/onnx"
)

// usualParallel is the share of a kernel's time that threads divide among them, for rates
// that were measured with one number of threads only.
const usualParallel = 0.8

// threadDoubt is the part of the logarithm of a change of the number of threads by which a time
// may be off that no number of threads near it was measured for.
const threadDoubt = 0.3

// ForThreads returns the rates of inferences with n threads: those that were measured with as
// many, or what Amdahl's law makes of the two numbers of threads that were.
func (c *Calibration) ForThreads(n int) *Calibration {
	one := max(1, c.Facts.Threads)
	switch {
	case n == one || n < 1:
		return c
	case c.All != nil && n == c.All.Facts.Threads:
		return c.All
	}
	scaled := *c
	scaled.All = nil
	measured := one
	if c.All != nil {
		scaled = *c.All
		measured = c.All.Facts.Threads
	}
	scaled.Rates = map[onnx.Class]Rates{}
	for _, class := range classes {
		r := c.Rates[class]
		all, ok := r, false
		if c.All != nil {
			all, ok = c.All.Rates[class]
		}
		at := func(base, many float64) float64 {
			share := usualParallel
			if ok && base > 0 {
				part := many * c.All.scale() / (base * c.scale()) // amdahl(share, measured) / amdahl(share, one)
				most, least := 1-1/float64(measured), 1-1/float64(one)
				share = min(1, max(0, (1-part)/max(most-part*least, 1e-9)))
			}
			return base * c.scale() / scaled.scale() * amdahl(share, n) / amdahl(share, one)
		}
		scaled.Rates[class] = Rates{Start: max(r.Start, all.Start), MAC: at(r.MAC, all.MAC), Byte: at(r.Byte, all.Byte), Nodes: r.Nodes}
	}
	scaled.Facts.Threads = n
	band := Away{Spread: threadDoubt * math.Abs(math.Log(float64(n)/float64(measured)))}.widen(bandBetween(scaled.Low, scaled.High))
	scaled.Low, scaled.High = band.Low, band.High
	return &scaled
}

// amdahl returns the time with n threads over that with one, if they divide a share of it
// (Amdahl, AFIPS 1967).
func amdahl(share float64, n int) float64 { return 1 - share + share/float64(n) }
