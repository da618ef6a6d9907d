package trace

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// State is the state of a job, in the long form that Slurm prints (squeue(1), JOB STATE CODES).
type State string

// pending and running are the states of jobs that are not over.
var (
	pending = []State{"PENDING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "SPECIAL_EXIT", "RESV_DEL_HOLD"}
	running = []State{"RUNNING", "CONFIGURING", "COMPLETING", "SUSPENDED", "STOPPED", "SIGNALING", "RESIZING", "STAGE_OUT"}
)

// short are the codes that squeue prints for states that are not over.
var short = map[string]State{
	"PD": "PENDING", "RQ": "REQUEUED", "RH": "REQUEUE_HOLD", "RF": "REQUEUE_FED", "SE": "SPECIAL_EXIT", "RD": "RESV_DEL_HOLD",
	"R": "RUNNING", "CF": "CONFIGURING", "CG": "COMPLETING", "S": "SUSPENDED", "ST": "STOPPED", "SI": "SIGNALING", "RS": "RESIZING", "SO": "STAGE_OUT",
}

// stateOf reads a state as sacct and squeue print it: "CANCELLED by 1000", "PD".
func stateOf(text string) State {
	word, _, _ := strings.Cut(text, " ")
	if long, ok := short[word]; ok {
		return long
	}
	return State(strings.TrimSuffix(word, "+")) // a column may be too narrow
}

// Pending says that the job waits in the queue.
func (s State) Pending() bool { return slices.Contains(pending, s) }

// Running says that the job holds nodes.
func (s State) Running() bool { return slices.Contains(running, s) }

// Over says that the job will not run any more.
func (s State) Over() bool { return !s.Pending() && !s.Running() }

// heldBack are the reasons, as Slurm prints them, for which a pending job would
// not start though there were room for it. "Reservation" is none of them: it is also
// that of jobs without one, which would reach into a reservation of others.
var heldBack = []string{
	"JobHeldUser", "JobHeldAdmin", "Dependency", "DependencyNeverSatisfied", "BeginTime",
	"PartitionDown", "PartitionInactive", "PartitionNodeLimit", "PartitionTimeLimit",
	"BadConstraints", "AccountNotAllowed", "InvalidAccount", "InvalidQOS", "ReservationDeleted",
	"JobArrayTaskLimit",
}

// limits lists the beginnings of the reasons for which a pending job waits until others of its
// quality of service or its association end.
var limits = []string{"QOS", "Assoc"}

// Held says that a job that pends for such a reason waits for something other than
// room.
func Held(reason string) bool {
	return slices.Contains(heldBack, reason) ||
		slices.ContainsFunc(limits, func(l string) bool { return strings.HasPrefix(reason, l) })
}

// Capped says that a job that pends for such a reason waits until others of its group
// end.
func Capped(reason string) bool {
	return reason == "JobArrayTaskLimit" || slices.ContainsFunc(limits, func(l string) bool { return strings.HasPrefix(reason, l) })
}

// ErrTasks is returned when a list of an array's tasks is none.
var ErrTasks = errors.New("not a list of array tasks")

// maxTasks is more tasks than an array may have (slurm.conf(5), MaxArraySize).
const maxTasks = 4_000_001

// HasTask reports whether a list of tasks contains one.
func HasTask(list, task string) bool {
	n, err := strconv.Atoi(task)
	if err != nil {
		return false
	}
	list, _, _ = strings.Cut(list, "%")
	for part := range strings.SplitSeq(list, ",") {
		span, by, _ := strings.Cut(part, ":")
		from, to, ranged := strings.Cut(span, "-")
		if !ranged {
			to = from
		}
		a, err1 := strconv.Atoi(from)
		b, err2 := strconv.Atoi(to)
		step, _ := strconv.Atoi(by)
		if err1 == nil && err2 == nil && a <= n && n <= b && (n-a)%max(step, 1) == 0 {
			return true
		}
	}
	return false
}

// Tasks counts the tasks that Slurm lists for an array, as in "0-9:3,15%4";
// 1 where there is no list. A list that Slurm has cut short, "1,3,...", counts
// as what can be seen of it. The error wraps ErrTasks.
func Tasks(list string) (int, error) {
	list, _, _ = strings.Cut(list, "%")
	tasks := 0
	for part := range strings.SplitSeq(list, ",") {
		if part == "" || part == "..." {
			continue
		}
		span, by, stepped := strings.Cut(part, ":")
		from, to, ranged := strings.Cut(span, "-")
		if !ranged {
			to = from
		}
		a, err1 := strconv.Atoi(from)
		b, err2 := strconv.Atoi(to)
		step := 1
		var err3 error
		if stepped {
			step, err3 = strconv.Atoi(by)
		}
		if err := errors.Join(err1, err2, err3); err != nil || a < 0 || b < a || b > maxTasks || step < 1 {
			return 0, fmt.Errorf("%w: %q", ErrTasks, list)
		}
		if tasks += (b-a)/step + 1; tasks > maxTasks {
			return 0, fmt.Errorf("%w: %q", ErrTasks, list)
		}
	}
	return max(tasks, 1), nil
}
