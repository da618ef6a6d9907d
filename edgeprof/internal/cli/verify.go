package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/foretime/foretime/edgeprof/internal/collection"
	"github.com/foretime/foretime/edgeprof/internal/onnx"
	"github.com/foretime/foretime/shared/cli"
)

// errShapes is returned where ONNX Runtime has other shapes than were worked out.
var errShapes = errors.New("other shapes in ONNX Runtime")

// verified runs a model once and compares the shapes of its nodes' outputs with
// those worked out; each difference is logged.
func verified(ctx context.Context, env *cli.Env, path string, with running, a *onnx.Analysis) error {
	session, err := with.start(ctx, path)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	defer session.Close()
	shapes, err := session.Shapes(ctx, collection.Inputs(session.Inputs()))
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
			if got := a.Tensors[n.Outputs[i]]; got.Known && slices.Equal(got.Shape, shape) {
				same++
			} else if differ++; got.Known {
				env.Log.Warnf("%s: %s %q: worked out %v, ONNX Runtime has %v", path, n.Op, n.Outputs[i], got.Shape, shape)
			} else {
				env.Log.Warnf("%s: %s %q: not worked out, ONNX Runtime has %v", path, n.Op, n.Outputs[i], shape)
			}
		}
	}
	if differ > 0 {
		return fmt.Errorf("%s: %w: %d of %d", path, errShapes, differ, same+differ)
	}
	env.Log.Infof("%s: the shapes of %d tensors are those of ONNX Runtime", path, same)
	return nil
}
