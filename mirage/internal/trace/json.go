package trace

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Number is an integer as Slurm's JSON has it: plain, null, or, in newer
// versions, an object that says whether it is set.
type Number int64

// UnmarshalJSON implements json.Unmarshaler.
func (n *Number) UnmarshalJSON(b []byte) error {
	if bytes.HasPrefix(b, []byte("{")) {
		var o struct {
			Set, Infinite bool
			Number        float64
		}
		if err := json.Unmarshal(b, &o); err != nil {
			return err
		}
		if o.Set && !o.Infinite {
			*n = Number(o.Number)
		}
		return nil
	}
	var f *float64
	if err := json.Unmarshal(b, &f); err != nil || f == nil {
		return err
	}
	*n = Number(*f)
	return nil
}

// Words is a word of Slurm's JSON, or, in newer versions, a list of words.
type Words []string

// UnmarshalJSON implements json.Unmarshaler.
func (w *Words) UnmarshalJSON(b []byte) error {
	if bytes.HasPrefix(b, []byte("[")) {
		return json.Unmarshal(b, (*[]string)(w))
	}
	var one string
	err := json.Unmarshal(b, &one)
	*w = Words{one}
	return err
}

// accounted is a job as sacct --json prints it, in the forms of data_parser v0.0.37 and
// later.
type accounted struct {
	ID        Number `json:"job_id"`
	User      string `json:"user"`
	Cluster   string `json:"cluster"`
	Partition string `json:"partition"`
	Nodes     Number `json:"allocation_nodes"`
	Priority  Number `json:"priority"`
	Line      string `json:"submit_line"`
	State     struct {
		Current Words  `json:"current"`
		Reason  string `json:"reason"`
	} `json:"state"`
	Array struct {
		ID     Number          `json:"job_id"`
		Task   json.RawMessage `json:"task_id"`
		Listed string          `json:"task"`
	} `json:"array"`
	Time struct {
		Submission Number `json:"submission"`
		Eligible   Number `json:"eligible"`
		Start      Number `json:"start"`
		End        Number `json:"end"`
		Limit      Number `json:"limit"` // minutes
	} `json:"time"`
	Queued json.RawMessage `json:"submit_time"` // of squeue --json
	TRES   struct {
		Allocated []resource `json:"allocated"`
		Requested []resource `json:"requested"`
	} `json:"tres"`
}

// resource is a trackable resource.
type resource struct {
	Type  string `json:"type"`
	Name  string `json:"name"`
	Count Number `json:"count"`
}

// jsonHeader names the columns that a job of sacct --json is turned into.
const jsonHeader = "JobID|User|Partition|Submit|Eligible|Start|End|Priority|Timelimit|State|Reason|NNodes|AllocTRES|ReqTRES|SubmitLine|Cluster"

func isJSON(line string) bool { return strings.HasPrefix(line, "{") }

// json reads what sacct --json prints. Times are Unix seconds.
func (p *parser) json(r *bufio.Reader) error {
	d := json.NewDecoder(r)
	jobs, err := jobsIn(d)
	if err != nil || !jobs {
		return fmt.Errorf("%w: JSON without a list of jobs, as sacct --json prints it: %w", ErrLayout, err)
	}
	if p.o.countsResources() {
		p.trace.Unit = p.o.Unit
	}
	t := newTable(jsonHeader)
	for p.line = 1; d.More(); p.line++ {
		var j accounted
		if err := d.Decode(&j); err != nil {
			if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
				p.bad("job %d of the list: %v", p.line, err)
				continue
			}
			return fmt.Errorf("job %d of the list: %w", p.line, err)
		}
		if j.Queued != nil && j.Time.Submission == 0 {
			return fmt.Errorf("%w: it is the output of squeue --json, which has no finished jobs: want that of sacct", ErrLayout)
		}
		t.cells = t.cells[:0]
		for _, cell := range j.cells() {
			t.cells = append(t.cells, []byte(cell))
		}
		p.row(t)
	}
	return nil
}

// jobsIn reads up to the first job of the list, and reports whether there is a list.
func jobsIn(d *json.Decoder) (bool, error) {
	if _, err := d.Token(); err != nil {
		return false, err
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return false, err
		}
		if key == "jobs" {
			list, err := d.Token()
			return list == json.Delim('['), err
		}
		var other json.RawMessage
		if err := d.Decode(&other); err != nil {
			return false, err
		}
	}
	return false, io.ErrUnexpectedEOF
}

func (j *accounted) cells() []string {
	at := func(n Number) string {
		if n <= 0 {
			return ""
		}
		return strconv.FormatInt(int64(n), 10)
	}
	limit := "UNLIMITED"
	if j.Time.Limit > 0 {
		limit = at(j.Time.Limit)
	}
	state := ""
	if len(j.State.Current) > 0 {
		state = j.State.Current[0]
	}
	id := at(j.ID)
	var task Number
	if json.Unmarshal(j.Array.Task, &task) == nil && j.Array.ID > 0 && j.Array.ID != j.ID {
		id = fmt.Sprintf("%d_%d", j.Array.ID, task)
	} else if j.Array.Listed != "" {
		id = fmt.Sprintf("%s_[%s]", id, j.Array.Listed)
	}
	nodes := at(j.Nodes)
	for _, r := range j.TRES.Requested {
		if r.Type == "node" && nodes == "" { // it waits
			nodes = at(r.Count)
		}
	}
	return []string{
		id, j.User, j.Partition, at(j.Time.Submission), at(j.Time.Eligible), at(j.Time.Start), at(j.Time.End),
		at(j.Priority), limit, state, j.State.Reason, nodes, tres(j.TRES.Allocated), tres(j.TRES.Requested), j.Line, j.Cluster,
	}
}

// tres writes resources as sacct does elsewhere.
func tres(resources []resource) string {
	parts := make([]string, len(resources))
	for i, r := range resources {
		name, unit := r.Type, ""
		if r.Name != "" {
			name += "/" + r.Name
		}
		if r.Type == "mem" {
			unit = "M"
		}
		parts[i] = fmt.Sprintf("%s=%d%s", name, r.Count, unit)
	}
	return strings.Join(parts, ",")
}
