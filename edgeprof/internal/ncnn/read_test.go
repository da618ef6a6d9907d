package ncnn

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/foretime/foretime/edgeprof/internal/onnx"
)

const small = `7767517
7 8
Input data 0 1 data 0=8 1=8 2=3
Convolution conv 1 1 data conv 0=4 1=3 4=1 5=1 6=108 9=1
Split split 1 2 conv conv_a conv_b
ConvolutionDepthWise deep 1 1 conv_a deep 0=4 1=3 4=1 6=36 7=4
BinaryOp sum 2 1 deep conv_b sum 0=0
Pooling pool 1 1 sum pool 0=1 4=1
InnerProduct fc 1 1 pool fc 0=10 1=1 2=40
`

func characteristics(t *testing.T, m *onnx.Model) *onnx.Characteristics {
	t.Helper()
	a, err := onnx.Analyze(m, onnx.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := a.Characteristics()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestRead(t *testing.T) {
	m, err := Read(strings.NewReader(small))
	if err != nil {
		t.Fatal(err)
	}
	c := characteristics(t, m)
	if c.MACs.Conv != 8*8*4*27 || c.MACs.Depthwise != 8*8*4*9 || c.MACs.Dense != 40 || c.TotalParameters != 108+4+36+40+10 || c.ConvLayers != 2 || c.FCLayers != 1 || c.PoolLayers != 1 {
		t.Errorf("%+v", c)
	}
	if got := c.OutputShapes["fc"]; len(got) != 2 || got[1] != 10 || len(c.Warnings) > 0 {
		t.Errorf("output %v, warnings %v", c.OutputShapes, c.Warnings)
	}
}

func TestReadRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"empty": "", "no number": "1\n2 2\n", "another line 2": magic + "\nx y\n", "fewer layers": magic + "\n3 1\nInput a 0 1 a 0=1\n",
		"an unknown blob": magic + "\n1 1\nReLU r 1 1 x y\n", "made twice": magic + "\n2 1\nInput a 0 1 a 0=1\nInput b 0 1 a 0=1\n",
		"too few words": magic + "\n1 1\nReLU r\n", "a setting": magic + "\n1 1\nInput a 0 1 a 0=x\n", "weights": magic + "\n2 2\nInput a 0 1 a 0=8 1=8 2=3\nConvolution c 1 1 a b 0=4 1=3 6=107\n",
		"numbers of blobs": magic + "\n1 1\nInput a 0 5 a\n", "gemm": magic + "\n1 1\nGemm g 0 1 y\n",
	} {
		if _, err := Read(strings.NewReader(text)); !errors.Is(err, ErrSyntax) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(small)
	f.Add(magic + "\n1 1\nInput a 0 1 a -23330=4,3,1,1,1\n")
	f.Fuzz(func(t *testing.T, text string) {
		m, err := Read(strings.NewReader(text))
		if err != nil {
			return
		}
		a, err := onnx.Analyze(m, onnx.Settings{})
		if err == nil {
			_, err = a.Characteristics()
		}
		if err != nil && !errors.Is(err, onnx.ErrGraph) {
			t.Errorf("%q: %v", text, err)
		}
	})
}

// Multiply-accumulates of published networks, from their papers (batch 1): ResNet
// 1.8e9 (He et al. 2016), VGG-16 15.5e9, MobileNet 569e6 (Howard et al. 2017),
// ShuffleNet v2 146e6 (Ma et al. 2018), and their parameters.
func TestBoards(t *testing.T) {
	dir := os.Getenv("FORETIME_DATA")
	if dir == "" {
		t.Skip("needs FORETIME_DATA")
	}
	for name, want := range map[string]struct{ macs, parameters float64 }{
		"resnet18": {1.82e9, 11.69e6}, "vgg16": {15.47e9, 138.36e6}, "mobilenet": {569e6, 4.23e6}, "shufflenet_v2": {146e6, 2.28e6}, "efficientnet_b0": {390e6, 5.29e6},
	} {
		m, err := ReadFile(filepath.Join(dir, "ncnn-boards", "models", name+".param"))
		if err != nil {
			t.Fatal(err)
		}
		c := characteristics(t, m)
		if r := float64(c.MACs.Total) / want.macs; r < 0.98 || r > 1.02 {
			t.Errorf("%s: %d multiply-accumulates, want %g", name, c.MACs.Total, want.macs)
		}
		if r := float64(c.TotalParameters) / want.parameters; r < 0.98 || r > 1.02 {
			t.Errorf("%s: %d parameters, want %g", name, c.TotalParameters, want.parameters)
		}
	}
	paths, err := filepath.Glob(filepath.Join(dir, "ncnn-boards", "models", "*.param"))
	if err != nil || len(paths) < 30 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		m, err := ReadFile(path)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		sizes := map[string]int64{} // of an image of 3 channels, where they are open
		for _, in := range m.Graph.Inputs {
			for axis, d := range in.Shape {
				if d.Size < 0 {
					sizes[fmt.Sprintf("%s:%d", in.Name, axis)] = []int64{1, 3, 384, 384}[axis]
				}
			}
		}
		a, err := onnx.Analyze(m, onnx.Settings{Sizes: sizes})
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if c, err := a.Characteristics(); err != nil || c.MACs.Total < 1e7 || a.UncountedWarnings() != nil && len(a.OpenDimensions) == 0 {
			t.Errorf("%s: %d multiply-accumulates, %v, %v", path, c.MACs.Total, c.Warnings, err)
		}
	}
}
