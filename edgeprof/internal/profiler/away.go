package profiler

import (
	"cmp"
	"fmt"
	"math"

	"github.com/foretime/foretime/edgeprof/internal/device"
	"github.com/foretime/foretime/shared/uncertainty"
)

// Away compares a device with the one whose rates it is predicted by.
type Away struct {
	Why    string  // the device is another; "" when it is not
	Factor float64 // on times, from clocks and kinds of cores
	// Spread is the distance of the logarithm of a time from that, at [Level].
	Spread float64
}

// spreads holds the distance of logarithms of latencies from what cores and clocks predict,
// which contains 9 pairs of boards in 10: by whether the kinds of cores are known, then whether
// both clocks are. Measured on pairs of chips in Tencent/ncnn's table that had no part in the
// costs of cores, one thread in single precision.
var spreads = map[[2]bool]float64{{true, true}: 0.65, {true, false}: 0.85, {false, true}: 2.45, {false, false}: 3.4}

// sameCore is the spread between chips whose cores have one name, both clocks being
// known, from the same pairs of chips as spreads.
const sameCore = 0.35

// Away describes how a device differs from the one that was calibrated.
func (c *Calibration) Away(d *device.Device) Away {
	f := &c.Facts
	why := f.foreign(d)
	if why == "" {
		return Away{Factor: 1}
	}
	clocks := d.MaxMHz > 0 && f.MaxMHz > 0
	factor := 1.0
	if clocks {
		factor = f.MaxMHz / d.MaxMHz
	}
	here, ok := device.CoreCost(f.Processor, f.Device)
	there, known := d.CoreCost()
	alike := d.Model != "" && d.Model == f.Device && !otherVectors(d, f)
	named := f.Shipped // alike by name alone
	a := Away{Why: why, Factor: factor, Spread: spreads[[2]bool{alike || ok && known, clocks && !(alike && named)}]}
	if core := device.FastestCore(d.Processor, d.Model); clocks && (alike && !named || core != "" && core == device.FastestCore(f.Processor, f.Device)) {
		a.Spread = sameCore
		return a
	}
	if ok && known {
		a.Factor *= there / here
	}
	return a
}

// Widen returns an interval of the calibrated device on the other one: two errors that
// know nothing of each other.
func (a Away) Widen(p uncertainty.Prediction) uncertainty.Prediction {
	if a.Why == "" || !p.IsBounded() {
		return p
	}
	w := a.widen(bandBetween(p.Low/p.Value, p.High/p.Value)).Predict(p.Value)
	w.Level = p.Level
	return w
}

func (a Away) widen(b uncertainty.Band) uncertainty.Band {
	return bandBetween(math.Exp(-math.Hypot(math.Log(b.Low), a.Spread)), math.Exp(math.Hypot(math.Log(b.High), a.Spread)))
}

func (a Away) warning(node, calibrated string) error {
	return fmt.Errorf("%w: %s is predicted with rates of %s: %s; estimated factor on times: %.2g, in 9 of 10 cases %.2g to %.2g (edgeprof calibrate measures it)",
		ErrForeign, node, cmp.Or(calibrated, "another machine"), a.Why, a.Factor, a.Factor*math.Exp(-a.Spread), a.Factor*math.Exp(a.Spread))
}

// otherVectors reports whether a device's vectors have another width than those of the
// processor that was measured.
func otherVectors(d *device.Device, f *Facts) bool {
	there, here := device.VectorWidth(d.Processor), device.VectorWidth(f.Processor)
	return there > 0 && here > 0 && there != here
}

// sameClock is the factor that clocks may differ by: what a kernel reports
// as a processor's clock varies from moment to moment.
const sameClock = 1.25

// foreign returns the reason why rates were not measured on a device; "" when they were. Ids
// are cloned with the images of machines: they decide only where a device does
// not name its model.
func (f *Facts) foreign(d *device.Device) string {
	told := d.Model != "" && f.Device != "" && d.Cores > 0 && f.Cores > 0
	switch {
	case d.Model != "" && f.Device != "" && d.Model != f.Device:
		return fmt.Sprintf("its model is %s", d.Model)
	case otherVectors(d, f):
		return fmt.Sprintf("its processor is %s, not %s", d.Processor, f.Processor)
	case told && d.Cores != f.Cores:
		return fmt.Sprintf("core count %d, not %d", d.Cores, f.Cores)
	case d.MaxMHz > 0 && f.MaxMHz > 0 && (d.MaxMHz > sameClock*f.MaxMHz || f.MaxMHz > sameClock*d.MaxMHz):
		return fmt.Sprintf("%.0f MHz, not %.0f", d.MaxMHz, f.MaxMHz)
	case f.Shipped:
		return "this machine was not measured"
	case !told && d.UUID != f.UUID:
		return "another machine"
	}
	return ""
}
