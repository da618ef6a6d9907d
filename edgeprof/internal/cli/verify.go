package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/foretime/foretime/edgeprof/internal/collection"
	"github.com/foretime/foretime/edgeprof/internal/onnx"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/plural"
)

// errShapes is returned if ONNX Runtime computes other shapes than were inferred.
var errShapes = errors.New("ONNX Runtime has different shapes")

// verifyShapes runs a model once and compares the shapes of its nodes' outputs with the
// inferred ones. It logs each difference.
func verifyShapes(ctx context.Context, env *cli.Env, path string, with running, a *onnx.Analysis) error {
	session, err := with.start(ctx, path)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	defer session.Close()
	shapes, err := session.Shapes(ctx, collection.RandomInputs(session.Inputs()))
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	same, differ := 0, 0
	for _, ran := range shapes {
		n := &a.Model.Graph.Nodes[ran.Node]
		for i, shape := range ran.Outputs {
			if i >= len(n.Outputs) || n.Outputs[i] == "" {
				continue
			}
			got := a.Tensors[n.Outputs[i]]
			if got.Known && slices.Equal(got.Shape, shape) {
				same++
				continue
			}
			differ++
			if got.Known {
				env.Log.Warnf("%s: %s %q: inferred %v, ONNX Runtime has %v", path, n.Op, n.Outputs[i], got.Shape, shape)
			} else {
				env.Log.Warnf("%s: %s %q: not inferred, ONNX Runtime has %v", path, n.Op, n.Outputs[i], shape)
			}
		}
	}
	if differ > 0 {
		return fmt.Errorf("%s: %w for %d of %s", path, errShapes, differ, plural.Count(same+differ, "tensor"))
	}
	env.Log.Infof("%s: the same shape in ONNX Runtime: %s", path, plural.Count(same, "tensor"))
	return nil
}
