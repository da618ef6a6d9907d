package perfmodel

import (
	"encoding/binary"
	"hash/maphash"
	"math"
)

// maxFeatures bounds the width of the power law, which keeps learning from a task of many
// arguments cheap.
const maxFeatures = 6

// features returns the logarithms of one plus each size in bytes. Sizes beyond the
// most are summed into the last.
func features(sizes []int64) []float64 {
	x := make([]float64, min(len(sizes), maxFeatures))
	for i, s := range sizes {
		x[min(i, maxFeatures-1)] += math.Max(float64(s), 0)
	}
	for i := range x {
		x[i] = math.Log1p(x[i])
	}
	return x
}

// hashSeed is the same for all footprints of a process.
var hashSeed = maphash.MakeSeed()

// hash returns a hash of the sizes.
func hash(sizes []int64) uint64 {
	var room [8 * 16]byte
	text := room[:0]
	for _, s := range sizes {
		text = binary.LittleEndian.AppendUint64(text, uint64(s))
	}
	return maphash.Bytes(hashSeed, text)
}
