package slurmview

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/foretime/foretime/mirage/internal/trace"
)

// ErrAnswer is returned when a Slurm command's answer cannot be understood.
var ErrAnswer = errors.New("answer not understood")

// Job is a job as Slurm describes it.
type Job struct {
	ID      int64
	Name    string
	User    string
	Comment string
	// Partition may be a list, with commas, while the job is pending.
	Partition string
	State     trace.State
	Nodes     int
	TRES      string        // trackable resources: allocated, or else asked for
	On        string        // list of the nodes it holds
	Exclusive bool          // has its nodes alone
	Limit     time.Duration // 0 where there is none
	Submit    int64         // Unix seconds
	Start     int64         // 0 if it has not started; expected while pending
	End       int64         // by the limit, while it runs; 0 if it never ran
	Priority  float64       // Slurm's own, now
	Reason    string        // why it is pending
	Tasks     int           // of an array that is still pending as one; else 1
	Licenses  string        // as sbatch's option names them
	Account   string
	QOS       string
	Eligible  int64    // Unix seconds from which it may start; 0 if unknown
	After     []string // what it waits for, see dependencies
	Singleton bool     // it also waits for earlier jobs of its name and user
	Either    bool     // the end of one of them is enough
	Outcomes  []string // of After, those whose exit status matters, such as "afterok:12"
	OnHold    bool     // until somebody releases it, whatever its reason
	Unread    []string // what it asks for that is not read and may delay it
	Array     int64    // id of its array; 0 is none
	Task      string   // its number in the array
	List      string   // tasks of the array that are pending as one
	Together  int      // tasks of the array that may run at once; 0 is any
	Place
}

// HasStarted reports whether the job holds or held nodes.
func (j *Job) HasStarted() bool {
	return j.State.Running() || j.State.Over() && j.Start > 0 && j.End > 0 && !(j.State == "CANCELLED" && j.End == j.Start)
}

// In says that the job is in a partition, or waits for it; every job is in "".
func (j *Job) In(partition string) bool {
	return partition == "" || slices.Contains(strings.Split(j.Partition, ","), partition)
}

// number is an integer of Slurm's JSON.
type number = trace.Number

// holdStates are the flags of a pending job that somebody has to release.
var holdStates = []string{"REQUEUE_HOLD", "SPECIAL_EXIT", "RESV_DEL_HOLD"}

// stateIn returns the state of some words, which may be joined by +: the first, or the one
// that says that the job is held.
func stateIn(words []string) trace.State {
	words = strings.Split(strings.Join(words, "+"), "+")
	if i := slices.IndexFunc(words, func(w string) bool { return slices.Contains(holdStates, w) }); i >= 0 {
		return trace.State(words[i])
	}
	return trace.State(words[0])
}

// priority is a job's priority, which is 0 if the job is held.
type priority struct {
	number
	isZero bool
}

func (p *priority) UnmarshalJSON(b []byte) error {
	p.isZero = string(b) == "0" || bytes.Contains(b, []byte("true")) // a number that is set
	err := json.Unmarshal(b, &p.number)
	p.isZero = p.isZero && p.number == 0
	return err
}

// gpuTypes counts the GPUs of each type in a list of generic resources, such as
// "gpu:a100:4(S:0-1),shard:8", "gres:gpu:2" or "gres/gpu"; "" is no type, and one without
// a number is one.
func gpuTypes(gres string) map[string]int {
	types := map[string]int{}
	for part := range strings.SplitSeq(gres, ",") {
		part, _, _ = strings.Cut(part, "(")
		part = strings.TrimPrefix(strings.TrimPrefix(part, "gres:"), "gres/")
		words := strings.FieldsFunc(part, func(r rune) bool { return r == ':' || r == '=' })
		if len(words) == 0 || words[0] != "gpu" {
			continue
		}
		last := len(words) - 1
		n, err := strconv.Atoi(words[last])
		if err != nil {
			n, last = 1, len(words)
		}
		types[strings.Join(words[1:max(last, 1)], ":")] += max(n, 0)
	}
	return types
}

// gpusOf counts the GPUs of a list of generic resources.
func gpusOf(gres string) (sum int) {
	for _, n := range gpuTypes(gres) {
		sum += n
	}
	return sum
}

// shared says that a job has its nodes alone; Slurm's JSON has a word of
// it, or a list of words.
type shared bool

func (s *shared) UnmarshalJSON(b []byte) error {
	*s = shared(bytes.Contains(b, []byte(`"none"`)) || bytes.Contains(b, []byte("exclusive")))
	return nil
}

// dependencies returns the ids of the jobs in a dependency such as
// "afterany:12_*(unfulfilled),afterok:13" that are not fulfilled; "12+60" is 60 s after the
// begin of job 12. outcomes are those whose exit status matters, such as "afterok:13", or
// "afterok:13(failed)".
func dependencies(text string) (ids, outcomes []string) {
	for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ',' || r == '?' }) {
		kind, rest, _ := strings.Cut(part, ":")
		if !strings.HasPrefix(kind, "after") {
			continue
		}
		for id := range strings.SplitSeq(rest, ":") {
			id, minutes := leadingDigits(strings.TrimSpace(id))
			failed := strings.Contains(minutes, "(failed)")
			if failed || kind != "after" && kind != "afterany" {
				outcomes = append(outcomes, kind+":"+id+map[bool]string{true: "(failed)"}[failed])
			}
			switch {
			case id == "":
			case kind == "after": // it begins
				n, _ := leadingDigits(strings.TrimPrefix(minutes, "+"))
				delay, _ := strconv.Atoi(n)
				ids = append(ids, fmt.Sprintf("%s+%d", id, 60*delay))
			default:
				ids = append(ids, id)
			}
		}
	}
	return ids, outcomes
}

// otherResources returns the generic resources of a list that are not GPUs.
func otherResources(list string) (others []string) {
	for part := range strings.SplitSeq(list, ",") {
		part = strings.TrimPrefix(strings.TrimPrefix(part, "gres:"), "gres/")
		name, _, _ := strings.Cut(strings.Replace(part, "=", ":", 1), ":")
		if !slices.Contains([]string{"", "gpu", "none", "cpu", "mem", "node", "billing", "license"}, name) {
			others = append(others, part)
		}
	}
	return others
}

// leadingDigits splits a text behind its leading digits.
func leadingDigits(text string) (digits, rest string) {
	rest = strings.TrimLeft(text, "0123456789")
	return text[:len(text)-len(rest)], rest
}

// eitherOf reports whether one of several dependencies is enough (sbatch(1), the separator
// of --dependency).
func eitherOf(text string) bool { return strings.Contains(text, "?") }

// gpuType returns a type that a list of generic resources names, "" for none, and the
// number of its GPUs.
func gpuType(gres string) (name string, count int) {
	for kind, n := range gpuTypes(gres) {
		if kind != "" {
			name, count = kind, n
		}
	}
	return name, count
}

// ParseQueue reads what squeue --json prints. The error wraps ErrAnswer.
func ParseQueue(b []byte) ([]Job, error) {
	var answer struct {
		Jobs *[]struct {
			ID        *number     `json:"job_id"`
			Name      string      `json:"name"`
			User      string      `json:"user_name"`
			Comment   string      `json:"comment"`
			Partition string      `json:"partition"`
			State     trace.Words `json:"job_state"`
			Nodes     number      `json:"node_count"`
			Limit     number      `json:"time_limit"`
			Submit    number      `json:"submit_time"`
			Start     number      `json:"start_time"`
			End       number      `json:"end_time"`
			Hold      bool        `json:"hold"`
			HetJob    number      `json:"het_job_id"`
			Reason    string      `json:"state_reason"`
			Array     string      `json:"array_task_string"`
			Allocated string      `json:"tres_alloc_str"`
			Asked     string      `json:"tres_req_str"`
			PerJob    string      `json:"tres_per_job"`
			PerNode   string      `json:"tres_per_node"`
			PerTask   string      `json:"tres_per_task"`
			Tasks     number      `json:"tasks"`
			On        string      `json:"nodes"`
			Shared    shared      `json:"shared"`

			Priority    priority `json:"priority"`
			Licenses    string   `json:"licenses"`
			Account     string   `json:"account"`
			QOS         string   `json:"qos"`
			Eligible    number   `json:"eligible_time"`
			Dependency  string   `json:"dependency"`
			ArrayJob    number   `json:"array_job_id"`
			ArrayTask   number   `json:"array_task_id"`
			Together    number   `json:"array_max_tasks"`
			Features    string   `json:"features"`
			Required    string   `json:"required_nodes"`
			Excluded    string   `json:"excluded_nodes"`
			Reservation string   `json:"resv_name"`
		}
		Errors []json.RawMessage
	}
	if err := json.Unmarshal(b, &answer); err != nil {
		return nil, fmt.Errorf("squeue: %w: %w", ErrAnswer, err)
	}
	if len(answer.Errors) > 0 {
		return nil, fmt.Errorf("squeue: %w: it reports %s", ErrAnswer, bytes.Join([][]byte{answer.Errors[0]}, nil))
	}
	if answer.Jobs == nil {
		return nil, fmt.Errorf("squeue: %w: no list of jobs", ErrAnswer)
	}
	jobs := make([]Job, 0, len(*answer.Jobs))
	for i, j := range *answer.Jobs {
		state := stateIn(j.State)
		if j.ID == nil || *j.ID <= 0 || state == "" {
			return nil, fmt.Errorf("squeue: %w: job %d has no id or no state", ErrAnswer, i)
		}
		tasks, err := trace.Tasks(j.Array)
		if err != nil {
			return nil, fmt.Errorf("squeue: job %d: %w: %w", *j.ID, ErrAnswer, err)
		}
		task := ""
		if j.ArrayJob != 0 {
			task = strconv.FormatInt(int64(j.ArrayTask), 10)
		}
		tres := cmp.Or(j.Allocated, j.Asked)
		gpus := gpusOf(j.PerJob) + int(max(j.Nodes, 1))*gpusOf(j.PerNode) + int(max(j.Tasks, 1))*gpusOf(j.PerTask)
		if gpus > 0 && trace.GPUs.In(tres) == 0 { // AccountingStorageTRES of slurm.conf does not name them
			tres = fmt.Sprintf("%s,gres/gpu=%d", tres, gpus)
		}
		place := Place{Features: j.Features, Required: j.Required, Excluded: j.Excluded, Reservation: j.Reservation}
		place.GPUType, place.TypedGPUs = gpuType(j.PerNode)
		after, outcomes := dependencies(j.Dependency)
		unread := otherResources(strings.Join([]string{j.PerJob, j.PerNode, j.PerTask}, ","))
		if j.HetJob != 0 {
			unread = append(unread, fmt.Sprintf("the other parts of the heterogeneous job %d", j.HetJob))
		}
		jobs = append(jobs, Job{
			ID: int64(*j.ID), Name: j.Name, User: j.User, Comment: j.Comment, Partition: j.Partition, State: state,
			Nodes: int(j.Nodes), Limit: time.Duration(j.Limit) * time.Minute,
			Submit: int64(j.Submit), Start: int64(j.Start), End: int64(j.End),
			Priority: float64(j.Priority.number), Reason: j.Reason, Tasks: tasks,
			TRES: tres, On: j.On, Exclusive: bool(j.Shared),
			Licenses: j.Licenses, Account: j.Account, QOS: j.QOS, Eligible: int64(j.Eligible), After: after, Outcomes: outcomes, Unread: unread, Either: eitherOf(j.Dependency), Singleton: strings.Contains(j.Dependency, "singleton"),
			OnHold: j.Hold || j.Priority.isZero || slices.Contains(holdStates, string(state)),
			Array:  int64(j.ArrayJob), List: j.Array, Task: task, Together: int(j.Together),
			Place: place,
		})
	}
	return jobs, nil
}
