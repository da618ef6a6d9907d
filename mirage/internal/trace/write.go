package trace

import (
	"bufio"
	"fmt"
	"io"
	"time"
)

// WriteMirage writes jobs in the published Mirage layout: a count line, a
// header, a rule, then tabs. Times are wall clock of the zone. Limits are
// rounded up to minutes; partition and dependencies are lost.
func WriteMirage(w io.Writer, jobs []Job, zone *time.Location) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "%d\n", len(jobs)+2)
	fmt.Fprintln(b, "       JobID    JobName    UID               Start              Submit                 End   Priority TimelimitR ExitCode   NNodes")
	fmt.Fprintln(b, "------------ ---------- ------ ------------------- ------------------- ------------------- ---------- ---------- -------- --------")
	at := func(unix int64) string { return time.Unix(unix, 0).In(zone).Format("2006-01-02T15:04:05") }
	for i := range jobs {
		j := &jobs[i]
		fmt.Fprintf(b, "%s\tjob\t%s\t%s\t%s\t%s\t%.0f\t%d\t0:0\t%d\n", j.ID, j.User, at(j.Start), at(j.Submit), at(j.End), j.Priority, (j.Limit+59)/60, j.Nodes)
	}
	return b.Flush()
}
