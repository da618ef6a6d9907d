package trace

import (
	"bufio"
	"fmt"
	"io"
)

// writeSWF writes jobs in the Standard Workload Format, version 2.2, one
// processor a node, of a machine of at least so many. Users become numbers in the order of
// their first job; names, dependencies and logged priorities are lost.
func writeSWF(w io.Writer, jobs []Job, size int) error {
	b := bufio.NewWriter(w)
	var origin int64
	nodes := size
	if len(jobs) > 0 {
		origin = jobs[0].Submit
	}
	for i := range jobs {
		origin, nodes = min(origin, jobs[i].Submit), max(nodes, jobs[i].Nodes)
	}
	fmt.Fprintf(b, "; Version: 2.2\n; MaxJobs: %d\n; UnixStartTime: %d\n; MaxNodes: %d\n; MaxProcs: %d\n", len(jobs), origin, nodes, nodes)
	users := numbering{}
	partitions := numbering{}
	for i := range jobs {
		j := &jobs[i]
		partition := -1
		if j.Partition != "" {
			partition = partitions.number(j.Partition)
		}
		wait, limit := j.Wait(), j.Limit
		if j.NoStart {
			wait = -1
		}
		if limit == Unlimited {
			limit = -1
		}
		fmt.Fprintf(b, "%d %d %d %d %d -1 -1 %d %d -1 1 %d -1 -1 -1 %d -1 -1\n", i+1, j.Submit-origin, wait, j.Duration(), j.Nodes, j.Nodes, limit, users.number(j.User), partition)
	}
	return b.Flush()
}

// numbering gives names the numbers 1, 2, ... in order of appearance.
type numbering map[string]int

func (n numbering) number(name string) int {
	if _, ok := n[name]; !ok {
		n[name] = len(n) + 1
	}
	return n[name]
}
