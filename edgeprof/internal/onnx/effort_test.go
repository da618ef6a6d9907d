package onnx

import (
	"math"
	"testing"
)

// kernelOf analyses one node and returns its kernel.
func kernelOf(t *testing.T, n Node, shapes [][]int64, whole ...[]int64) Kernel {
	t.Helper()
	g := Graph{Name: "g", Outputs: []Value{{Name: "y"}}}
	for i, shape := range shapes {
		v := Value{Name: string(rune('a' + i)), Type: Float32, Known: true}
		for _, size := range shape {
			v.Shape = append(v.Shape, Dim{Size: size})
		}
		g.Inputs, n.Inputs = append(g.Inputs, v), append(n.Inputs, v.Name)
	}
	for i, values := range whole {
		name := string(rune('p' + i))
		g.Initializers = append(g.Initializers, Tensor{Name: name, Type: Int64, Dims: []int64{int64(len(values))}, Stored: int64(8 * len(values)), Data: littleEndian(values)})
		n.Inputs = append(n.Inputs, name)
	}
	n.Outputs = []string{"y"}
	g.Nodes = []Node{n}
	a, err := Analyze(&Model{IRVersion: 8, Opsets: map[string]int64{"": 18, "com.microsoft": 1, "ai.onnx.ml": 3}, Graph: g}, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	k := a.Kernels()
	if len(k) != 1 {
		t.Fatalf("%d kernels, want 1", len(k))
	}
	return k[0]
}

func littleEndian(values []int64) []byte {
	var data []byte
	for _, v := range values {
		for i := range 8 {
			data = append(data, byte(uint64(v)>>(8*i)))
		}
	}
	return data
}

// packed returns a product with weights of so many bits.
func packed(bits int64) Node {
	return Node{Op: "MatMulNBits", Domain: "com.microsoft", Attributes: []Attribute{IntAttribute("K", 2048), IntAttribute("N", 512), IntAttribute("bits", bits)}}
}

func einsumOf(text string) Node {
	return Node{Op: "Einsum", Attributes: []Attribute{{Name: "equation", Kind: KindString, String: text}}}
}

// Operators of one class differ by up to hundreds of times in ONNX Runtime. The ratios are
// those of one-operator models, measured over predicted by the class alone, within 2.5;
// [unmet] of forms that no calibration has met.
func TestEffort(t *testing.T) {
	image := []int64{1, 64, 112, 112}
	node := func(op string, attributes ...Attribute) Node { return Node{Op: op, Attributes: attributes} }
	for name, tt := range map[string]struct {
		n      Node
		shapes [][]int64
		whole  [][]int64
		want   float64
	}{
		"PRelu":                      {node("PRelu"), [][]int64{image, {64, 1, 1}}, nil, 39},
		"Softplus":                   {node("Softplus"), [][]int64{image}, nil, 165},
		"Mul of pairs":               {node("Mul"), [][]int64{{1, 36864, 1, 3}, {1, 1, 2, 3}}, nil, unmet},
		"Mul by channel":             {node("Mul"), [][]int64{image, {64, 1, 1}}, nil, 1},
		"Mul by a row":               {node("Mul"), [][]int64{image, {112}}, nil, 1.6},
		"Mul by a scalar":            {node("Mul"), [][]int64{image, {1}}, nil, 1},
		"Softmax over channels":      {node("Softmax", IntAttribute("axis", 1)), [][]int64{image}, nil, unmet},
		"Softmax, transposed fast":   {node("Softmax", IntAttribute("axis", 1)), [][]int64{{1, 128, 768}}, nil, unmet},
		"ReduceMean of a matrix":     {node("ReduceMean"), [][]int64{{1536, 128}}, [][]int64{{0}}, unmet},
		"ReduceMean of a batch of 1": {node("ReduceMean"), [][]int64{{1, 128, 768}}, [][]int64{{1}}, unmet},
		"ReduceSum of everything":    {node("ReduceSum"), [][]int64{image}, nil, 0.17},
		"ReduceMean of one value":    {node("ReduceMean"), [][]int64{image}, [][]int64{{0}}, unmet},
		"AveragePool over 2x2":       {node("AveragePool", IntsAttribute("kernel_shape", 2, 2), IntsAttribute("strides", 2, 2)), [][]int64{{1, 16, 64, 64}}, nil, 2.35},
		"AveragePool over 3x3":       {node("AveragePool", IntsAttribute("kernel_shape", 3, 3), IntsAttribute("pads", 1, 1, 1, 1)), [][]int64{{1, 16, 64, 64}}, nil, 2.95},
		"MaxPool over 13x13":         {node("MaxPool", IntsAttribute("kernel_shape", 13, 13), IntsAttribute("pads", 6, 6, 6, 6)), [][]int64{{1, 16, 64, 64}}, nil, 26.4},
		"Sigmoid":                    {node("Sigmoid"), [][]int64{image}, nil, 2.7},
		"Softmax over rows":          {node("Softmax", IntAttribute("axis", 3)), [][]int64{image}, nil, 1},
		"ReduceSum over rows":        {node("ReduceSum"), [][]int64{image}, [][]int64{{-1}}, 0.17},
		"ReduceSum over the image":   {node("ReduceSum"), [][]int64{image}, [][]int64{{2, 3}}, 0.21},
		"ReduceSum over channels":    {node("ReduceSum"), [][]int64{image}, [][]int64{{1}}, unmet},
		"ReduceSum of short rows":    {node("ReduceSum"), [][]int64{{1, 36864, 3, 2}}, [][]int64{{-2}}, unmet},
		"Transpose, one axis moves":  {node("Transpose", IntsAttribute("perm", 0, 2, 3, 1)), [][]int64{image}, nil, 2.3},
		"Transpose, in one set":      {node("Transpose", IntsAttribute("perm", 1, 2, 0)), [][]int64{{64, 128, 64}}, nil, 2.3},
		"TopK over columns":          {node("TopK", IntAttribute("axis", 1)), [][]int64{{64, 128, 64}}, [][]int64{{10}}, unmet},
		"AveragePool over 7x7":       {node("AveragePool", IntsAttribute("kernel_shape", 7, 7)), [][]int64{{1, 16, 64, 64}}, nil, 6.3},
		"Transpose, long runs":       {node("Transpose", IntsAttribute("perm", 0, 2, 1, 3)), [][]int64{image}, nil, 1.75},
		"Transpose, reversed":        {node("Transpose", IntsAttribute("perm", 0, 3, 2, 1)), [][]int64{image}, nil, unmet},
		"Transpose of nothing":       {node("Transpose", IntsAttribute("perm", 1, 0, 2, 3)), [][]int64{image}, nil, 1},
		"Gather of rows":             {node("Gather", IntAttribute("axis", 0)), [][]int64{{5000, 256}}, [][]int64{{1, 2, 3, 4}}, 0.004},
		"Gather of single values":    {node("Gather", IntAttribute("axis", 3)), [][]int64{image}, [][]int64{{1, 2, 3, 4, 5, 6, 7, 8}}, unmet},
		"Slice in steps":             {node("Slice"), [][]int64{image}, [][]int64{{0}, {112}, {3}, {2}}, unmet},
		"Slice of channels in steps": {node("Slice"), [][]int64{image}, [][]int64{{0}, {64}, {1}, {2}}, 1},
		"convolution of one filter":  {node("Conv", IntsAttribute("pads", 1, 1, 1, 1)), [][]int64{{1, 32, 64, 64}, {1, 32, 3, 3}}, nil, 8},
		"convolution of 64 filters":  {node("Conv", IntsAttribute("pads", 1, 1, 1, 1)), [][]int64{{1, 32, 64, 64}, {64, 32, 3, 3}}, nil, 1},
		"convolution in groups of 4": {node("Conv", IntsAttribute("pads", 1, 1, 1, 1), IntAttribute("group", 32)), [][]int64{{1, 128, 32, 32}, {128, 4, 3, 3}}, nil, 4},
		"depthwise convolution":      {node("Conv", IntsAttribute("pads", 1, 1, 1, 1), IntAttribute("group", 64)), [][]int64{{1, 64, 64, 64}, {64, 1, 3, 3}}, nil, 1},
		"Swish":                      {node("Swish"), [][]int64{image}, nil, 7},
		"Hardmax of rows":            {node("Hardmax"), [][]int64{image}, nil, 3.7},
		"Hardmax over channels":      {node("Hardmax", IntAttribute("axis", 1)), [][]int64{image}, nil, unmet},
		"RandomNormalLike":           {node("RandomNormalLike"), [][]int64{{1000000}}, nil, 164},
		"RandomUniformLike":          {node("RandomUniformLike"), [][]int64{{1000000}}, nil, 86},
		"Bernoulli":                  {node("Bernoulli"), [][]int64{{1000000}}, nil, 41},
		"Multinomial of many":        {node("Multinomial", IntAttribute("sample_size", 2000)), [][]int64{{16, 50}}, nil, unmet},
		"Multinomial of one":         {node("Multinomial", IntAttribute("sample_size", 1)), [][]int64{{20, 5000}}, nil, unmet},
		"LpNormalization of rows":    {node("LpNormalization", IntAttribute("axis", 3)), [][]int64{image}, nil, 0.83},
		"LpNormalization, in a set":  {node("LpNormalization", IntAttribute("axis", 1)), [][]int64{image}, nil, unmet},
		"LpNormalization over 300":   {node("LpNormalization", IntAttribute("axis", 1)), [][]int64{{8, 300, 160}}, nil, unmet},
		"TopK of all":                {node("TopK"), [][]int64{{1, 10000}}, [][]int64{{10000}}, unmet},
		"TopK of the first":          {node("TopK"), [][]int64{{1, 100000}}, [][]int64{{1}}, unmet},
		"TopK of 1000":               {node("TopK"), [][]int64{{1, 100000}}, [][]int64{{1000}}, unmet},
		"Det of small matrices":      {node("Det"), [][]int64{{1000, 8, 8}}, nil, unmet},
		"Det of a large matrix":      {node("Det"), [][]int64{{1, 700, 700}}, nil, unmet},
		"product of 4 bits":          {packed(4), [][]int64{{16, 2048}}, nil, unmet},
		"product of 8 bits":          {packed(8), [][]int64{{16, 2048}}, nil, unmet},
		"row by 8 bits":              {packed(8), [][]int64{{1, 2048}}, nil, unmet},
		"Einsum, outer product":      {einsumOf("i,j->ij"), [][]int64{{1000}, {1000}}, nil, unmet},
		"Einsum in order":            {einsumOf("bhid,bhjd->bhij"), [][]int64{{1, 8, 128, 64}, {1, 8, 128, 64}}, nil, unmet},
		"Einsum, heads inside":       {einsumOf("bqhd,bkhd->bhqk"), [][]int64{{1, 100, 8, 32}, {1, 100, 8, 32}}, nil, unmet},
		"Einsum of dot products":     {einsumOf("bi,bi->b"), [][]int64{{512, 256}, {512, 256}}, nil, unmet},
		"product of three columns":   {node("MatMul"), [][]int64{{4096, 64}, {64, 3}}, nil, unmet},
		"product of 512 columns":     {node("MatMul"), [][]int64{{256, 512}, {512, 512}}, nil, 1},
	} {
		t.Run(name, func(t *testing.T) {
			k := kernelOf(t, tt.n, tt.shapes, tt.whole...)
			got := k.Effort
			if k.Unmet != (tt.want == unmet) {
				t.Errorf("unmet %v, effort %.3g, want %.3g", k.Unmet, got, tt.want)
			}
			if k.Unmet {
				return
			}
			if off := math.Abs(math.Log(got / tt.want)); off > math.Log(2.5) {
				t.Errorf("effort %.3g, want about %.3g", got, tt.want)
			}
		})
	}
}

// A pool whose input is in the layout of convolutions is not reordered.
func TestReorderedPools(t *testing.T) {
	for name, tt := range map[string]struct {
		nodes []string
		want  float64 // effort of the pool, which is last
	}{
		"of an input":                {[]string{"GlobalAveragePool x>y"}, 1 + reordered},
		"of a convolution":           {[]string{"Conv x,w>a", "GlobalAveragePool a>y"}, 1},
		"of its activation":          {[]string{"Conv x,w>a", "Relu a>b", "GlobalAveragePool b>y"}, 1},
		"of two convolutions":        {[]string{"Conv x,w>a", "Conv x,w>b", "Concat a,b>c", "GlobalMaxPool c>y"}, 1},
		"of one and the input":       {[]string{"Conv x,w>a", "Concat a,x>c", "GlobalMaxPool c>y"}, 1 + reordered},
		"after an operator outside":  {[]string{"Conv x,w>a", "Erf a>b", "GlobalMaxPool b>y"}, 1 + reordered},
		"of a pool of a convolution": {[]string{"Conv x,w>a", "GlobalMaxPool a>b", "GlobalAveragePool b>y"}, 1},
	} {
		k := chain(t, tt.nodes...).Kernels()
		if got := k[len(k)-1].Effort; got != tt.want {
			t.Errorf("%s: effort %v, want %v", name, got, tt.want)
		}
	}
}
