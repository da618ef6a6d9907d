package forecast

import (
	"fmt"
	"strings"

	"github.com/foretime/foretime/mirage/internal/slurmview"
	"github.com/foretime/foretime/mirage/internal/trace"
	"github.com/foretime/foretime/shared/plural"
)

// describeJob returns a job in words, as the first line of an answer repeats it.
func describeJob(unit trace.Unit, a slurmview.Ask) string {
	words := []string{plural.Count(a.Nodes, "node")}
	if unit != "" && unit != trace.Nodes {
		words[0] = plural.Count(a.Nodes, strings.TrimSuffix(string(unit), "s"))
	}
	add := func(format string, given bool, args ...any) {
		if given {
			words = append(words, fmt.Sprintf(format, args...))
		}
	}
	if n := a.Need; n != nil {
		add("%s", n.CPUs > 0, plural.Count(n.CPUs, "CPU"))
		add("%s", n.GPUs > 0, plural.Count(n.GPUs, strings.TrimSpace(a.GPUType+" GPU")))
		add("%d MB", n.MemoryMB > 0, n.MemoryMB)
		add("exclusive", n.Exclusive)
	}
	if a.Limit == trace.Unlimited {
		words = append(words, "no limit")
	} else {
		words = append(words, "limit "+trace.Span(a.Limit))
	}
	add("partition %s", a.Partition != "", a.Partition)
	add("account %s", len(a.Accounts) > 0, strings.Join(a.Accounts, ", "))
	add("QOS %s", a.QOS != "", a.QOS)
	add("constraint %s", a.Features != "" && a.Features != "(null)", a.Features)
	add("reservation %s", a.Reservation != "", a.Reservation)
	add("nodes %s", a.Required != "", a.Required)
	add("without %s", a.Excluded != "", a.Excluded)
	add("not before %s", a.Eligible > 0, Local(a.Eligible))
	for item := range strings.SplitSeq(a.After, ",") {
		id, seconds, begins := strings.Cut(item, "+")
		add("after job %s", id != "" && !begins, id)
		add("%s s after job %s begins", begins, seconds, id)
	}
	add("%d array tasks", a.Tasks > 1, a.Tasks)
	return strings.Join(words, ", ")
}
