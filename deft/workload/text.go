package workload

import (
	"fmt"
	"io"
	"strings"
)

// WriteTo writes the profile as the workload program reads it: one line
// "COUNT NANOSECONDS" for each group of kernels, in launch order; # begins a
// comment.
func (p Profile) WriteTo(w io.Writer) (int64, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s: kernels, nanoseconds of each\n", strings.Join(strings.Fields(p.Model), " "))
	for _, g := range p.Groups {
		fmt.Fprintf(&b, "%d %d\n", g.Kernels, g.Each.Nanoseconds())
	}
	n, err := io.WriteString(w, b.String())
	return int64(n), err
}
