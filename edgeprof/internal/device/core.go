package device

import (
	"cmp"
	"regexp"
	"strings"
)

// grade is a kind of core: those whose names match take about as many cycles for
// the same models.
type grade struct {
	names *regexp.Regexp
	cost  float64
}

// grades are found by the first that fits a processor's name, or a board's: the
// fastest first, since a chip may have cores of several. A cost is the cycles that
// convolutional networks take with one thread in single precision, over those of a
// core with two vector units: means over the boards of Tencent/ncnn's table
// (TestElsewhereOnBoards). Which cores stand together follows their vector units:
// four, two, one out of order, one in order, half of one, less.
var grades = []grade{
	{regexp.MustCompile(`(?i)epyc 7..1\b|ryzen \d 1\d\d\d|v1605b`), one},
	{regexp.MustCompile(`(?i)cortex-x[1-9]|apple m\d|oryon|macbook|snapdragon 8 gen`), 0.57},
	{regexp.MustCompile(`(?i)cortex-(a76|a77|a78|a71\d|a72\d)|neoverse|cobalt|graviton|carmel|kr?yo ?4\d\d|kunpeng|orin|xavier|raspberry pi (5|compute module 5)|epyc|ryzen|zen[2345]|xeon|core(\(tm\))? (i\d|ultra)`), 1},
	{regexp.MustCompile(`(?i)cortex-a(55|57|72|73|75)\b|kr?yo ?260|denver|ftc66|raspberry pi (4|compute module 4)|jetson (nano|tx)`), one},
	{regexp.MustCompile(`(?i)cortex-a(53|35)\b|raspberry pi (3|zero 2|compute module 3)`), 5.7},
	{regexp.MustCompile(`(?i)cortex-a1[57]\b|\batom\b|silvermont|la264|\bc906\b`), 8.2},
	{regexp.MustCompile(`(?i)cortex-a[579]\b|celeron m|yonah|gs264`), 13.3},
}

// one vector unit, out of order.
const one = 3.4

// CoreCost returns the cycles that a device's cores take for a model, relative to others; false if
// neither the processor's name nor the device's is known. Vectors twice as wide halve it (256
// bits if a name of x86 does not say).
func (d *Device) CoreCost() (float64, bool) { return CoreCost(d.Processor, d.Model) }

// CoreCost returns the cost of the first known name.
func CoreCost(names ...string) (float64, bool) {
	for _, name := range names {
		for _, g := range grades {
			if g.names.MatchString(name) {
				return g.cost * 256 / float64(cmp.Or(VectorWidth(name), 256)), true
			}
		}
	}
	return 0, false
}

// vectors are the extensions of x86 by the flag that /proc/cpuinfo shows, the widest
// first, and their widths in bits. A virtual machine's processor is often named by
// its maker alone.
var vectors = []struct {
	flag, name string
	bits       int
}{{"avx512f", "AVX-512", 512}, {"avx2", "AVX2", 256}, {"sse2", "SSE2", 128}}

// VectorWidth returns the width of the vectors of a processor that [Local] found, in bits; 0 if its
// name does not say.
func VectorWidth(processor string) int {
	for _, v := range vectors {
		if strings.HasSuffix(processor, ", "+v.name) {
			return v.bits
		}
	}
	return 0
}

// named matches cores whose makers license them, so many chips have them.
var named = regexp.MustCompile(`(?i)(cortex-[ax]\d+|neoverse[ -]\w\d)`)

// FastestCore returns the fastest core in some names; "" if there is none.
func FastestCore(names ...string) string {
	best, cost := "", 0.0
	for _, name := range names {
		for _, core := range named.FindAllString(name, -1) {
			if c, ok := CoreCost(core); ok && (best == "" || c < cost) {
				best, cost = strings.ToLower(core), c
			}
		}
	}
	return best
}

// parts holds the cores of Arm Ltd by their number in /proc/cpuinfo (MIDR_EL1).
var parts = map[string]string{
	"0xc05": "Cortex-A5", "0xc07": "Cortex-A7", "0xc09": "Cortex-A9", "0xc0e": "Cortex-A17", "0xc0f": "Cortex-A15", "0xd03": "Cortex-A53", "0xd04": "Cortex-A35",
	"0xd05": "Cortex-A55", "0xd07": "Cortex-A57", "0xd08": "Cortex-A72", "0xd09": "Cortex-A73", "0xd0a": "Cortex-A75", "0xd0b": "Cortex-A76", "0xd0c": "Neoverse-N1",
	"0xd0d": "Cortex-A77", "0xd40": "Neoverse-V1", "0xd41": "Cortex-A78", "0xd42": "Cortex-A78AE", "0xd44": "Cortex-X1", "0xd47": "Cortex-A710", "0xd48": "Cortex-X2",
	"0xd49": "Neoverse-N2", "0xd4d": "Cortex-A715", "0xd4e": "Cortex-X3", "0xd4f": "Neoverse-V2", "0xd81": "Cortex-A720", "0xd82": "Cortex-X4",
}
