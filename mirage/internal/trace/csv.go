package trace

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/foretime/foretime/shared/dataset"
)

// row is a job as this project's CSV spells it.
type row struct {
	Job
	CPUs      *int   `dataset:"cpus"` // these four: see Need
	GPUs      *int   `dataset:"gpus"`
	MemoryMB  *int64 `dataset:"memory_mb"`
	Exclusive *bool  `dataset:"exclusive"`
}

// need is nil where the row says nothing of it.
func (r *row) need() *Need {
	if r.CPUs == nil && r.GPUs == nil && r.MemoryMB == nil && r.Exclusive == nil {
		return nil
	}
	n := &Need{}
	set(&n.CPUs, r.CPUs)
	set(&n.GPUs, r.GPUs)
	set(&n.MemoryMB, r.MemoryMB)
	set(&n.Exclusive, r.Exclusive)
	return n
}

func set[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}

func isCSV(line string) bool { return strings.HasPrefix(line, "id,") }

func (p *parser) csv(r *bufio.Reader) error {
	rows, err := dataset.NewReader[row](r, p.file, dataset.CSV, dataset.Options{})
	if err != nil {
		return err
	}
	for rows.Scan() {
		v := rows.Row()
		p.line = rows.Line()
		v.User, v.Need = p.intern([]byte(v.User)), v.need()
		p.add(v.Job)
	}
	for _, bad := range rows.Diagnostics() {
		p.drop("", bad)
	}
	if more := rows.Counts().Dropped - len(rows.Diagnostics()); more > 0 {
		p.dropped += more
		p.warn("%s: %d more bad rows are not listed", p.file, more)
	}
	return rows.Err()
}

// WriteCSV writes jobs in this project's own layout: Unix seconds, one column
// for each field of a job.
func WriteCSV(w io.Writer, jobs []Job) error {
	out, err := dataset.NewWriter[row](w, dataset.CSV, dataset.Options{})
	if err != nil {
		return err
	}
	for i := range jobs {
		r := row{Job: jobs[i]}
		if n := r.Need; n != nil {
			r.CPUs, r.GPUs, r.MemoryMB, r.Exclusive = &n.CPUs, &n.GPUs, &n.MemoryMB, &n.Exclusive
		}
		if err := out.Write(r); err != nil {
			return err
		}
	}
	return out.Close()
}

// WriteMirage writes jobs in the published Mirage layout: a count line, a
// header, a rule, then tabs. Times are wall clock of the zone. Limits are
// rounded up to minutes; partition, QOS and dependencies are lost.
func WriteMirage(w io.Writer, jobs []Job, zone *time.Location) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "%d\n", len(jobs)+2)
	fmt.Fprintln(b, "       JobID    JobName    UID               Start              Submit                 End   Priority TimelimitR ExitCode   NNodes")
	fmt.Fprintln(b, "------------ ---------- ------ ------------------- ------------------- ------------------- ---------- ---------- -------- --------")
	at := func(unix int64) string { return time.Unix(unix, 0).In(zone).Format("2006-01-02T15:04:05") }
	for i := range jobs {
		j := &jobs[i]
		name, exit := j.Name, j.ExitCode
		if name == "" {
			name = "job"
		}
		if exit == "" {
			exit = "0:0"
		}
		fmt.Fprintf(b, "%s\t%s\t%s\t%s\t%s\t%s\t%.0f\t%d\t%s\t%d\n", j.ID, name, j.User, at(j.Start), at(j.Submit), at(j.End), j.Priority, (j.Limit+59)/60, exit, j.Nodes)
	}
	return b.Flush()
}

// WriteSWF writes jobs in the Standard Workload Format, version 2.2, one
// processor a node, of a machine of at least so many. Users and dependencies become numbers in the order of
// their first job; names and logged priorities are lost.
func WriteSWF(w io.Writer, jobs []Job, size int) error {
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
	users, partitions, numbers := numbering{}, numbering{}, map[string]int{}
	for i := range jobs {
		j := &jobs[i]
		numbers[j.ID] = i + 1
		partition, after := -1, -1
		if j.Partition != "" {
			partition = partitions.number(j.Partition)
		}
		think := int64(-1)
		if n, ok := numbers[j.After]; ok && j.After != "" {
			after, think = n, j.Think
		}
		wait, limit := j.Wait(), j.Limit
		if j.NoStart {
			wait = -1
		}
		if limit == Unlimited {
			limit = -1
		}
		status := 1
		if j.ExitCode != "" && j.ExitCode != "0:0" {
			status = 0
		}
		fmt.Fprintf(b, "%d %d %d %d %d -1 -1 %d %d -1 %d %d -1 -1 -1 %d %d %d\n", i+1, j.Submit-origin, wait, j.Duration(), j.Nodes, j.Nodes, limit, status, users.number(j.User), partition, after, think)
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
