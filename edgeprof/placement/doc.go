// Package placement ranks devices for a model.
//
// It decides by the predicted time on each device as it is loaded now, the
// shortest first, ties by name. Where the times come from is an [Estimator]:
// [Graph] is that of a model whose graph is known. A device that cannot be
// estimated, or cannot hold the model in memory, is left out with its reason.
package placement
