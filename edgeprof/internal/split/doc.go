// Package split cuts a model into parts that run in sequence, each on the device that
// suits it. Together the parts compute the same as the whole model.
//
// It cuts at bridges: single tensors that carry everything computed so far. If no bridges
// are far enough from each other, it cuts where the fewest tensors cross. Each part has at
// least [Settings.MinDistance] operators and the weights, constants and model inputs that
// it needs. [ErrNoBridge] is returned if every possible cut has a tensor that cannot be
// passed on, and names it; [ErrUnsupported] for a model with functions, sparse or external
// weights, or text.
//
//	parts, err := split.Parts(analysis, split.Settings{MinDistance: 6})
//	if err != nil {
//		return err
//	}
//	for _, p := range parts {
//		err = p.Write(w, file)
//	}
package split
