package joblib

import (
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/foretime/foretime/shared/pickle"
	"github.com/foretime/foretime/shared/regression/tree"
)

// ErrFormat is returned for a file that is no pipeline of a scaler, a one-hot
// encoder and a booster as the original training saves it.
var ErrFormat = errors.New("not a model of the original profiler")

// Column is a numeric feature and how it was scaled.
type Column struct {
	Name   string  `json:"name"`
	Center float64 `json:"center"`
	Scale  float64 `json:"scale"`
	// Mean replaces a missing value; NaN where the pipeline has no imputer, and
	// the booster decides.
	Mean float64 `json:"-"`
}

// Pipeline is a model file.
type Pipeline struct {
	Columns []Column // the scaled features
	Devices []string // the categories of the one-hot features
	Plain   []string // the features that are passed on as they are
	// Booster takes all of them unscaled, under their names; those of the devices
	// are device_NAME, 0 or 1.
	Booster *tree.Ensemble

	// What the booster takes, in its order.
	names         []string
	center, scale []float64
}

// maxFile bounds the size of a file that is read.
const maxFile = 256 << 20

// Read reads a model file. The error matches [ErrFormat], [pickle.ErrFormat] or
// [tree.ErrModel], or is the reader's own.
func Read(r io.Reader) (*Pipeline, error) {
	d := pickle.Decoder{Globals: globals(), Built: built}
	v, err := d.Decode(io.LimitReader(r, maxFile))
	if err != nil {
		return nil, err
	}
	p := &Pipeline{}
	if err := steps(v, p.step); err != nil {
		return nil, err
	}
	if p.Booster == nil {
		return nil, fmt.Errorf("%w: no booster", ErrFormat)
	}
	if p.Booster.Features() != len(p.names) {
		return nil, fmt.Errorf("%w: the booster has %d features, the pipeline %d", ErrFormat, p.Booster.Features(), len(p.names))
	}
	if p.Booster, err = p.Booster.Unscaled(p.center, p.scale); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	return p, p.Booster.SetNames(p.names)
}

// steps hands on what a pipeline consists of, one after the other.
func steps(v any, do func(*pickle.Object) error) error {
	o, ok := v.(*pickle.Object)
	if !ok || o.Class != pipeline {
		return fmt.Errorf("%w: %T where a pipeline belongs", ErrFormat, v)
	}
	list, err := objects(o.Attribute("steps"))
	if err != nil {
		return err
	}
	for _, v := range list {
		named, _ := v.(pickle.Tuple)
		if len(named) != 2 {
			return fmt.Errorf("%w: a step that is %T", ErrFormat, v)
		}
		step, ok := named[1].(*pickle.Object)
		if !ok {
			return fmt.Errorf("%w: step %v is %T", ErrFormat, named[0], named[1])
		}
		if err := do(step); err != nil {
			return err
		}
	}
	return nil
}

// step takes in what prepares the columns, and the regressor.
func (p *Pipeline) step(o *pickle.Object) (err error) {
	if o.Class != transformer {
		return p.regressor(o)
	}
	list, err := objects(o.Attribute("transformers_"))
	if err != nil {
		return err
	}
	for _, v := range list {
		named, _ := v.(pickle.Tuple)
		if len(named) != 3 {
			return fmt.Errorf("%w: a transformer that is %T", ErrFormat, v)
		}
		if err := p.transformer(named[1], named[2]); err != nil {
			return err
		}
	}
	return nil
}

// regressor reads the booster, which XGBoost serializes as UBJSON.
func (p *Pipeline) regressor(o *pickle.Object) (err error) {
	booster, ok := o.Attribute("_Booster").(*pickle.Object)
	if !ok {
		return fmt.Errorf("%w: a step %s without a booster", ErrFormat, o.Class)
	}
	handle := booster.Attribute("handle")
	if called, ok := handle.(*pickle.Object); ok && len(called.Args) > 0 { // bytearray(bytes)
		handle = called.Args[0]
	}
	data, ok := handle.([]byte)
	if !ok {
		return fmt.Errorf("%w: a booster that is %T", ErrFormat, handle)
	}
	p.Booster, err = tree.DecodeModel(data)
	return err
}

// transformer takes in the features that one of the transformers makes.
func (p *Pipeline) transformer(v, columns any) error {
	if v == "drop" {
		return nil
	}
	if v == "passthrough" {
		return p.passed(columns)
	}
	o, ok := v.(*pickle.Object)
	if !ok {
		return fmt.Errorf("%w: a transformer that is %T", ErrFormat, v)
	}
	if o.Class == encoder {
		return p.encoded(o)
	}
	return p.scaled(o, columns)
}

func (p *Pipeline) passed(columns any) error {
	names, err := texts(columns)
	if err != nil {
		return err
	}
	for _, name := range names {
		p.Plain = append(p.Plain, name)
		p.feature(name, 0, 1)
	}
	return nil
}

func (p *Pipeline) encoded(o *pickle.Object) error {
	list, err := objects(o.Attribute("categories_"))
	if err != nil {
		return err
	}
	for _, v := range list {
		categories, err := texts(v)
		if err != nil {
			return err
		}
		for _, category := range categories {
			p.Devices = append(p.Devices, category)
			p.feature("device_"+category, 0, 1)
		}
	}
	return nil
}

// scaled takes in columns that are scaled, by themselves or after missing values
// were replaced.
func (p *Pipeline) scaled(o *pickle.Object, columns any) error {
	names, err := texts(columns)
	if err != nil {
		return err
	}
	center, scale, means := values(nil), values(nil), values(nil)
	read := func(o *pickle.Object) error {
		switch o.Class {
		case scaler:
			center, _ = o.Attribute("center_").(values)
			scale, _ = o.Attribute("scale_").(values)
		case imputer:
			means, _ = o.Attribute("statistics_").(values)
		default:
			return fmt.Errorf("%w: a transformer %s", ErrFormat, o.Class)
		}
		return nil
	}
	if o.Class == pipeline {
		err = steps(o, read)
	} else {
		err = read(o)
	}
	if err != nil {
		return err
	}
	if len(center) != len(names) || len(scale) != len(names) || means != nil && len(means) != len(names) {
		return fmt.Errorf("%w: %d centers, %d scales, %d means, %d columns", ErrFormat, len(center), len(scale), len(means), len(names))
	}
	for i, name := range names {
		c := Column{name, center[i], scale[i], math.NaN()}
		if means != nil {
			c.Mean = means[i]
		}
		p.Columns = append(p.Columns, c)
		p.feature(name, c.Center, c.Scale)
	}
	return nil
}

// feature is one of the booster's, and how it is scaled.
func (p *Pipeline) feature(name string, center, scale float64) {
	p.names, p.center, p.scale = append(p.names, name), append(p.center, center), append(p.scale, scale)
}
