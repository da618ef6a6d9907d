package trace

import "cmp"

// partitionLimit is the limit of a job that has that of its partition.
const partitionLimit = Unlimited + 1

// limitByPartition gives such jobs the longest limit that is known of their partition, which
// is no longer than its own.
func (p *parser) limitByPartition() {
	longest := map[string]int64{}
	lists := [][]Job{p.trace.Jobs, p.trace.Open}
	for _, jobs := range lists {
		for _, j := range jobs {
			if j.Limit < Unlimited {
				longest[j.Partition] = max(longest[j.Partition], j.Limit)
			}
		}
	}
	for _, jobs := range lists {
		for i := range jobs {
			if j := &jobs[i]; j.Limit == partitionLimit {
				j.Limit = cmp.Or(longest[j.Partition], Unlimited)
			}
		}
	}
}
