package profiler

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/foretime/foretime/edgeprof/internal/measurement"
	"github.com/foretime/foretime/edgeprof/internal/onnx"
	"github.com/foretime/foretime/shared/stats"
	"github.com/foretime/foretime/shared/uncertainty"
)

// Level is the probability that an interval is meant to hold the truth with.
const Level = 0.9

// Operators is the family whose models are made to measure operators by. It is
// never left out to judge predictions, and never judged.
const Operators = "operators"

// Errors and warnings of this package.
var (
	// ErrTooFew is returned for fewer models or families than an interval
	// at [Level] needs.
	ErrTooFew = errors.New("too few measured models")
	// ErrCalibration is returned for a calibration file that cannot be right.
	ErrCalibration = errors.New("unusable calibration")
	// ErrUnlike warns that a model is far larger or smaller than those the
	// device was calibrated with, or has nodes of another class.
	ErrUnlike = errors.New("outside the calibrated range")
	// ErrUnmet warns that most of the time is in forms of operators that no calibration has met.
	ErrUnmet = errors.New("forms of operators that were never measured")
	// ErrForeign warns that the rates were measured on another machine.
	ErrForeign = errors.New("not calibrated to this device")
	// ErrNoCounts is returned for a row without counts of its model.
	ErrNoCounts = errors.New("no counts of layers, filters or parameters")
)

// Facts describe the machine and the library that rates were measured with.
type Facts struct {
	Setting   string  `json:"setting,omitempty"`  // of rates that are kept for a while
	Library   string  `json:"library,omitempty"`  // ONNX Runtime: its version and file
	Provider  string  `json:"provider,omitempty"` // of ONNX Runtime; "" is cpu
	Threads   int     `json:"threads"`
	UUID      string  `json:"node_uuid"`
	Device    string  `json:"device_model"`
	Processor string  `json:"processor,omitempty"` // its name
	Cores     int     `json:"cores"`
	MaxMHz    float64 `json:"max_mhz"`
	When      string  `json:"when"` // RFC 3339
	// ProbedTasks is the number of processors that other work used before or after the rates were
	// measured, whichever is more; nil if it was not read.
	ProbedTasks *float64 `json:"probed_tasks,omitempty"`
	// Excess is the mean logarithm of a measured time over the shortest of the same model: how
	// much longer other work made it.
	Excess float64 `json:"excess,omitempty"`
	// Shipped rates come with the program: they were measured on no device here.
	Shipped bool `json:"shipped,omitempty"`
}

// Calibration holds a device's rates by class of operator, with their interval.
type Calibration struct {
	Facts  Facts                `json:"facts"`
	Rates  map[onnx.Class]Rates `json:"rates"`
	Models int                  `json:"models"` // measured models
	// Scale corrects the sum of the kernels' times; 0 is 1.
	Scale float64 `json:"scale,omitempty"`
	// Low and High are the factors on the predicted time of a long inference that
	// bound the interval; Dispatch is the time in seconds at which their logarithms
	// are twice as far, 0 where they are the same for all.
	Low      float64 `json:"low"`
	High     float64 `json:"high"`
	Dispatch float64 `json:"dispatch_seconds,omitempty"`
	// Errors are measured over predicted time of each model by rates that its
	// family had no part in.
	Errors []Error `json:"errors"`
	// Shortest and Longest measured time in seconds.
	Shortest float64 `json:"shortest_seconds"`
	Longest  float64 `json:"longest_seconds"`

	// All holds the rates with all cores; nil if they were not measured.
	All *Calibration `json:"all_cores,omitempty"`

	present bool     // predictions are for this machine, now
	profile *Profile // of the model that is predicted; nil if there is none
}

// Error compares one model's measured time with its prediction.
type Error struct {
	Model     string  `json:"model"`
	Family    string  `json:"family"`
	Precision string  `json:"precision,omitempty"` // as [precisionOf]
	Measured  float64 `json:"measured_seconds"`
	Predicted float64 `json:"predicted_seconds"`
}

// Ratio returns the measured time over the predicted one.
func (e Error) Ratio() float64 { return e.Measured / e.Predicted }

// Calibrate fits rates to measurements of a device, and finds their interval by leaving out one
// family at a time. The error matches [ErrTooFew].
func Calibrate(cases []Case, facts Facts) (*Calibration, error) {
	cases = slices.Clone(cases)
	for i := range cases {
		cases[i].prepareKernels()
	}
	var repeated bool
	facts.Excess, repeated = excess(cases)
	judged := len(without(cases, Operators))
	all := families(cases)
	if judged < FewestModels || len(all) < 3 {
		return nil, fmt.Errorf("%w: %d models of %d families, want %d models of 3 families", ErrTooFew, judged, len(all), FewestModels)
	}
	c := fit(cases, facts)
	for _, family := range all {
		left := fit(without(cases, family), facts)
		for _, m := range cases {
			if m.Family == family {
				c.Errors = append(c.Errors, Error{Model: m.Model, Family: family, Precision: precisionOf(m.Kernels), Measured: m.Seconds, Predicted: left.idle(m.Kernels)})
			}
		}
	}
	c.Dispatch = dispatch
	c.bound()
	if repeated {
		c.removeOtherWork()
	}
	return c, c.Check()
}

// families of the cases that are judged, in order.
func families(cases []Case) []string {
	var out []string
	for _, c := range cases {
		if c.Family != Operators && !slices.Contains(out, c.Family) {
			out = append(out, c.Family)
		}
	}
	slices.Sort(out)
	return out
}

func without(cases []Case, family string) []Case {
	return slices.DeleteFunc(slices.Clone(cases), func(c Case) bool { return c.Family == family })
}

// fit finds the rates of one setting and the scale of their sums.
func fit(cases []Case, facts Facts) *Calibration {
	c := &Calibration{Facts: facts, Models: len(cases), Rates: ratesFor(cases), Shortest: math.Inf(1)}
	var ratios []float64
	for _, m := range cases {
		c.Shortest, c.Longest = min(c.Shortest, m.Seconds), max(c.Longest, m.Seconds)
		if p := c.idle(m.Kernels); p > 0 {
			ratios = append(ratios, m.Seconds/p)
		}
	}
	if len(ratios) > 0 {
		c.Scale = stats.Median(ratios)
	}
	return c
}

// bound sets the interval from the errors in float32, each drawn to what it would be
// of a long inference.
func (c *Calibration) bound() {
	var long []Error
	for _, e := range c.Errors {
		if e.Precision == "" {
			long = append(long, Error{Predicted: e.Predicted, Measured: e.Predicted * math.Pow(e.Ratio(), 1/c.doubt(e.Predicted))})
		}
	}
	unsteady := distuv.UnitNormal.Quantile((1+Level)/2) * c.Facts.Excess
	band := Away{Spread: unsteady}.widen(bandOf(long))
	c.Low, c.High = band.Low, band.High
}

// band returns the interval about a predicted time of an inference.
func (c *Calibration) band(seconds float64) uncertainty.Band {
	w := c.doubt(seconds)
	return bandBetween(math.Pow(c.Low, w), math.Pow(c.High, w))
}

// dispatch is the time, in seconds, at which starting kernels makes predictions
// twice as doubtful: the likeliest for the families left out of seven calibrations.
const dispatch = 500e-6

// doubt returns the factor by which the logarithm of a predicted time is farther off than that
// of a long one: short inferences mostly consist of starts of kernels (normalized conformal
// prediction: Papadopoulos and others, 2002).
func (c *Calibration) doubt(seconds float64) float64 {
	if c.Dispatch == 0 || !(seconds > 0) {
		return 1
	}
	return 1 + math.Sqrt(c.Dispatch/seconds)
}

// bandOf returns the interval that errors lead to: Student's for one more error, the factors
// being lognormal, where split conformal's ends would be the least and the greatest
// of them, which bounds the next one badly; of fewer than two nothing is known but what
// other devices are off by. It holds the prediction.
func bandOf(errors []Error) uncertainty.Band {
	predicted, measured := make([]float64, len(errors)), make([]float64, len(errors))
	factors := make([]float64, len(errors))
	for i, e := range errors {
		predicted[i] = e.Predicted
		measured[i] = e.Measured
		factors[i] = math.Log(e.Ratio())
	}
	if len(errors) > 2*FewestModels {
		if band, err := uncertainty.NewBand(uncertainty.Factor, Level, predicted, measured); err == nil {
			return band
		}
	}
	half, mean := math.Log(uncounted), 0.0
	if n := float64(len(factors)); n > 1 {
		var spread float64
		mean, spread = stat.MeanStdDev(factors, nil)
		half = spread * math.Sqrt(1+1/n) * distuv.StudentsT{Sigma: 1, Nu: n - 1}.Quantile((1+Level)/2)
	}
	return bandBetween(min(1, math.Exp(mean-half)), max(1, math.Exp(min(mean+half, widest))))
}

// widest is the logarithm of the widest factor that an interval of few errors
// may have: files hold finite numbers.
const widest = 100

// bandBetween returns the interval of two factors, as files keep it.
func bandBetween(low, high float64) uncertainty.Band {
	return uncertainty.Band{Scale: uncertainty.Factor, Level: Level, Low: low, High: high}
}

// kernels returns the predicted times of a model's kernels on the idle device.
func (c *Calibration) kernels(kernels []measurement.Kernel) []float64 {
	seconds := make([]float64, len(kernels))
	for i := range kernels {
		k := &kernels[i]
		seconds[i] = c.Rates[k.Class].total(k) * c.scale() * c.profileFactor(i, len(kernels)) * float64(max(1, k.Times))
	}
	return seconds
}

// idle returns the predicted time of a model's kernels on the idle device.
func (c *Calibration) idle(kernels []measurement.Kernel) float64 {
	return floats.Sum(c.kernels(kernels))
}

func (c *Calibration) scale() float64 { return cmp.Or(c.Scale, 1) }

// slowest bounds the seconds of a start, a multiply-accumulate or a byte: no device takes more.
const slowest = 10

// Check reports a calibration that cannot be used, by the number that is impossible.
// The error matches [ErrCalibration].
func (c *Calibration) Check() error {
	if c.Models < 1 {
		return fmt.Errorf("%w: it names no models", ErrCalibration)
	}
	within := func(name string, v, least, most float64) error {
		if v >= least && v <= most {
			return nil
		}
		return fmt.Errorf("%w: %s is %v, want %v to %v", ErrCalibration, name, v, least, most)
	}
	errs := []error{
		within("low", c.Low, 0, math.MaxFloat64), within("high", c.High, c.Low, math.MaxFloat64),
		within("excess", c.Facts.Excess, 0, widest), within("scale", c.scale(), 1e-6, 1e6), within("dispatch_seconds", c.Dispatch, 0, slowest),
	}
	for _, class := range classes {
		r, ok := c.Rates[class]
		if !ok {
			return fmt.Errorf("%w: it has no rates of class %s", ErrCalibration, class)
		}
		name := "rates of " + string(class) + ": "
		errs = append(errs, within(name+"start_seconds", r.Start, 0, slowest), within(name+"mac_seconds", r.MAC, 0, slowest), within(name+"byte_seconds", r.Byte, 0, slowest))
		if (class == onnx.ClassConv || class == onnx.ClassDense) && r.Nodes > 0 && r.MAC == 0 {
			errs = append(errs, fmt.Errorf("%w: %smac_seconds is 0: multiply-accumulates take time", ErrCalibration, name))
		}
	}
	if err := cmp.Or(errs...); err != nil {
		return err
	}
	if c.All != nil {
		return c.All.Check()
	}
	return nil
}
