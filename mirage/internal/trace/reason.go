package trace

import (
	"regexp"
	"strings"
)

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
	if owner == "" {
		owner = "QOS"
	}
	if per == "" {
		per = most
	}
	return ForLimit, owner + per + "/" + strings.ToLower(shortResource.Replace(what))
}

// shortResource unites the spellings of resources.
var shortResource = strings.NewReplacer("Memory", "mem", "Jobs", "jobs", "Job", "jobs")
