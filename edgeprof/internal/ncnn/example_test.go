package ncnn_test

import (
	"fmt"
	"strings"

	"github.com/foretime/foretime/edgeprof/internal/ncnn"
	"github.com/foretime/foretime/edgeprof/internal/onnx"
)

// One convolution of 3 x 3 over an image of 8 x 8 with 3 channels.
func Example() {
	m, err := ncnn.Read(strings.NewReader("7767517\n2 2\nInput data 0 1 data 0=8 1=8 2=3\nConvolution conv 1 1 data conv 0=16 1=3 4=1 6=432\n"))
	if err != nil {
		fmt.Println(err)
		return
	}
	a, err := onnx.Analyze(m, onnx.Settings{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(a.Tensors["conv"].Shape, a.Costs[0].MACs)
	// Output: [1 16 8 8] 27648
}
