// Package split cuts a model into parts that run one after the other, each on
// the device that suits it.
//
// It cuts at bridges: tensors that alone carry everything computed so far, so
// that one tensor travels from part to part; where there are none far enough from
// each other, where the fewest tensors cross. It decides which of them to use by
// how many operators a part shall have at least, and gives every part the
// weights, constants and model inputs that it needs. The parts in sequence
// compute what the whole computes. It refuses a model with a value everywhere
// that cannot cross ([ErrNoBridge]), which it names, and whatever it could not carry over unchanged
// ([ErrUnsupported]): functions, sparse and external weights, text.
//
//	parts, err := split.Parts(analysis, split.Settings{MinDistance: 6})
//	if err != nil {
//		return err
//	}
//	for _, p := range parts {
//		err = p.Write(w, file)
//	}
package split
