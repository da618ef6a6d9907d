package onnx

import (
	"cmp"
	"slices"
	"strings"
)

// operator is what is known of one.
type operator struct {
	rule  rule
	class Class // "" is [ClassOther]
	// work is its class and the factors of its multiply-accumulates, nil where they
	// are not known; a nil function stands for none, in the class above.
	work   func(n *Node, in inputs, out Shaped) (Class, []int64)
	traits trait
}

// trait is what else sets an operator apart.
type trait uint8

const (
	quantizes trait = 1 << iota // works on whole numbers of 8 bits
	passes                      // its result stands for its input, in counts of layers
	activates                   // may run inside the kernel before it
	hands                       // hands indices on, in another shape or type
	random                      // says something else each time
)

// microsoftDomain is that of ONNX Runtime's own operators
// (docs/ContribOperators.md of microsoft/onnxruntime), which its tools write
// into files that they quantise or optimise.
const microsoftDomain = "com.microsoft"

// LayerDomain is that of layers of other run times that ONNX has no operator for.
// Their shapes are as the file states them.
const LayerDomain = "ncnn"

// operators are all whose cost is known, by name; those of other domains have it
// before theirs.
var operators = tabled()

func tabled() map[string]operator {
	all := map[string]operator{}
	add := func(domain string, o operator, names string) {
		for name := range strings.FieldsSeq(names) {
			all[domain+name] = o
		}
	}
	// ONNX's own.
	for names, o := range map[string]operator{
		"Conv ConvInteger QLinearConv":                 {rule: convolution, work: convolutionWork},
		"ConvTranspose":                                {rule: deconvolution, work: deconvolutionWork},
		"MaxPool AveragePool LpPool":                   {rule: pooling, class: ClassPool},
		"GlobalAveragePool GlobalMaxPool GlobalLpPool": {rule: globalPool, class: ClassPool},
		"Gemm":                               {rule: gemm, work: gemmWork},
		"MatMul MatMulInteger QLinearMatMul": {rule: matMul, work: matMulWork},
		"Einsum":                             {rule: einsum, work: einsumWork},
		"LSTM GRU RNN":                       {rule: recurrent, work: recurrentWork},
		"Exp Log Sigmoid Tanh Mish Softplus HardSwish Swish Elu Selu Sin Cos": {rule: first, class: ClassFunction},
		"Pow":                {rule: elementwise, class: ClassFunction},
		"Erf Gelu":           {rule: first, class: ClassErf},
		"Softmax LogSoftmax": {rule: first, class: ClassSoftmax},
		"LRN":                {rule: first, class: ClassResponse},
		"MeanVarianceNormalization LpNormalization RMSNormalization InstanceNormalization GroupNormalization": {rule: first, class: ClassNormalize},
		"LayerNormalization": {rule: layerNormalization, class: ClassNormalize},
		"ReduceMean ReduceSum ReduceMax ReduceMin ReduceProd ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceSumSquare": {rule: reduction, class: ClassNormalize},
		"Concat":                    {rule: concat, class: ClassMove},
		"Split":                     {rule: splitUp, class: ClassMove},
		"Slice":                     {rule: slice, class: ClassMove},
		"Gather":                    {rule: gather, class: ClassMove},
		"GatherElements":            {rule: likeSecond, class: ClassMove},
		"GatherND":                  {rule: gatherND, class: ClassMove},
		"Transpose":                 {rule: transpose, class: ClassMove},
		"Reshape":                   {rule: reshape, class: ClassMove},
		"Flatten":                   {rule: flatten, class: ClassMove},
		"Squeeze":                   {rule: squeeze, class: ClassMove},
		"Unsqueeze":                 {rule: unsqueeze, class: ClassMove},
		"Dropout":                   {rule: dropout, class: ClassMove},
		"Pad":                       {rule: pad, class: ClassMove},
		"Expand":                    {rule: expand, class: ClassMove},
		"Tile":                      {rule: tile, class: ClassMove},
		"Resize Upsample":           {rule: resize, class: ClassMove},
		"DepthToSpace SpaceToDepth": {rule: blocks, class: ClassMove},
		"Constant":                  {rule: constantNode, class: ClassMove},
		"ConstantOfShape":           {rule: constantOfShape, class: ClassMove},
		"Shape":                     {rule: shapeOf, class: ClassMove},
		"Size":                      {rule: sizeOf, class: ClassMove},
		"Identity ScatterElements ScatterND Scatter ReverseSequence":                                                    {rule: first, class: ClassMove},
		"Relu LeakyRelu PRelu Celu ThresholdedRelu HardSigmoid Softsign Tan Asin Acos Atan Sinh Cosh Asinh Acosh Atanh": {rule: first},
		"Abs Neg Ceil Floor Round Sqrt Reciprocal Sign Not BitwiseNot Clip Hardmax BatchNormalization RotaryEmbedding":  {rule: first},
		"RandomNormalLike RandomUniformLike Bernoulli CumSum Trilu EyeLike Shrink":                                      {rule: first},
		"Add Sub Mul Div Max Min Mean Sum Mod BitShift BitwiseAnd BitwiseOr BitwiseXor":                                 {rule: elementwise},
		"And Or Xor Equal Greater Less GreaterOrEqual LessOrEqual":                                                      {rule: comparison},
		"IsNaN IsInf":                {rule: predicate},
		"Where":                      {rule: where},
		"Cast CastLike":              {rule: cast},
		"Range":                      {rule: rangeOf},
		"ArgMax ArgMin":              {rule: argument},
		"TopK":                       {rule: topK},
		"GridSample":                 {rule: gridSample},
		"DequantizeLinear":           {rule: dequantize},
		"QuantizeLinear":             {rule: quantize},
		"DynamicQuantizeLinear":      {rule: dynamicQuantize},
		"RandomNormal RandomUniform": {rule: randomShape},
		"OneHot NonZero NonMaxSuppression Unique": {rule: unknown},
		"Compress": {rule: typeOnly},
	} {
		add("", o, names)
	}
	for names, o := range map[string]operator{
		"FusedConv QLinearConv":                      {rule: convolution, work: convolutionWork},
		"FusedGemm QGemm":                            {rule: gemm, work: gemmWork},
		"FusedMatMul TransposeMatMul":                {rule: fusedMatMul, work: matMulWork},
		"MatMulIntegerToFloat DynamicQuantizeMatMul": {rule: matMul, work: matMulWork},
		"MatMulNBits":                                {rule: matMulBits, work: matMulBitsWork},
		"Attention QAttention":                       {rule: attention, work: attentionWork},
		"MultiHeadAttention":                         {rule: multiHead, work: multiHeadWork},
		"EmbedLayerNormalization":                    {rule: embed, class: ClassNormalize},
		"SkipLayerNormalization SkipSimplifiedLayerNormalization SimplifiedLayerNormalization LayerNormalization": {rule: first, class: ClassNormalize},
		"Gelu BiasGelu":                     {rule: first, class: ClassErf},
		"FastGelu QuickGelu QLinearSigmoid": {rule: first, class: ClassFunction},
		"QLinearSoftmax":                    {rule: first, class: ClassSoftmax},
		"QLinearAveragePool":                {rule: pooling, class: ClassPool},
		"QLinearGlobalAveragePool":          {rule: globalPool, class: ClassPool},
		"QLinearConcat":                     {rule: quantizedConcat, class: ClassMove},
		"QLinearAdd QLinearMul":             {rule: quantizedPair},
		"RotaryEmbedding QLinearLeakyRelu":  {rule: first},
		"QuantizeLinear":                    {rule: quantize},
		"DequantizeLinear":                  {rule: dequantize},
	} {
		add(microsoftDomain+".", o, names)
	}
	for names, o := range map[string]operator{
		"Flatten Slice Crop Padding Reshape Interp": {rule: typeOnly, class: ClassMove},
		"ShuffleChannel Noop":                       {rule: first, class: ClassMove},
		"Permute":                                   {rule: permuted, class: ClassMove},
		"Reduction":                                 {rule: typeOnly, class: ClassNormalize},
		"PriorBox DetectionOutput YoloDetectionOutput Yolov3DetectionOutput": {rule: typeOnly},
	} {
		add(LayerDomain+".", o, names)
	}
	for t, names := range map[trait]string{
		quantizes: "QLinearConv QLinearMatMul ConvInteger MatMulInteger QuantizeLinear DequantizeLinear DynamicQuantizeLinear com.microsoft.QLinearConv com.microsoft.QGemm com.microsoft.QAttention com.microsoft.MatMulIntegerToFloat com.microsoft.DynamicQuantizeMatMul com.microsoft.QuantizeLinear com.microsoft.DequantizeLinear",
		passes:    "QuantizeLinear DequantizeLinear Identity Cast com.microsoft.QuantizeLinear com.microsoft.DequantizeLinear",
		activates: "Relu LeakyRelu Clip Sigmoid Tanh HardSwish HardSigmoid",
		hands:     "Cast Reshape Squeeze Unsqueeze Identity Flatten Transpose Slice Expand",
		random:    "RandomNormal RandomUniform RandomNormalLike RandomUniformLike Bernoulli Multinomial",
	} {
		for name := range strings.FieldsSeq(names) {
			o := all[name]
			o.traits |= t
			all[name] = o
		}
	}
	return all
}

// is says that the node's operator has a trait.
func (n *Node) is(t trait) bool { return operators[n.operator()].traits&t != 0 }

// inputs are those of a node; a shape that is not there is nil.
type inputs []Shaped

func (in inputs) shape(i int) []int64 {
	if i < len(in) {
		return in[i].Shape
	}
	return nil
}

// work classifies a node and counts its multiply-accumulates.
func work(n *Node, in inputs, out Shaped) (Class, int64) {
	o := operators[n.operator()]
	if o.work == nil {
		return cmp.Or(o.class, ClassOther), 0
	}
	class, sizes := o.work(n, in, out)
	macs, _ := product(sizes)
	if sizes == nil {
		macs = 0
	}
	return class, macs
}

func convolutionWork(n *Node, in inputs, out Shaped) (Class, []int64) {
	w, class := in.shape(filter(n.Op)), ClassConv
	if len(w) < 2 {
		return class, nil
	}
	if n.Int("group", 1) > 1 && w[1] == 1 {
		class = ClassDepthwise
	}
	return class, append(slices.Clone(w[1:]), out.Elements())
}

func deconvolutionWork(_ *Node, in inputs, _ Shaped) (Class, []int64) {
	w := in.shape(1)
	if len(w) < 2 {
		return ClassConv, nil
	}
	return ClassConv, append(slices.Clone(w[1:]), in[0].Elements())
}

// products tells a product of two matrices, summed over so many values, from one of
// a matrix and a vector.
func products(depth int64, out Shaped) (Class, []int64) {
	class := ClassDense
	if n := len(out.Shape); out.Known && n > 0 && out.Elements() == out.Shape[n-1] {
		class = ClassVector
	}
	return class, []int64{depth, out.Elements()}
}

func gemmWork(n *Node, in inputs, out Shaped) (Class, []int64) {
	a := in.shape(0)
	if len(a) != 2 {
		return products(-1, out)
	}
	if n.Int("transA", 0) != 0 {
		return products(a[0], out)
	}
	return products(a[1], out)
}

func matMulWork(n *Node, in inputs, out Shaped) (Class, []int64) {
	a := in.shape(0)
	switch {
	case len(a) == 0:
		return products(-1, out)
	case len(a) > 1 && n.Int("transA", 0) == 1:
		return products(a[len(a)-2], out)
	}
	return products(a[len(a)-1], out)
}

func matMulBitsWork(n *Node, _ inputs, out Shaped) (Class, []int64) {
	return products(n.Int("K", 0), out)
}

func recurrentWork(_ *Node, in inputs, _ Shaped) (Class, []int64) {
	if x := in.shape(0); len(x) == 3 && len(in) > 2 && in[1].Elements() >= 0 && in[2].Elements() >= 0 {
		return ClassRecurrent, []int64{x[0], x[1], in[1].Elements() + in[2].Elements()}
	}
	return ClassRecurrent, nil
}

func attentionWork(_ *Node, in inputs, _ Shaped) (Class, []int64) {
	x, w := in.shape(0), in.shape(1)
	if len(x) != 3 || len(w) != 2 {
		return ClassDense, nil
	}
	return ClassDense, []int64{x[0], x[1], x[2]*w[1] + 2*x[1]*w[1]/3}
}

func multiHeadWork(_ *Node, in inputs, _ Shaped) (Class, []int64) {
	q, k := in.shape(0), in.shape(1)
	if len(q) != 3 || len(k) != 3 {
		return ClassDense, nil
	}
	return ClassDense, []int64{2, q[0], q[1], k[1], q[2]}
}
