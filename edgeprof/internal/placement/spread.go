package placement

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/foretime/foretime/edgeprof/internal/device"
)

// SpreadModels places several models at once, each by its own ranking: list scheduling on unrelated
// machines, the model whose fastest device takes longest first. A node's models take turns:
// each adds its time to the wait of the next one there, and takes its memory from what is free.
// The rankings are reordered, each with its model's node first. The error matches
// [ErrNoDevice].
func SpreadModels(rankings []*Ranking) error {
	byLength := slices.Clone(rankings)
	slices.SortStableFunc(byLength, func(x, y *Ranking) int {
		return cmp.Compare(y.Candidates[0].Seconds.Value, x.Candidates[0].Seconds.Value)
	})
	taken := map[string]*room{}
	for _, r := range byLength {
		if err := r.after(taken); err != nil {
			return err
		}
		first := &r.Candidates[0]
		at := taken[first.Node]
		if at == nil {
			at = &room{}
			taken[first.Node] = at
		}
		at.models++
		at.seconds += first.Seconds.Value
		at.bytes += first.need
	}
	return nil
}

// room holds the resources of a node that the models placed on it use.
type room struct {
	models  int
	seconds float64
	bytes   int64
}

// after orders a ranking by what others have left of the nodes.
func (r *Ranking) after(taken map[string]*room) error {
	left := r.Candidates[:0]
	for _, c := range r.Candidates {
		at := taken[c.Node]
		switch {
		case at == nil:
		case c.free > 0 && at.bytes+c.need > c.free:
			r.Excluded = append(r.Excluded, device.Exclusion{Node: c.Node, Reason: fmt.Sprintf("the model needs %d bytes of memory; %d are free, of which other models take %d", c.need, c.free, at.bytes)})
			continue
		default:
			c.Wait = at.seconds
			c.Reasons = append(slices.Clip(c.Reasons), fmt.Sprintf("models placed on this device before it: %d", at.models))
		}
		left = append(left, c)
	}
	r.Candidates = left
	if len(left) == 0 {
		return none(r.Excluded)
	}
	slices.SortFunc(r.Candidates, order)
	return nil
}
