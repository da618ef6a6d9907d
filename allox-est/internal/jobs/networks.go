package jobs

import (
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/layers"
	"github.com/gomlx/gomlx/ml/layers/activation"
	"github.com/gomlx/gomlx/ml/model"
)

// lenet builds LeNet-5 (LeCun, Bottou, Bengio, Haffner, "Gradient-Based Learning
// Applied to Document Recognition", Proc. IEEE 86, 1998) with rectified units
// and maximum pooling.
func lenet(scope *model.Scope, x *graph.Node) *graph.Node {
	x = pool(convolve(scope.In("c1"), x, 6, 5, 1))
	x = pool(convolve(scope.In("c3"), x, 16, 5, 1))
	x = dense(scope.In("c5"), flat(x), 120)
	x = dense(scope.In("f6"), x, 84)
	return layers.DenseWithBias(scope.In("logits"), x, classes)
}

// googlenet has the parts of GoogLeNet (Szegedy et al., "Going Deeper with
// Convolutions", CVPR 2015): a stem, inception modules, mean pooling at the end,
// here over each quarter of the image, and one dense layer; two modules of the
// nine, and no auxiliary outputs.
func googlenet(scope *model.Scope, x *graph.Node) *graph.Node {
	x = convolve(scope.In("stem"), x, 16, 3, 2)
	x = inception(scope.In("inception1"), x, branches{one: 8, reduce3: 6, three: 12, reduce5: 2, five: 4, pooled: 4})
	x = pool(x)
	x = inception(scope.In("inception2"), x, branches{one: 12, reduce3: 8, three: 16, reduce5: 4, five: 8, pooled: 8})
	x = flat(graph.MeanPool(x).Window(4).Strides(4).Done())
	return layers.DenseWithBias(scope.In("logits"), x, classes)
}

// branches are the channels of an inception module.
type branches struct {
	one, reduce3, three, reduce5, five, pooled int
}

// inception sees the image at three scales, and pooled, and joins the channels.
func inception(scope *model.Scope, x *graph.Node, b branches) *graph.Node {
	one := convolve(scope.In("one"), x, b.one, 1, 1)
	three := convolve(scope.In("three"), convolve(scope.In("reduce3"), x, b.reduce3, 1, 1), b.three, 3, 1)
	five := convolve(scope.In("five"), convolve(scope.In("reduce5"), x, b.reduce5, 1, 1), b.five, 5, 1)
	pooled := convolve(scope.In("pooled"), graph.MaxPool(x).Window(3).Strides(1).PadSame().Done(), b.pooled, 1, 1)
	return graph.Concatenate([]*graph.Node{one, three, five, pooled}, -1)
}

func convolve(scope *model.Scope, x *graph.Node, channels, kernel, stride int) *graph.Node {
	return activation.Relu(layers.Convolution(scope, x).Channels(channels).KernelSize(kernel).Strides(stride).PadSame().Done())
}

func pool(x *graph.Node) *graph.Node { return graph.MaxPool(x).Window(2).Strides(2).Done() }

func dense(scope *model.Scope, x *graph.Node, units int) *graph.Node {
	return activation.Relu(layers.DenseWithBias(scope, x, units))
}

func flat(x *graph.Node) *graph.Node { return graph.Reshape(x, x.Shape().Dimensions[0], -1) }
