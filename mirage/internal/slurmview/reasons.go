package slurmview

import (
	"regexp"
	"strings"

	"github.com/foretime/foretime/mirage/internal/trace"
)

// hold says what a job waits for, by the reason that Slurm gives.
type hold int

const (
	unmodelled hold = iota // nobody knows for how long: the interval has no upper end
	forRoom
	forLimit   // until other jobs of its group end, if the limit was read
	forEvent   // until a time or an event of another job, which further fields name
	forPerson  // until somebody acts
	forBudget  // until a budget of minutes is raised or decays
	forNothing // it will never start as it is
)

// reasons are the reasons of Slurm that do not name a limit (slurm.h, job_state_reason);
// limitReason matches the others. One in neither is not modelled.
var reasons = map[string]hold{
	"": forRoom, "None": forRoom, "Priority": forRoom, "Resources": forRoom, "Prolog": forRoom, "Cleaning": forRoom, "SchedDefer": forRoom,
	// The nodes that are reserved, or out of service, are known.
	"Reservation": forRoom, "ReqNodeNotAvail": forRoom,

	"Licenses": forLimit, "JobArrayTaskLimit": forLimit,
	"BeginTime": forEvent, "Dependency": forEvent,
	"JobHeldUser": forPerson, "JobHeldAdmin": forPerson, "JobHoldMaxRequeue": forPerson, "PartitionDown": forPerson, "PartitionInactive": forPerson,

	"PartitionNodeLimit": forNothing, "PartitionTimeLimit": forNothing, "PartitionConfig": forNothing, "BadConstraints": forNothing, "Constraints": forNothing,
	"InvalidAccount": forNothing, "AccountNotAllowed": forNothing, "InvalidQOS": forNothing, "QOSNotAllowed": forNothing,
	"DependencyNeverSatisfied": forNothing, "ReservationDeleted": forNothing, "ReservationInvalid": forNothing, "MaxMemPerLimit": forNothing, "DeadLine": forNothing,

	"AccountingPolicy": unmodelled, "AssociationJobLimit": unmodelled, "AssociationResourceLimit": unmodelled, "AssociationTimeLimit": unmodelled,
	"QOSJobLimit": unmodelled, "QOSResourceLimit": unmodelled, "QOSTimeLimit": unmodelled, "QOSUsageThreshold": unmodelled,
	"FrontEndDown": unmodelled, "NodeDown": unmodelled, "PowerNotAvail": unmodelled, "PowerReserved": unmodelled,
	"BurstBufferResources": unmodelled, "BurstBufferStageIn": unmodelled, "BurstBufferOperation": unmodelled, "FedJobLock": unmodelled,
	"SystemFailure": unmodelled, "JobLaunchFailure": unmodelled, "NonZeroExitCode": unmodelled, "RaisedSignal": unmodelled,
	"TimeLimit": unmodelled, "InactiveLimit": unmodelled, "OutOfMemory": unmodelled,
}

// limitReason matches a reason that names a limit: of whom, in all or at most, of what, per
// what.
var limitReason = regexp.MustCompile(`^(QOS|Assoc|)(Grp|Max|Min)(Cpu|CPU|Memory|Mem|Node|GRES|License|BB|Energy|Billing|Unknown|SubmitJobs?|Jobs?|WallDuration|Wall)(RunMinutes|Minutes|)(PerJob|PerUser|PerAccount|PerNode|NotSatisfied|)(?:Limit)?$`)

// readReason returns what a job that pends for a reason waits for, and for a limit its kind,
// such as "QOSGrp/cpu".
func readReason(text string) (hold, string) {
	text, _, _ = strings.Cut(text, ",")
	if h, known := reasons[text]; known {
		return h, text
	}
	m := limitReason.FindStringSubmatch(text)
	if m == nil {
		return unmodelled, ""
	}
	owner, most, what := m[1], m[2], m[3]
	minutes, per := m[4], m[5]
	switch {
	case most == "Min", per == "PerJob", per == "PerNode":
		return forNothing, ""
	case strings.HasPrefix(what, "Submit"), minutes == "RunMinutes":
		return unmodelled, ""
	case minutes != "", what == "Wall":
		return forBudget, ""
	}
	if owner == "" {
		owner = "QOS"
	}
	if per == "" {
		per = most
	}
	return forLimit, owner + per + "/" + strings.ToLower(shortResource.Replace(what))
}

// shortResource unites the spellings of resources.
var shortResource = strings.NewReplacer("Memory", "mem", "Jobs", "jobs", "Job", "jobs")

// Permanent reports whether a pending job with a reason will never start.
func Permanent(reason string) bool {
	h, _ := readReason(reason)
	return h == forNothing
}

// includesKind reports whether a limit of a kind is among those that a job is charged to.
func (l *limits) includesKind(kind string, charges []trace.Charge) bool {
	for _, c := range charges {
		if l.caps[c.Cap].kind == kind {
			return true
		}
	}
	return false
}
