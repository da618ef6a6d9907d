package onnx

// IndexBound returns the number of integers, from 0 on, that an input may contain: the rows of the
// smallest table that it picks from, or 2 if it picks from none, as masks do.
func (a *Analysis) IndexBound(input string) int64 {
	least, found := int64(2), false
	passed := map[string]bool{input: true}
	a.costs(func(c *Cost, _ int64) {
		n := c.node
		if len(n.Inputs) == 0 || len(n.Outputs) == 0 {
			return
		}
		if n.is(hands) && passed[n.Inputs[0]] {
			passed[n.Outputs[0]] = true
		}
		if (n.Op != "Gather" && n.Op != "GatherElements") || len(n.Inputs) < 2 || !passed[n.Inputs[1]] || !c.Inputs[0].Known {
			return
		}
		if at, ok := axis(n.Int("axis", 0), len(c.Inputs[0].Shape)); ok {
			if rows := c.Inputs[0].Shape[at]; !found || rows < least {
				least, found = max(1, rows), true
			}
		}
	})
	return least
}
