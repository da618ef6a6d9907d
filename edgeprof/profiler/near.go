package profiler

import (
	"math"

	"github.com/foretime/foretime/edgeprof/kernel"
)

// Near is a kernel of the user's own models that was measured on the device: how
// far its time was from what rates and trees say.
type Near struct {
	Op     string    `json:"op"`
	Sizes  nearSizes `json:"sizes"` // logarithms of base 2; see [near]
	Factor float64   `json:"factor"`
}

// nearSizes place a kernel among those of its operator.
type nearSizes [10]float64

func near(k *kernel.Row) nearSizes {
	return nearSizes{
		logSize(k.MACs), logSize(k.ParameterBytes), logSize(k.ReadBytes), logSize(k.WrittenBytes), logSize(k.Rows), logSize(k.Depth), logSize(k.Columns),
		logSize(k.Window), 2 * logSize(k.Stride), logSize(k.Groups),
	}
}

// The neighbourhood of a kernel: how many doublings of one size apart two are
// that tell half as much of each other as of themselves, and how many measured
// kernels what rates and trees say is worth. Of 19 models that people ship, half
// of them known, the rest is 7.7 to 10 % off either way: kernels tell little but
// of their like, so that neighbourhoods are small.
const (
	reach = 0.5
	prior = 0.3
)

// neighbours correct a kernel's time by those of kernels near it: a weighted mean
// of logarithms (Nadaraya and Watson's), drawn towards no correction where none
// is near.
type neighbours map[string][]Near

func (n neighbours) factor(k *kernel.Row) float64 {
	at, sum, weight := near(k), 0.0, prior
	for i := range n[k.Op] {
		known := &n[k.Op][i]
		d := 0.0
		for j := range at {
			d += (at[j] - known.Sizes[j]) * (at[j] - known.Sizes[j])
		}
		w := math.Exp2(-d / (reach * reach))
		sum += w * math.Log(known.Factor)
		weight += w
	}
	return math.Exp(sum / weight)
}
