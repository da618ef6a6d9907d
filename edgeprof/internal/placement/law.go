package placement

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/foretime/foretime/edgeprof/internal/device"
	"github.com/foretime/foretime/edgeprof/internal/onnx"
	"github.com/foretime/foretime/edgeprof/internal/profiler"
	"github.com/foretime/foretime/edgeprof/internal/synth"
	"github.com/foretime/foretime/shared/regression"
	"github.com/foretime/foretime/shared/regression/linear"
	"github.com/foretime/foretime/shared/stats"
	"github.com/foretime/foretime/shared/uncertainty"
)

// PowerLaw is the time of one inference on an idle machine as a product of powers of
// counts, none of them below zero: more of anything never takes less time. It is
// fitted to the times that a calibration predicts for models of every family. Their files
// contain what the counts leave out, so it is coarse, and its interval is wide.
// Models with convolutions have a law of their own, as one weight does much more
// work in them.
type PowerLaw struct {
	Convolutional, Other PowerFit
	// MaxCounts has the largest of each count among those models, MinCounts the smallest of
	// those that predict: filters of models with convolutions, parameters and input bytes.
	MaxCounts, MinCounts Counts
}

// PowerFit is a fitted product of powers.
type PowerFit struct {
	// Exponents of one plus filters, parameters and input bytes: the counts that
	// predict families which were left out best.
	Filters, Parameters, Input float64
	// Factor is the seconds of a model with no counts.
	Factor float64
	// Low and High are factors on a predicted time that bound the interval.
	Low, High float64
	// Error is the median factor between the law and the calibration, of
	// families that were left out.
	Error float64
}

// powers returns the law for a model with these counts.
func (l *PowerLaw) powers(c Counts) *PowerFit {
	if c.ConvLayers > 0 {
		return &l.Convolutional
	}
	return &l.Other
}

// PredictionError returns the law's error for a model with these counts; see [PowerFit].
func (l *PowerLaw) PredictionError(c Counts) float64 { return l.powers(c).Error }

// UnfamiliarCounts returns the names of counts far above or below those of the models that the
// law was fitted to; a prediction for them is extrapolated.
func (l *PowerLaw) UnfamiliarCounts(c Counts) []string { return l.beyond(c, 10) }

// outside is the factor over the largest fitted count, and under the smallest, from which on the
// law does not apply.
const outside = 100

// UnusableCounts returns the names of counts that the law cannot use, too small ones marked.
func (l *PowerLaw) UnusableCounts(c Counts) []string {
	c.ModelOutputSize = 0 // which has no part in the law
	return l.beyond(c, outside)
}

func (l *PowerLaw) beyond(c Counts, times uint64) []string {
	var names []string
	for i, name := range RequestFields {
		switch {
		case *c.field(i)/times > *l.MaxCounts.field(i):
			names = append(names, name)
		case *c.field(i) < l.least(c, i, times):
			names = append(names, name+" (too small)")
		}
	}
	return names
}

// least returns the least value of a count that is less than a factor below the fitted ones.
func (l *PowerLaw) least(c Counts, i int, times uint64) uint64 {
	if i == filterDetails && c.ConvLayers == 0 {
		return 0
	}
	return (*l.MinCounts.field(i) + times - 1) / times
}

// sizes of every family that a law is fitted to: width and resolution as
// factors of the family's own.
var sizes = []synth.Size{
	{Width: 0.25, Resolution: 64}, {Width: 0.5, Resolution: 64}, {Width: 0.5, Resolution: 128}, {Width: 0.75, Resolution: 112}, {Width: 1, Resolution: 96}, {Width: 1}, {Width: 1.5, Resolution: 160},
}

// sample is a model's counts with its time.
type sample struct {
	family string
	counts Counts
	log    float64 // of seconds
	real   bool    // of a model that people ship
}

// FitPowerLaw finds the law that a calibration follows.
func FitPowerLaw(ctx context.Context, c *profiler.Calibration) (*PowerLaw, error) {
	samples, err := samplesOf(c)
	if err != nil {
		return nil, err
	}
	return lawOf(ctx, samples, c)
}

// samplesOf returns models of every family in some sizes, and models that people ship,
// with the times that a calibration predicts for them.
func samplesOf(c *profiler.Calibration) ([]sample, error) {
	var all []sample
	for _, family := range synth.Families() {
		if strings.HasPrefix(family, profiler.Operators) {
			continue // made to measure operators, and like no model
		}
		for _, size := range sizes {
			one, err := made(family, size, c)
			if err != nil {
				return nil, fmt.Errorf("%s %+v: %w", family, size, err)
			}
			all = append(all, one)
		}
	}
	for _, m := range shipped() {
		all = append(all, sample{m.Family, m.Counts, math.Log(c.Predict(m.analysis(), calibratedDevice(c)).Idle), true})
	}
	return all, nil
}

func made(family string, size synth.Size, c *profiler.Calibration) (sample, error) {
	m, err := synth.New(family, size)
	if err != nil {
		return sample{}, err
	}
	a, err := onnx.Analyze(m, onnx.Settings{})
	if err != nil {
		return sample{}, err
	}
	counts, err := NewCounts(a)
	return sample{family, counts, math.Log(c.Predict(a, calibratedDevice(c)).Idle), false}, err
}

// lawOf fits the law to samples.
func lawOf(ctx context.Context, samples []sample, c *profiler.Calibration) (*PowerLaw, error) {
	law := &PowerLaw{MinCounts: Counts{FilterDetails: math.MaxUint64, TotalParameters: math.MaxUint64, ModelInputSize: math.MaxUint64}}
	var convolutional []sample
	for _, one := range samples {
		for i := range RequestFields {
			*law.MaxCounts.field(i) = max(*law.MaxCounts.field(i), *one.counts.field(i))
		}
		law.MinCounts.TotalParameters = min(law.MinCounts.TotalParameters, one.counts.TotalParameters)
		law.MinCounts.ModelInputSize = min(law.MinCounts.ModelInputSize, one.counts.ModelInputSize)
		if one.counts.ConvLayers > 0 {
			law.MinCounts.FilterDetails = min(law.MinCounts.FilterDetails, one.counts.FilterDetails)
			convolutional = append(convolutional, one)
		}
	}
	var err error
	if law.Convolutional, err = fit(ctx, convolutional, func(Counts) bool { return true }, c); err != nil {
		return nil, err
	}
	law.Other, err = fit(ctx, samples, func(c Counts) bool { return c.ConvLayers == 0 }, c)
	return law, err
}

// fit finds powers, and their interval from those samples that judge picks, when
// their families have no part in the fit.
func fit(ctx context.Context, samples []sample, judge func(Counts) bool, c *profiler.Calibration) (PowerFit, error) {
	s := regression.Samples{Features: 5}
	var families []string
	for _, one := range samples {
		x := row(one.counts)
		s.X = append(s.X, x[:]...)
		s.Y = append(s.Y, one.log)
		families = append(families, one.family)
	}
	fitter := linear.NNLS{}
	m, err := fitter.Fit(ctx, s)
	if err != nil {
		return PowerFit{}, err
	}
	k := m.Coefficients
	p := PowerFit{Filters: k[0], Parameters: k[1], Input: k[2], Factor: math.Exp(k[3] - k[4])}
	folds, err := regression.GroupFolds(families, len(slices.Compact(slices.Sorted(slices.Values(families)))), 1)
	if err != nil {
		return p, err
	}
	rows, predicted, err := regression.CrossPredict(ctx, fitter, s, folds)
	if err != nil {
		return p, err
	}
	var actual, law, sizes []float64
	for i, r := range rows {
		if judge(samples[r].counts) {
			actual, law = append(actual, math.Exp(s.Y[r])), append(law, math.Exp(predicted[i].Value))
			sizes = append(sizes, math.Abs(s.Y[r]-predicted[i].Value))
		}
	}
	band, err := uncertainty.NewBand(uncertainty.Factor, profiler.Level, law, actual)
	if err != nil {
		return p, err
	}
	p.Low = band.Low * c.Low
	p.High = band.High * c.High
	p.Error = math.Exp(stats.Median(sizes))
	return p, nil
}

// calibratedDevice returns the machine of a calibration, idle.
func calibratedDevice(c *profiler.Calibration) device.Device {
	return device.Device{UUID: c.Facts.UUID, Cores: max(1, c.Facts.Cores)}
}

// NewCounts returns the counts of an analysed model.
func NewCounts(a *onnx.Analysis) (Counts, error) {
	c, err := a.Characteristics()
	if err != nil {
		return Counts{}, err
	}
	return Counts{
		uint64(c.ConvLayers), uint64(c.PoolLayers), uint64(c.FCLayers), uint64(c.FilterDetails),
		uint64(c.TotalParameters), uint64(c.ModelInputSize), uint64(c.ModelOutputSize),
	}, nil
}

// row returns the features of a sample: logarithms, and a constant of either sign.
func row(c Counts) [5]float64 {
	return [5]float64{math.Log1p(float64(c.FilterDetails)), math.Log1p(float64(c.TotalParameters)), math.Log1p(float64(c.ModelInputSize)), 1, -1}
}

// Predict returns the time of one inference on the calibrated machine, idle. If the law cannot
// use the counts ([PowerLaw.UnusableCounts]), it returns the time for the nearest usable ones,
// without an interval.
func (l *PowerLaw) Predict(c Counts) uncertainty.Prediction {
	far := l.UnusableCounts(c) != nil
	for i := range RequestFields {
		if most := *l.MaxCounts.field(i); *c.field(i)/outside > most {
			*c.field(i) = outside * most
		}
		*c.field(i) = max(*c.field(i), l.least(c, i, outside))
	}
	p, x := l.powers(c), row(c)
	v := p.Factor * math.Exp(p.Filters*x[0]+p.Parameters*x[1]+p.Input*x[2])
	if far {
		return uncertainty.Point(v)
	}
	return uncertainty.Band{Scale: uncertainty.Factor, Level: profiler.Level, Low: p.Low, High: p.High}.Predict(v)
}

// Slowdown returns the factor by which an inference with some threads takes longer on a device
// as it is loaded now than by the calibration on the idle machine, whatever the model. The
// error matches [profiler.ErrCalibration]: rates that are all zero.
func Slowdown(c *profiler.Calibration, d device.Device, threads int) (factor float64, p profiler.Prediction, err error) {
	some := &onnx.Analysis{Costs: []onnx.Cost{{Class: onnx.ClassConv, Work: onnx.Work{MACs: 1e9, ReadBytes: 1e6}}, {Class: onnx.ClassOther, Work: onnx.Work{ReadBytes: 1e6}}}}
	base := c.Predict(some, calibratedDevice(c)).Idle
	p = c.ForThreads(threads).Predict(some, d)
	if factor = p.Seconds.Value / base; !(factor > 0) || math.IsInf(factor, 0) {
		return 0, p, fmt.Errorf("%w: all rates are zero", profiler.ErrCalibration)
	}
	return factor, p, nil
}
