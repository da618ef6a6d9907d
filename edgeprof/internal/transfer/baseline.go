package transfer

import "math"

// nearestRun takes the latency of the configuration whose anchors differ from
// these by the same factor, scaled by that factor; NaN where none has the model.
func nearestRun(t *Table, c *Config, anchors []int, model int) float64 {
	best, answer := math.Inf(1), math.NaN()
	for i := range t.Configs {
		o := &t.Configs[i]
		if math.IsNaN(o.Log[model]) {
			continue
		}
		sum, squares, n := 0.0, 0.0, 0.0
		for _, k := range anchors {
			if d := c.Log[k] - o.Log[k]; !math.IsNaN(d) {
				sum, squares, n = sum+d, squares+d*d, n+1
			}
		}
		if n < float64(len(anchors)) {
			continue
		}
		if off := squares/n - sum/n*sum/n; off < best {
			best, answer = off, o.Log[model]+sum/n
		}
	}
	return answer
}
