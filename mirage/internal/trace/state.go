package trace

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
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

// stateOf reads a state as sacct prints it, such as "CANCELLED by 1000".
func stateOf(text string) State {
	word, _, _ := strings.Cut(text, " ")
	return State(strings.TrimSuffix(word, "+")) // a column may be too narrow
}

// Pending says that the job waits in the queue.
func (s State) Pending() bool { return slices.Contains(pending, s) }

// Running says that the job holds nodes.
func (s State) Running() bool { return slices.Contains(running, s) }

// Over says that the job will not run any more.
func (s State) Over() bool { return !s.Pending() && !s.Running() }

// ErrTasks is returned when a list of an array's tasks is none.
var ErrTasks = errors.New("not a list of array tasks")

// maxTasks is more tasks than an array may have (slurm.conf(5), MaxArraySize).
const maxTasks = 4_000_001

// TaskIndex returns how many tasks of a list are before one; false if it is not among them.
func TaskIndex(list, task string) (int, bool) {
	n, err := strconv.Atoi(task)
	if err != nil {
		return 0, false
	}
	before := 0
	list, _, _ = strings.Cut(list, "%")
	for part := range strings.SplitSeq(list, ",") {
		first, last, step, err := taskRange(part)
		switch {
		case err != nil:
			return 0, false
		case first <= n && n <= last && (n-first)%step == 0:
			return before + (n-first)/step, true
		}
		before += (last-first)/step + 1
	}
	return 0, false
}

// taskRange reads a part of a list of tasks: one, or a range with a step.
func taskRange(part string) (first, last, step int, err error) {
	span, by, stepped := strings.Cut(part, ":")
	from, to, ranged := strings.Cut(span, "-")
	if !ranged {
		to = from
	}
	step = 1
	if stepped {
		step, err = strconv.Atoi(by)
	}
	first, err1 := strconv.Atoi(from)
	last, err2 := strconv.Atoi(to)
	if errors.Join(err, err1, err2) != nil || first < 0 || last < first || last > maxTasks || step < 1 {
		return 0, 0, 0, fmt.Errorf("%w: %q", ErrTasks, part)
	}
	return first, last, step, nil
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
		first, last, step, err := taskRange(part)
		if err != nil {
			return 0, err
		}
		if tasks += (last-first)/step + 1; tasks > maxTasks {
			return 0, fmt.Errorf("%w: %q", ErrTasks, list)
		}
	}
	return max(tasks, 1), nil
}

// Hold says what a job waits for, by the reason that Slurm gives.
type Hold int

// What a job waits for.
const (
	Unmodelled Hold = iota // nobody knows for how long: the interval has no upper end
	ForRoom
	ForLimit   // until other jobs of its group end, if the limit was read
	ForEvent   // until a time or an event of another job, which further fields name
	ForPerson  // until somebody acts
	ForBudget  // until a budget of minutes is raised or decays
	ForNothing // it will never start as it is
)

// reasons are the reasons of Slurm that do not name a limit (slurm.h, job_state_reason);
// limitReason matches the others. One in neither is not modelled.
var reasons = map[string]Hold{
	"": ForRoom, "None": ForRoom, "Priority": ForRoom, "Resources": ForRoom, "Prolog": ForRoom, "Cleaning": ForRoom, "SchedDefer": ForRoom,
	// The nodes that are reserved, or out of service, are known.
	"Reservation": ForRoom, "ReqNodeNotAvail": ForRoom,

	"Licenses": ForLimit, "JobArrayTaskLimit": ForLimit,
	"BeginTime": ForEvent, "Dependency": ForEvent,
	"JobHeldUser": ForPerson, "JobHeldAdmin": ForPerson, "JobHoldMaxRequeue": ForPerson, "PartitionDown": ForPerson, "PartitionInactive": ForPerson,
	"launch failed requeued held": ForPerson, "job requeued in held state": ForPerson, // squeue(1) may have _ for a space

	"PartitionNodeLimit": ForNothing, "PartitionTimeLimit": ForNothing, "PartitionConfig": ForNothing, "BadConstraints": ForNothing, "Constraints": ForNothing,
	"InvalidAccount": ForNothing, "AccountNotAllowed": ForNothing, "InvalidQOS": ForNothing, "QOSNotAllowed": ForNothing,
	"DependencyNeverSatisfied": ForNothing, "ReservationDeleted": ForNothing, "ReservationInvalid": ForNothing, "MaxMemPerLimit": ForNothing, "DeadLine": ForNothing,

	"AccountingPolicy": Unmodelled, "AssociationJobLimit": Unmodelled, "AssociationResourceLimit": Unmodelled, "AssociationTimeLimit": Unmodelled,
	"QOSJobLimit": Unmodelled, "QOSResourceLimit": Unmodelled, "QOSTimeLimit": Unmodelled, "QOSUsageThreshold": Unmodelled,
	"FrontEndDown": Unmodelled, "NodeDown": Unmodelled, "PowerNotAvail": Unmodelled, "PowerReserved": Unmodelled,
	"BurstBufferResources": Unmodelled, "BurstBufferStageIn": Unmodelled, "BurstBufferOperation": Unmodelled, "FedJobLock": Unmodelled,
	"SystemFailure": Unmodelled, "JobLaunchFailure": Unmodelled, "NonZeroExitCode": Unmodelled, "RaisedSignal": Unmodelled,
	"TimeLimit": Unmodelled, "InactiveLimit": Unmodelled, "OutOfMemory": Unmodelled,
}

// limitReason matches a reason that names a limit: of whom, in all or at most, of what, per
// what.
var limitReason = regexp.MustCompile(`^(QOS|Assoc|)(Grp|Max|Min)(Cpu|CPU|Memory|Mem|Node|GRES|License|BB|Energy|Billing|Unknown|SubmitJobs?|Jobs?|WallDuration|Wall)(RunMinutes|Minutes|)(PerJob|PerUser|PerAccount|PerNode|NotSatisfied|)(?:Limit)?$`)

// ReadReason returns what a job that pends for a reason waits for, and for a limit its kind,
// such as "QOSGrp/cpu", else the reason; "" for one that Slurm does not have.
func ReadReason(text string) (Hold, string) {
	text, _, _ = strings.Cut(strings.ReplaceAll(text, "_", " "), ",")
	if h, known := reasons[text]; known {
		return h, text
	}
	m := limitReason.FindStringSubmatch(text)
	if m == nil {
		return Unmodelled, ""
	}
	owner := m[1]
	most := m[2]
	what := m[3]
	minutes, per := m[4], m[5]
	switch {
	case most == "Min", per == "PerJob", per == "PerNode":
		return ForNothing, text
	case strings.HasPrefix(what, "Submit"), minutes == "RunMinutes":
		return Unmodelled, text
	case minutes != "", what == "Wall":
		return ForBudget, text
	}
	return ForLimit, cmp.Or(owner, "QOS") + cmp.Or(per, most) + "/" + strings.ToLower(shortResource.Replace(what))
}

// shortResource unites the spellings of resources.
var shortResource = strings.NewReplacer("Memory", "mem", "Jobs", "jobs", "Job", "jobs")
