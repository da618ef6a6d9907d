package placement

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/foretime/foretime/edgeprof/internal/onnx"
)

// known is a model that people ship: its counts, and its kernels' work by class.
type known struct {
	Model  string `json:"model"`
	Family string `json:"family"`
	Counts Counts `json:"counts"`
	Work   []struct {
		Class   onnx.Class `json:"class"`
		Kernels int64      `json:"kernels"`
		MACs    int64      `json:"macs"`
		Bytes   int64      `json:"bytes"`
	} `json:"work"`
}

//go:embed shipped.json
var shippedJSON []byte

// shipped are models from five packages of PyPI, as cmd/edgeprof-ort's
// TestRealCounts reads them.
var shipped = sync.OnceValue(func() []known {
	var all []known
	if err := json.Unmarshal(shippedJSON, &all); err != nil {
		panic(fmt.Sprintf("shipped.json, which is part of the program: %v", err))
	}
	return all
})

// analysis returns the model as kernels of their class's mean size.
func (k *known) analysis() *onnx.Analysis {
	a := &onnx.Analysis{}
	for _, w := range k.Work {
		for range w.Kernels {
			a.Costs = append(a.Costs, onnx.Cost{Class: w.Class, Work: onnx.Work{MACs: w.MACs / w.Kernels, ReadBytes: w.Bytes / w.Kernels}})
		}
	}
	return a
}
