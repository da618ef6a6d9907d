package profiler

import (
	"gonum.org/v1/gonum/floats"

	"github.com/foretime/foretime/edgeprof/internal/device"
	"github.com/foretime/foretime/edgeprof/internal/measurement"
	"github.com/foretime/foretime/edgeprof/internal/onnx"
)

// Layer is a kernel of a model with its predicted time.
type Layer struct {
	Name    string     `json:"name"`
	Op      string     `json:"op"`
	Class   onnx.Class `json:"class"`
	Shape   []int64    `json:"shape"` // of its result
	Times   int64      `json:"times"` // that it runs
	MACs    int64      `json:"macs"`  // of all times, as what follows
	Bytes   int64      `json:"bytes"`
	Seconds float64    `json:"predicted_seconds"`
	Share   float64    `json:"share"`
}

// Layers returns the model's kernels, with the seconds
// that each takes on a device as it is loaded now. They sum to the prediction.
func (c *Calibration) Layers(a *onnx.Analysis, d device.Device) ([]Layer, Prediction) {
	p := c.Predict(a, d)
	kernels := a.Kernels()
	seconds := c.kernels(measurement.NewKernels(kernels))
	sum := floats.Sum(seconds)
	layers := make([]Layer, len(kernels))
	for i := range kernels {
		layers[i] = layerOf(a, &kernels[i])
		if sum > 0 {
			layers[i].Share = seconds[i] / sum
			layers[i].Seconds = p.Seconds.Value * layers[i].Share
		}
	}
	return layers, p
}

// layerOf returns a kernel without its time: named after its first node, shaped as its
// last one's result. Those of bodies have neither.
func layerOf(a *onnx.Analysis, k *onnx.Kernel) Layer {
	l := Layer{
		Op: k.Op, Class: k.Class, Shape: []int64{}, Times: k.Times, MACs: k.MACs * k.Times, Bytes: k.Bytes() * k.Times,
	}
	nodes := a.Model.Graph.Nodes
	last := k.Nodes[len(k.Nodes)-1]
	if last >= len(nodes) {
		return l
	}
	l.Name = nodes[k.Nodes[0]].Name
	if outputs := nodes[last].Outputs; len(outputs) > 0 && a.Tensors[outputs[0]].Shape != nil {
		l.Shape = a.Tensors[outputs[0]].Shape
	}
	return l
}
