package onnx_test

import (
	"bytes"
	"fmt"

	"github.com/foretime/foretime/edgeprof/internal/onnx"
	"github.com/foretime/foretime/edgeprof/internal/synth"
)

// What a file of 25 kB is made of.
func Example() {
	m, err := synth.New("lenet", synth.Size{})
	if err != nil {
		fmt.Println(err)
		return
	}
	var file bytes.Buffer
	if err := onnx.Write(&file, m, synth.RandomWeights(1)); err != nil {
		fmt.Println(err)
		return
	}
	read, err := onnx.Read(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		fmt.Println(err)
		return
	}
	a, err := onnx.Analyze(read, onnx.Settings{})
	if err != nil {
		fmt.Println(err)
		return
	}
	c, err := a.Characteristics()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(c.ConvLayers, "convolutions,", c.TotalParameters, "parameters,", c.MACs.Total, "multiply-accumulates")
	// Output: 2 convolutions, 61706 parameters, 416520 multiply-accumulates
}
