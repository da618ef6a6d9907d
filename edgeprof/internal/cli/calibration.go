package cli

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/foretime/foretime/edgeprof/internal/collection"
	"github.com/foretime/foretime/edgeprof/internal/measurement"
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

// jobs returns all models to measure and writes the small ones into dir.
func (o *calibrating) jobs(ctx context.Context, dir string) ([]collection.Job, error) {
	plain := collection.Job{Setting: o.with.setting("desktop"), Warmup: 1, Profiles: o.runs}
	var jobs []collection.Job
	for _, s := range calibrationModels() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		s.size.Width *= o.size
		m, err := synth.New(s.family, s.size)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.family, err)
		}
		job := plain
		job.Model = filepath.Join(dir, fmt.Sprintf("%s width %.4g at %d.onnx", s.family, s.size.Width, s.size.Resolution))
		jobs = append(jobs, job)
		if err := writeModel(job.Model, m, 1); err != nil {
			return nil, err
		}
	}
	return o.withThreads(firstOfEach(jobs)), nil
}

// withThreads returns each job for every number of threads that is measured.
func (o *calibrating) withThreads(jobs []collection.Job) []collection.Job {
	var all []collection.Job
	for _, job := range jobs {
		for _, n := range o.threads {
			job.Setting.Threads = n
			all = append(all, job)
		}
	}
	return all
}

// firstOfEach returns jobs in an order whose beginning measures every class of operator
// and every family: the chains of operators, then the first model of each family.
func firstOfEach(jobs []collection.Job) []collection.Job {
	rank := map[string]int{}
	seen := map[string]bool{}
	for _, job := range jobs {
		family := measurement.ModelFamily(filepath.Base(job.Model))
		switch {
		case family == profiler.Operators:
		case seen[family]:
			rank[job.Model] = 2
		default:
			seen[family], rank[job.Model] = true, 1
		}
	}
	slices.SortStableFunc(jobs, func(a, b collection.Job) int { return cmp.Compare(rank[a.Model], rank[b.Model]) })
	return jobs
}
