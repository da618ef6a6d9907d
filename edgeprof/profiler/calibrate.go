package profiler

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/foretime/foretime/edgeprof/onnx"
	"github.com/foretime/foretime/edgeprof/runtime"
	"github.com/foretime/foretime/shared/regression"
	"github.com/foretime/foretime/shared/regression/linear"
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
	ErrTooFew = errors.New("too few calibration models")
	// ErrCalibration is returned for a calibration file that cannot be right.
	ErrCalibration = errors.New("unusable calibration")
	// ErrUnlike warns that a model is far larger or smaller than those the
	// device was calibrated with, or has nodes of another class.
	ErrUnlike = errors.New("outside the calibrated range")
	// ErrForeign warns that the rates were measured on another machine.
	ErrForeign = errors.New("not calibrated to this device")
)

// Facts say where rates were measured.
type Facts struct {
	Runtime string  `json:"runtime"`
	Threads int     `json:"threads"`
	UUID    string  `json:"node_uuid"`
	Device  string  `json:"device_model"`
	Cores   int     `json:"cores"`
	MaxMHz  float64 `json:"max_mhz"`
	When    string  `json:"when"` // RFC 3339
}

// Rates are what one class of operator costs, in seconds.
type Rates struct {
	Start float64 `json:"start_seconds"`
	MAC   float64 `json:"mac_seconds"`
	Byte  float64 `json:"byte_seconds"`
	Nodes int     `json:"nodes"` // measured nodes
}

// Calibration is how fast a device runs what models are made of.
type Calibration struct {
	Facts  Facts                `json:"facts"`
	Rates  map[onnx.Class]Rates `json:"rates"`
	Models int                  `json:"models"` // measured models
	// Low and High are the factors on a predicted time that bound the interval.
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	// Errors are measured over predicted time of each model by rates that its
	// family had no part in.
	Errors []Error `json:"errors"`
	// Shortest and Longest measured time in seconds.
	Shortest float64 `json:"shortest_seconds"`
	Longest  float64 `json:"longest_seconds"`
}

// Error is one model's measured time beside its prediction.
type Error struct {
	Model     string  `json:"model"`
	Family    string  `json:"family"`
	Measured  float64 `json:"measured_seconds"`
	Predicted float64 `json:"predicted_seconds"`
}

// Ratio is measured over predicted.
func (e Error) Ratio() float64 { return e.Measured / e.Predicted }

// Measurement is one model with the time of each of its nodes, and of the whole
// inference.
type Measurement struct {
	Model    string
	Family   string
	Analysis *onnx.Analysis
	Nodes    []runtime.NodeTime
	Seconds  float64
}

// Calibrate fits rates to measurements and finds their interval by leaving out
// one family at a time. The error matches [ErrTooFew].
func Calibrate(ms []Measurement, facts Facts) (*Calibration, error) {
	families := map[string]bool{}
	judged := 0
	for _, m := range ms {
		if m.Family != Operators {
			judged++
			families[m.Family] = true
		}
	}
	if need := int(math.Ceil(2/(1-Level))) - 1; judged < need || len(families) < 3 {
		return nil, fmt.Errorf("%w: %d models of %d families, want %d of 3", ErrTooFew, judged, len(families), need)
	}
	c := &Calibration{Facts: facts, Models: len(ms), Rates: fit(ms), Shortest: math.Inf(1)}
	rates := map[string]map[onnx.Class]Rates{}
	for family := range families {
		rates[family] = fit(slices.DeleteFunc(slices.Clone(ms), func(m Measurement) bool { return m.Family == family }))
	}
	var ratios []float64
	for _, m := range ms {
		c.Shortest, c.Longest = min(c.Shortest, m.Seconds), max(c.Longest, m.Seconds)
		if m.Family == Operators {
			continue
		}
		e := Error{Model: m.Model, Family: m.Family, Measured: m.Seconds, Predicted: total(rates[m.Family], m.Analysis)}
		c.Errors = append(c.Errors, e)
		ratios = append(ratios, e.Ratio())
	}
	c.Low, c.High = conformal(ratios)
	return c, nil
}

// conformal takes the ratios' order statistics that leave (1-Level)/2 on each
// side of n+1 exchangeable ones.
func conformal(ratios []float64) (low, high float64) {
	slices.Sort(ratios)
	n := len(ratios)
	k := max(1, int(math.Floor(float64(n+1)*(1-Level)/2+1e-9)))
	return ratios[k-1], ratios[n-k]
}

// node is one measured node.
type node struct {
	cost    onnx.Cost
	seconds float64
}

// kin is the class whose rates serve for one that was not measured.
var kin = map[onnx.Class]onnx.Class{
	onnx.ClassErf: onnx.ClassFunction, onnx.ClassSoftmax: onnx.ClassFunction, onnx.ClassNormalize: onnx.ClassFunction, onnx.ClassMove: onnx.ClassOther,
}

// fit finds the rates of each class. A class without measurements gets those of
// its kin, or of all nodes together.
func fit(ms []Measurement) map[onnx.Class]Rates {
	byClass := map[onnx.Class][]node{}
	var all []node
	for _, m := range ms {
		costs := map[int]onnx.Cost{}
		for _, c := range m.Analysis.Costs {
			costs[c.Node] = c
		}
		for _, n := range m.Nodes {
			if c, ok := costs[n.Node]; ok && n.Seconds > 0 {
				byClass[c.Class] = append(byClass[c.Class], node{c, n.Seconds})
				all = append(all, node{c, n.Seconds})
			}
		}
	}
	rates := map[onnx.Class]Rates{}
	for _, class := range classes {
		r, ok := ratesOf(byClass[class])
		if !ok {
			if r, ok = ratesOf(byClass[kin[class]]); !ok {
				r, _ = ratesOf(all)
			}
			r.Nodes = 0
		}
		rates[class] = r
	}
	return rates
}

// reweightings until the weights stand still, in practice.
const reweightings = 12

// ratesOf minimises the sum of (p-t)^2/(p t), p the predicted and t the measured
// time, with no rate below zero: short nodes count like long ones, and too much
// by a factor counts like too little by it. Each round is non-negative least
// squares with weights from the round before.
func ratesOf(nodes []node) (Rates, bool) {
	if len(nodes) < 3 {
		return Rates{}, false
	}
	r := Rates{}
	predicted := make([]float64, len(nodes))
	for i, n := range nodes {
		predicted[i] = n.seconds
	}
	for range reweightings {
		s := regression.Samples{Features: 3}
		for i, n := range nodes {
			w := 1 / math.Sqrt(predicted[i]*n.seconds)
			s.X = append(s.X, w, w*float64(n.cost.MACs), w*float64(moved(n.cost)))
			s.Y = append(s.Y, w*n.seconds)
		}
		m, err := linear.NNLS{NoIntercept: true}.Solve(s)
		if err != nil {
			return Rates{}, false
		}
		r = Rates{Start: m.Coefficients[0], MAC: m.Coefficients[1], Byte: m.Coefficients[2], Nodes: len(nodes)}
		for i, n := range nodes {
			predicted[i] = max(r.seconds(n.cost), n.seconds/1000)
		}
	}
	return r, true
}

var classes = onnx.Classes()

func moved(c onnx.Cost) int64 { return c.ParameterBytes + c.ReadBytes + c.WrittenBytes }

// seconds of one node.
func (r Rates) seconds(c onnx.Cost) float64 {
	return r.Start + r.MAC*float64(c.MACs) + r.Byte*float64(moved(c))
}

// total is the predicted time of a whole model.
func total(rates map[onnx.Class]Rates, a *onnx.Analysis) float64 {
	sum := 0.0
	for _, c := range a.Costs {
		if !c.Folded {
			sum += rates[c.Class].seconds(c)
		}
	}
	return sum
}

// Check reports a calibration that cannot be used. The error matches
// [ErrCalibration].
func (c *Calibration) Check() error {
	if c.Facts.Runtime == "" || c.Models < 1 || !(c.Low > 0) || !(c.High >= c.Low) || math.IsInf(c.High, 0) {
		return fmt.Errorf("%w: no run time, no models, or bounds %v to %v", ErrCalibration, c.Low, c.High)
	}
	for _, class := range classes {
		r, ok := c.Rates[class]
		if !ok || !(r.Start >= 0) || !(r.MAC >= 0) || !(r.Byte >= 0) {
			return fmt.Errorf("%w: rates of class %s: %+v", ErrCalibration, class, r)
		}
	}
	return nil
}
