package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/foretime/foretime/edgeprof/internal/measurement"
	"github.com/foretime/foretime/edgeprof/internal/onnx"
	"github.com/foretime/foretime/edgeprof/internal/profiler"
	"github.com/foretime/foretime/edgeprof/internal/synth"
)

// calibrationModels returns models of every family, one narrow and one of full width,
// and chains of operators. All run in half a minute.
func calibrationModels() []sized {
	return []sized{
		{"alexnet", synth.Size{Width: 0.4, Resolution: 96}}, {"alexnet", synth.Size{Width: 1, Resolution: 96}},
		{"densenet", synth.Size{Width: 0.25, Resolution: 64}}, {"densenet", synth.Size{Width: 1, Resolution: 64}},
		{"efficientnet", synth.Size{Width: 0.4, Resolution: 64}}, {"efficientnet", synth.Size{Width: 1, Resolution: 112}},
		{"googlenet", synth.Size{Width: 0.4, Resolution: 64}}, {"googlenet", synth.Size{Width: 1, Resolution: 96}},
		{"lenet", synth.Size{Width: 1, Resolution: 28}}, {"lenet", synth.Size{Width: 4, Resolution: 64}},
		{"lstm", synth.Size{Width: 0.5, Resolution: 32}}, {"lstm", synth.Size{Width: 1, Resolution: 16}}, {"lstm", synth.Size{Width: 0.25, Resolution: 100}}, {"lstm", synth.Size{Width: 1, Resolution: 4}},
		{"mlp", synth.Size{Width: 1, Resolution: 28}}, {"mlp", synth.Size{Width: 3, Depth: 5, Resolution: 32}},
		{"mobilenetv2", synth.Size{Width: 0.5, Resolution: 64}}, {"mobilenetv2", synth.Size{Width: 1, Resolution: 160}},
		{"operators", synth.Size{Width: 0.5, Resolution: 32}}, {"operators", synth.Size{Width: 1, Resolution: 64}}, {"operators", synth.Size{Width: 2, Depth: 1, Resolution: 128}},
		{"operators-bytes", synth.Size{Width: 0.25, Resolution: 48}}, {"operators-bytes", synth.Size{Width: 0.5, Resolution: 16}}, {"operators-bytes", synth.Size{Width: 1, Resolution: 32}},
		{"operators-images", synth.Size{Width: 0.06, Resolution: 32}}, {"operators-images", synth.Size{Width: 0.12, Resolution: 48}}, {"operators-images", synth.Size{Width: 0.25, Resolution: 64}},
		{"operators-images", synth.Size{Width: 0.25, Resolution: 128}}, {"operators-images", synth.Size{Width: 0.5, Resolution: 64}}, {"operators-images", synth.Size{Width: 0.5, Resolution: 128}},
		{"operators-responses", synth.Size{Width: 0.5, Resolution: 14}}, {"operators-responses", synth.Size{Width: 1, Resolution: 28}}, {"operators-responses", synth.Size{Width: 1.5, Resolution: 56}},
		{"operators-sequences", synth.Size{Width: 0.5, Resolution: 32}}, {"operators-sequences", synth.Size{Width: 1, Resolution: 64}},
		{"operators-vectors", synth.Size{Width: 0.25, Resolution: 28}}, {"operators-vectors", synth.Size{Width: 0.5, Resolution: 64}}, {"operators-vectors", synth.Size{Width: 1, Resolution: 48}},
		{"operators-signals", synth.Size{Width: 0.5, Resolution: 500}}, {"operators-signals", synth.Size{Width: 1, Resolution: 2000}}, {"operators-signals", synth.Size{Width: 0.5, Resolution: 8000}},
		{"operators-volumes", synth.Size{Width: 0.5, Resolution: 8}}, {"operators-volumes", synth.Size{Width: 1, Resolution: 16}}, {"operators-volumes", synth.Size{Width: 0.5, Resolution: 24}},
		{"resnet", synth.Size{Width: 0.25, Resolution: 64}}, {"resnet", synth.Size{Width: 1, Resolution: 96}}, {"resnet", synth.Size{Width: 1, Depth: 50, Resolution: 64}},
		{"transformer", synth.Size{Width: 0.5, Depth: 2, Resolution: 64}}, {"transformer", synth.Size{Width: 1, Depth: 3, Resolution: 96}},
		{"vgg", synth.Size{Width: 0.25, Depth: 11, Resolution: 64}}, {"vgg", synth.Size{Width: 1, Depth: 11, Resolution: 32}},
	}
}

// sized is a family with a size.
type sized struct {
	family string
	size   synth.Size
}

// job is one small model to measure with a number of threads.
type job struct {
	path     string
	family   string // as far as errors are judged by families
	analysis *onnx.Analysis
	threads  int
}

// jobs writes the small models into dir and returns each with every number of threads. Those at
// the beginning measure every class of operator and every family: the chains of operators, then
// the first model of each family.
func (o *calibrating) jobs(ctx context.Context, dir string) ([]job, error) {
	var byRank [3][]job
	seen := map[string]bool{}
	for _, s := range calibrationModels() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		s.size.Width *= o.size
		m, err := synth.New(s.family, s.size)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.family, err)
		}
		one := job{path: filepath.Join(dir, fmt.Sprintf("%s width %.4g at %d.onnx", s.family, s.size.Width, s.size.Resolution)), family: measurement.ModelFamily(s.family)}
		if one.analysis, err = onnx.Analyze(m, onnx.Settings{}); err != nil {
			return nil, err
		}
		if err := writeModel(one.path, m, 1); err != nil {
			return nil, err
		}
		rank := 1
		switch {
		case one.family == profiler.Operators:
			rank = 0
		case seen[one.family]:
			rank = 2
		}
		seen[one.family] = true
		for _, one.threads = range o.threads {
			byRank[rank] = append(byRank[rank], one)
		}
	}
	return slices.Concat(byRank[:]...), nil
}
