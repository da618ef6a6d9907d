package profiling

import (
	"context"
	"fmt"
	"math"

	"github.com/foretime/foretime/edgeprof/device"
	"github.com/foretime/foretime/edgeprof/onnx"
	"github.com/foretime/foretime/edgeprof/profiler"
	"github.com/foretime/foretime/edgeprof/synth"
	"github.com/foretime/foretime/shared/regression"
	"github.com/foretime/foretime/shared/regression/linear"
)

// Law is the time of one inference on an idle machine as a product of powers of
// the counts, none of them below zero: more of anything never takes less time.
// It is fitted to what a calibration says of models of every family, whose
// files say what the counts leave out, so it is coarse; its interval says how
// coarse.
type Law struct {
	// Powers of one plus each count, in the order of [Fields].
	Powers [len(Fields)]float64
	// Factor is the seconds of a model with no counts.
	Factor float64
	// Low and High are factors on a predicted time that bound the interval.
	Low, High float64
	// Models is how many models it was fitted to, Error their median factor
	// between the law and the calibration, of families that were left out.
	Models int
	Error  float64
	// Most is the most of each count among those models.
	Most Counts
}

// Unlike are the names of counts far beyond those of the models that the law was
// fitted to; a prediction for them is extrapolated.
func (l *Law) Unlike(c Counts) []string {
	var names []string
	for i, name := range Fields {
		if *c.field(i)/10 > *l.Most.field(i) {
			names = append(names, name)
		}
	}
	return names
}

// sizes of every family that a law is fitted to: width and resolution as
// factors of the family's own.
var sizes = []synth.Size{
	{Width: 0.25, Resolution: 64}, {Width: 0.5, Resolution: 64}, {Width: 0.5, Resolution: 128}, {Width: 1, Resolution: 96}, {Width: 1}, {Width: 1.5, Resolution: 160},
}

// Fit finds the law that a calibration follows.
func Fit(ctx context.Context, c *profiler.Calibration) (*Law, error) {
	s := regression.Samples{Features: len(Fields) + 2}
	var families []string
	var most Counts
	for _, family := range synth.Families() {
		for _, size := range sizes {
			m, err := synth.New(family, size)
			if err != nil {
				return nil, fmt.Errorf("%s %+v: %w", family, size, err)
			}
			a, err := onnx.Analyze(m, onnx.Settings{})
			if err != nil {
				return nil, fmt.Errorf("%s %+v: %w", family, size, err)
			}
			counts, err := Of(a)
			if err != nil {
				return nil, fmt.Errorf("%s %+v: %w", family, size, err)
			}
			for i := range Fields {
				*most.field(i) = max(*most.field(i), *counts.field(i))
			}
			x := row(counts)
			s.X = append(s.X, x[:]...)
			s.Y = append(s.Y, math.Log(c.Predict(a, calibrated(c)).Idle))
			families = append(families, family)
		}
	}
	m, err := linear.NNLS{NoIntercept: true}.Solve(s)
	if err != nil {
		return nil, err
	}
	law := &Law{Models: s.Len(), Most: most, Factor: math.Exp(m.Coefficients[len(Fields)] - m.Coefficients[len(Fields)+1])}
	copy(law.Powers[:], m.Coefficients)
	return law, law.judge(ctx, s, families, c)
}

// judge finds the interval, from families that had no part in the fit.
func (l *Law) judge(ctx context.Context, s regression.Samples, families []string, c *profiler.Calibration) error {
	folds, err := regression.GroupFolds(families, len(synth.Families()), 1)
	if err != nil {
		return err
	}
	rows, predicted, err := regression.CrossPredict(ctx, linear.NNLS{NoIntercept: true}, s, folds)
	if err != nil {
		return err
	}
	var ratios, sizes []float64
	for i, r := range rows {
		off := s.Y[r] - predicted[i].Value
		ratios, sizes = append(ratios, math.Exp(off)), append(sizes, math.Abs(off))
	}
	var q [3]float64
	for i, at := range []struct {
		values []float64
		p      float64
	}{{ratios, (1 - profiler.Level) / 2}, {ratios, (1 + profiler.Level) / 2}, {sizes, 0.5}} {
		if q[i], err = regression.Quantile(at.values, at.p); err != nil {
			return err
		}
	}
	l.Low, l.High, l.Error = q[0]*c.Low, q[1]*c.High, math.Exp(q[2])
	return nil
}

// calibrated is the machine of a calibration, idle.
func calibrated(c *profiler.Calibration) device.Device {
	return device.Device{UUID: c.Facts.UUID, Cores: max(1, c.Facts.Cores)}
}

// Of are the counts of an analysed model.
func Of(a *onnx.Analysis) (Counts, error) {
	c, err := a.Characteristics()
	if err != nil {
		return Counts{}, err
	}
	return Counts{
		uint64(c.ConvLayers), uint64(c.PoolLayers), uint64(c.FCLayers), uint64(c.FilterDetails),
		uint64(c.TotalParameters), uint64(c.ModelInputSize), uint64(c.ModelOutputSize),
	}, nil
}

// row is a sample's features: logarithms, and a constant of either sign.
func row(c Counts) [len(Fields) + 2]float64 {
	var x [len(Fields) + 2]float64
	for i := range Fields {
		x[i] = math.Log1p(float64(*c.field(i)))
	}
	x[len(Fields)], x[len(Fields)+1] = 1, -1
	return x
}

// Predict is the time of one inference on the calibrated machine, idle.
func (l *Law) Predict(c Counts) regression.Prediction {
	sum := 0.0
	for i, power := range l.Powers {
		if power > 0 {
			sum += power * math.Log1p(float64(*c.field(i)))
		}
	}
	v := l.Factor * math.Exp(sum)
	return regression.Prediction{Value: v, Low: v * l.Low, High: v * l.High}
}

// Slower is how many times longer than on the calibrated machine, idle, an
// inference takes on a device as it is loaded now, whatever the model. The
// error matches [profiler.ErrCalibration]: rates that are all zero.
func Slower(c *profiler.Calibration, d device.Device) (factor float64, p profiler.Prediction, err error) {
	some := &onnx.Analysis{Costs: []onnx.Cost{{Class: onnx.ClassConv, MACs: 1e9, ReadBytes: 1e6}, {Class: onnx.ClassOther, ReadBytes: 1e6}}}
	base := c.Predict(some, calibrated(c)).Idle
	p = c.Predict(some, d)
	if factor = p.Seconds.Value / base; !(factor > 0) || math.IsInf(factor, 0) {
		return 0, p, fmt.Errorf("%w: rates that are all zero", profiler.ErrCalibration)
	}
	return factor, p, nil
}
