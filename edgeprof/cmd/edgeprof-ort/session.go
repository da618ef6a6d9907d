package main

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	ort "github.com/yalue/onnxruntime_go"

	"github.com/foretime/foretime/edgeprof/internal/onnx"
	"github.com/foretime/foretime/edgeprof/internal/runtime"
	"github.com/foretime/foretime/edgeprof/internal/runtime/worker"
	"github.com/foretime/foretime/shared/file"
)

// session is a model in ONNX Runtime.
type session struct {
	model   worker.Model
	inputs  map[string]*input
	names   []string // of the inputs, in order
	outputs []string
	results []onnx.TensorInfo // what is known of the outputs
	places  places
	rename  bool // for a profile: a node has no name
	native  *ort.DynamicAdvancedSession
}

var _ worker.Served = (*session)(nil)

// Library returns the file of the loaded library, and its name with its version.
func (s *session) Library() (path, name string) { return library.path, library.name }

func load(ctx context.Context, m worker.Model) (worker.Served, error) {
	if err := open(ctx, m.Library); err != nil {
		return nil, err
	}
	s := &session{model: m, inputs: map[string]*input{}}
	if err := s.describe(); err != nil {
		return nil, err
	}
	var err error
	s.native, err = s.create("", ort.GraphOptimizationLevelEnableAll)
	return s, err
}

// describe reads the shapes of the inputs, open dimensions decided as in
// [onnx.Analyze].
func (s *session) describe() error {
	m, err := onnx.ReadFile(s.model.Path)
	if err != nil {
		return err
	}
	if err := onnx.CheckExternal(s.model.Path, m); err != nil { // ONNX Runtime follows any link
		return fmt.Errorf("%s: %w", s.model.Path, err)
	}
	a, err := onnx.Analyze(m, onnx.Settings{Sizes: s.model.Sizes})
	if err != nil {
		return fmt.Errorf("%s: %w", s.model.Path, err)
	}
	for _, v := range m.Graph.Inputs {
		t := a.Tensors[v.Name]
		if t.Constant {
			continue
		}
		if !t.Known {
			return fmt.Errorf("%w: input %q is %v of no stated shape", runtime.ErrUnsupported, v.Name, t.Type)
		}
		s.inputs[v.Name] = &input{t.Type, t.Shape, a.IndexBound(v.Name)}
	}
	switch {
	case len(m.Functions) == 0:
		// ONNX Runtime loads no model in which two nodes have the same name
		s.rename = slices.ContainsFunc(m.Graph.Nodes, func(n onnx.Node) bool { return n.Name == "" })
		s.places = placesOf(&m.Graph, s.rename)
	case onnx.CanInline(m):
		s.rename = true
		s.places = placesOf(&a.Model.Graph, true)
	}
	s.names = slices.Sorted(maps.Keys(s.inputs))
	for _, v := range m.Graph.Outputs {
		s.outputs = append(s.outputs, v.Name)
		s.results = append(s.results, a.Tensors[v.Name])
	}
	if len(s.names) == 0 || len(s.outputs) == 0 {
		return fmt.Errorf("%w: %d inputs and %d outputs", runtime.ErrUnsupported, len(s.names), len(s.outputs))
	}
	return nil
}

// create makes a native session, one that writes a
// profile when it is destroyed if a prefix is given. It is set up as programs do it
// unless they choose otherwise: its threads spin while they wait for a next kernel.
func (s *session) create(profile string, level ort.GraphOptimizationLevel) (*ort.DynamicAdvancedSession, error) {
	o, err := ort.NewSessionOptions()
	if err != nil {
		return nil, err
	}
	defer o.Destroy()
	steps := []func() error{
		func() error { return o.SetIntraOpNumThreads(max(1, s.model.Threads)) },
		func() error { return o.SetInterOpNumThreads(1) },
		func() error { return o.SetGraphOptimizationLevel(level) },
		func() error { return o.SetLogSeverityLevel(ort.LoggingLevelError) },
		func() error { return s.appendProvider(o) },
	}
	if profile != "" {
		steps = append(steps, func() error { return o.EnableProfiling(profile) })
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return nil, err
		}
	}
	var native *ort.DynamicAdvancedSession
	if profile != "" && s.rename {
		native, err = s.createRenamed(o)
	} else {
		native, err = ort.NewDynamicAdvancedSession(s.model.Path, s.names, s.outputs, o)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", runtime.ErrUnsupported, s.model.Path, err)
	}
	return native, nil
}

// createRenamed makes a native session of the model in which each node has a name of its own.
func (s *session) createRenamed(o *ort.SessionOptions) (*ort.DynamicAdvancedSession, error) {
	if err := o.AddSessionConfigEntry("session.model_external_initializers_file_folder_path", filepath.Dir(s.model.Path)); err != nil {
		return nil, err
	}
	model, err := os.ReadFile(s.model.Path)
	if err != nil {
		return nil, err
	}
	m, err := onnx.Read(bytes.NewReader(model), int64(len(model)))
	if err != nil {
		return nil, err
	}
	if model, err = onnx.WithNodeNames(model, m); err != nil {
		return nil, err
	}
	return ort.NewDynamicAdvancedSessionWithONNXData(model, s.names, s.outputs, o)
}

// Inputs returns the shapes that the model wants, by name.
func (s *session) Inputs() map[string][]int64 {
	shapes := map[string][]int64{}
	for name, in := range s.inputs {
		shapes[name] = in.shape
	}
	return shapes
}

// values copies the inputs into native tensors, in order.
func (s *session) values(inputs map[string]runtime.Tensor) ([]ort.Value, error) {
	var values []ort.Value
	for _, name := range s.names {
		t, ok := inputs[name]
		if !ok || !slices.Equal(t.Shape, s.inputs[name].shape) {
			destroy(values)
			return nil, fmt.Errorf("%w: input %q has shape %v, want %v", runtime.ErrInput, name, t.Shape, s.inputs[name].shape)
		}
		v, err := s.inputs[name].value(t.Data)
		if err != nil {
			destroy(values)
			return nil, fmt.Errorf("%w: input %q: %w", runtime.ErrInput, name, err)
		}
		values = append(values, v)
	}
	return values, nil
}

func destroy(values []ort.Value) {
	for _, v := range values {
		if v != nil {
			v.Destroy()
		}
	}
}

// rooms returns the buffers of the outputs, nil where their size is unknown and ONNX Runtime
// allocates.
func (s *session) rooms() ([]ort.Value, error) {
	outputs := make([]ort.Value, len(s.results))
	for i, t := range s.results {
		var err error
		if outputs[i], err = room(t); err != nil {
			destroy(outputs)
			return nil, fmt.Errorf("output %q: %w", s.outputs[i], err)
		}
	}
	return outputs, nil
}

// infer makes some inferences and calls each after every one, with its seconds.
func (s *session) infer(ctx context.Context, native *ort.DynamicAdvancedSession, inputs map[string]runtime.Tensor, runs int, each func(seconds float64)) error {
	values, err := s.values(inputs)
	if err != nil {
		return err
	}
	defer destroy(values)
	rooms, err := s.rooms()
	if err != nil {
		return err
	}
	defer destroy(rooms)
	for range runs {
		if err := ctx.Err(); err != nil {
			return err
		}
		outputs := slices.Clone(rooms)
		start := time.Now()
		err = native.Run(values, outputs)
		seconds := time.Since(start).Seconds()
		if err != nil { // outputs may be half made
			return fmt.Errorf("%w: %w", runtime.ErrInput, err)
		}
		each(seconds)
		for i := range outputs {
			if rooms[i] == nil {
				destroy(outputs[i : i+1])
			}
		}
	}
	return nil
}

// Time makes some inferences; see [runtime.Session].
func (s *session) Time(ctx context.Context, inputs map[string]runtime.Tensor, runs int) (runtime.Timing, error) {
	w := runtime.NewStopwatch(runs)
	err := s.infer(ctx, s.native, inputs, w.Runs, w.Add)
	return w.Timing(), err
}

// Profile makes some inferences in a second session with ONNX Runtime's own
// profiling, after one that is not counted.
func (s *session) Profile(ctx context.Context, inputs map[string]runtime.Tensor, runs int) ([]runtime.Profile, error) {
	events, err := s.watchNodes(ctx, ort.GraphOptimizationLevelEnableAll, inputs, runs+1)
	if err != nil {
		return nil, err
	}
	profiles := profiles(events, s.places)
	if len(profiles) != runs+1 {
		return nil, fmt.Errorf("%w: a profile of %d inferences, want %d", runtime.ErrUnsupported, len(profiles), runs+1)
	}
	return profiles[1:], nil
}

// watchNodes makes some inferences in a session of their own that notes each node.
func (s *session) watchNodes(ctx context.Context, level ort.GraphOptimizationLevel, inputs map[string]runtime.Tensor, runs int) ([]event, error) {
	dir, err := file.NewScratch("", "edgeprof-")
	if err != nil {
		return nil, err
	}
	defer file.RemoveScratch(dir)
	native, err := s.create(dir+"/profile", level)
	if err != nil {
		return nil, err
	}
	err = s.infer(ctx, native, inputs, runs, func(float64) {})
	native.Destroy() // writes the profile
	if err != nil {
		return nil, err
	}
	return readEvents(dir)
}

// Close frees the session.
func (s *session) Close() error { return s.native.Destroy() }
