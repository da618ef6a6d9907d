package backtest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"

	"go.yaml.in/yaml/v3"
	"gonum.org/v1/gonum/stat"

	"github.com/foretime/foretime/allox-est/internal/estimate"
	"github.com/foretime/foretime/allox-est/internal/jobspec"
	"github.com/foretime/foretime/allox-est/internal/journal"
	"github.com/foretime/foretime/shared/file"
	"github.com/foretime/foretime/shared/stats"
)

// ErrInvalid is returned, wrapped with the place, when a file describes no
// experiment.
var ErrInvalid = errors.New("invalid experiment")

// Experiment is what to compare.
type Experiment struct {
	Jobs    []string          `yaml:"jobs"`    // job files, relative to the experiment's
	Devices []string          `yaml:"devices"` // cpu by default
	Methods []estimate.Method `yaml:"methods"` // all by default
	// Samples are the configurations: the epochs of each of the samples that one
	// estimate is made from. [1, 1] is two samples of one epoch.
	Samples [][]int `yaml:"samples"`
	Repeats int     `yaml:"repeats"` // estimates of each configuration; 1 by default
	Full    int     `yaml:"full"`    // whole runs to compare with; 1 by default

	folder string
}

// IsExperiment says that a file lists jobs, and is not one.
func IsExperiment(path string) bool {
	text, err := file.ReadAll(path)
	var file struct {
		Jobs []string `yaml:"jobs"`
	}
	return err == nil && yaml.Unmarshal(text, &file) == nil && len(file.Jobs) > 0
}

// LoadExperiment reads an experiment in YAML or JSON. Errors of its content wrap
// ErrInvalid.
func LoadExperiment(path string) (*Experiment, error) {
	text, err := file.ReadAll(path)
	if err != nil {
		return nil, err
	}
	e := &Experiment{folder: filepath.Dir(path), Devices: []string{jobspec.CPU}, Methods: estimate.Methods(), Repeats: 1, Full: 1}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	dec.KnownFields(true)
	if err = dec.Decode(e); errors.Is(err, io.EOF) {
		err = errors.New("empty")
	}
	if err = errors.Join(err, e.check()); err != nil {
		return nil, fmt.Errorf("%s: %w: %w", path, ErrInvalid, err)
	}
	return e, nil
}

func (e *Experiment) check() error {
	switch {
	case len(e.Jobs) == 0:
		return errors.New("jobs: empty, want at least one job file")
	case len(e.Samples) == 0:
		return errors.New("samples: empty; [2, 5] means one sample of 2 and one of 5 epochs")
	case e.Repeats < 1 || e.Full < 1:
		return fmt.Errorf("repeats: %d, full: %d: want at least 1", e.Repeats, e.Full)
	}
	for i, name := range e.Methods {
		m, err := estimate.ParseMethod(string(name))
		if err != nil {
			return fmt.Errorf("methods: %w", err)
		}
		e.Methods[i] = m
	}
	for _, lengths := range e.Samples {
		if len(lengths) == 0 || slices.Min(lengths) < 1 {
			return fmt.Errorf("samples: %v: want at least 1 epoch each", lengths)
		}
	}
	return nil
}

// Specs reads the jobs.
func (e *Experiment) Specs() ([]*jobspec.Spec, error) {
	var specs []*jobspec.Spec
	for _, path := range e.Jobs {
		if !filepath.IsAbs(path) {
			path = filepath.Join(e.folder, path)
		}
		spec, err := jobspec.Load(path)
		if err != nil {
			return nil, err
		}
		for _, lengths := range e.Samples {
			if longest := slices.Max(lengths); longest > spec.Epochs {
				return nil, fmt.Errorf("%w: samples of %d epochs, but %s has only %d", ErrInvalid, longest, path, spec.Epochs)
			}
		}
		specs = append(specs, spec)
	}
	return specs, nil
}

// Outcome is how estimates of one job by one method from one configuration of
// samples compare with its whole runs. Shares are from 0 to 1.
type Outcome struct {
	Job     string          `json:"job"`
	Device  string          `json:"device"`
	Samples []int           `json:"samples"` // epochs of each
	Method  estimate.Method `json:"method"`
	// Estimates is how many were made; Failed how many could not be.
	Estimates int `json:"estimates"`
	Failed    int `json:"failed"`
	// Error is the mean absolute relative error of the wall time against the mean
	// of the whole runs, Worst the largest, and CPU that of the processor time.
	Error float64 `json:"error"`
	Worst float64 `json:"worst_error"`
	CPU   float64 `json:"cpu_error"`
	// Covered is the share of the pairs of an estimate and a whole run in which
	// the 95 % interval holds it; Width the median width over the estimate, nil
	// where an interval has no end.
	Covered float64  `json:"covered"`
	Width   *float64 `json:"median_width"`
	Reason  string   `json:"reason,omitempty"` // of the last that failed
}

// JudgeSamples compares the estimates that a method makes of each set of samples with
// the whole runs of the job.
func JudgeSamples(o Outcome, epochs int, sets [][]journal.Run, full []journal.Run) Outcome {
	wall, cpu := meanOf(full, func(r journal.Run) float64 { return r.Wall }), meanOf(full, func(r journal.Run) float64 { return r.CPU })
	var errs, cpus, widths []float64
	held, pairs := 0.0, 0.0
	for _, samples := range sets {
		o.Estimates++
		e, err := estimate.New(samples, estimate.Job{Epochs: epochs, Device: o.Device}, estimate.Settings{Method: o.Method})
		if err != nil {
			o.Failed++
			o.Reason = err.Error()
			continue
		}
		errs = append(errs, math.Abs(e.Wall.Value/wall-1))
		cpus = append(cpus, math.Abs(e.CPU.Value/cpu-1))
		widths = append(widths, e.Wall.Width()/e.Wall.Value)
		for _, r := range full {
			pairs++
			if e.Wall.Contains(r.Wall) {
				held++
			}
		}
	}
	if len(errs) == 0 {
		return o
	}
	o.Error, o.Worst, o.CPU, o.Covered = stat.Mean(errs, nil), slices.Max(errs), stat.Mean(cpus, nil), held/pairs
	if w := stats.Median(widths); !math.IsInf(w, 0) && !math.IsNaN(w) {
		o.Width = &w
	}
	return o
}

func meanOf(runs []journal.Run, value func(journal.Run) float64) float64 {
	var xs []float64
	for _, r := range runs {
		xs = append(xs, value(r))
	}
	return stat.Mean(xs, nil)
}
