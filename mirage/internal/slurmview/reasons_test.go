package slurmview

import (
	"strings"
	"testing"
)

// allReasons are the reasons that Slurm 25.05 prints (src/common/job_state_reason.c), by what
// a job waits for.
var allReasons = map[hold]string{
	forRoom: "None Prolog Priority Resources Reservation ReqNodeNotAvail SchedDefer Cleaning",
	forLimit: `Licenses JobArrayTaskLimit
		QOSGrpCpuLimit QOSGrpJobsLimit QOSGrpMemLimit QOSGrpNodeLimit QOSGrpUnknown QOSGrpEnergy QOSGrpGRES QOSGrpLicense QOSGrpBB QOSGrpBilling
		QOSMaxCpuPerUserLimit QOSMaxJobsPerUserLimit QOSMaxNodePerUserLimit QOSMaxUnknownPerUser QOSMaxMemoryPerUser QOSMaxEnergyPerUser QOSMaxGRESPerUser QOSMaxLicensePerUser QOSMaxBBPerUser QOSMaxBillingPerUser
		MaxBBPerAccount MaxCpuPerAccount MaxEnergyPerAccount MaxGRESPerAccount MaxNodePerAccount MaxLicensePerAccount MaxMemoryPerAccount MaxUnknownPerAccount MaxJobsPerAccount MaxBillingPerAccount
		AssocGrpCpuLimit AssocGrpJobsLimit AssocGrpMemLimit AssocGrpNodeLimit AssocMaxJobsLimit AssocGrpUnknown AssocGrpEnergy AssocGrpGRES AssocGrpLicense AssocGrpBB AssocGrpBilling`,
	forEvent:  "BeginTime Dependency",
	forPerson: "JobHeldAdmin JobHeldUser JobHoldMaxRequeue PartitionDown PartitionInactive",
	forBudget: `QOSGrpCPUMinutesLimit QOSGrpWallLimit AssocGrpCPUMinutesLimit AssocGrpWallLimit AssocGrpUnknownMinutes AssocGrpMemMinutes AssocGrpNodeMinutes AssocGrpEnergyMinutes
		AssocGrpGRESMinutes AssocGrpLicenseMinutes AssocGrpBBMinutes AssocGrpBillingMinutes QOSGrpUnknownMinutes QOSGrpMemoryMinutes QOSGrpNodeMinutes QOSGrpEnergyMinutes QOSGrpGRESMinutes QOSGrpLicenseMinutes QOSGrpBBMinutes QOSGrpBillingMinutes`,
	forNothing: `PartitionNodeLimit PartitionTimeLimit PartitionConfig BadConstraints Constraints InvalidAccount InvalidQOS QOSNotAllowed AccountNotAllowed DependencyNeverSatisfied ReservationDeleted ReservationInvalid MaxMemPerLimit DeadLine
		QOSMaxCpuPerJobLimit QOSMaxCpuMinutesPerJobLimit QOSMaxNodePerJobLimit QOSMaxWallDurationPerJobLimit QOSMinCpuNotSatisfied AssocMaxCpuPerJobLimit AssocMaxCpuMinutesPerJobLimit AssocMaxNodePerJobLimit AssocMaxWallDurationPerJobLimit
		AssocMaxUnknownPerJob AssocMaxUnknownPerNode AssocMaxUnknownMinutesPerJob AssocMaxCpuPerNode AssocMaxMemPerJob AssocMaxMemPerNode AssocMaxMemMinutesPerJob AssocMaxNodeMinutesPerJob AssocMaxEnergyPerJob AssocMaxEnergyPerNode AssocMaxEnergyMinutesPerJob
		AssocMaxGRESPerJob AssocMaxGRESPerNode AssocMaxGRESMinutesPerJob AssocMaxLicensePerJob AssocMaxLicenseMinutesPerJob AssocMaxBBPerJob AssocMaxBBPerNode AssocMaxBBMinutesPerJob AssocMaxBillingPerJob AssocMaxBillingPerNode AssocMaxBillingMinutesPerJob
		QOSMaxUnknownPerJob QOSMaxUnknownPerNode QOSMaxUnknownMinutesPerJob QOSMinUnknown QOSMaxCpuPerNode QOSMaxMemoryPerJob QOSMaxMemoryPerNode QOSMaxMemoryMinutesPerJob QOSMinMemory QOSMaxNodeMinutesPerJob QOSMinNode
		QOSMaxEnergyPerJob QOSMaxEnergyPerNode QOSMaxEnergyMinutesPerJob QOSMinEnergy QOSMaxGRESPerJob QOSMaxGRESPerNode QOSMaxGRESMinutesPerJob QOSMinGRES QOSMaxLicensePerJob QOSMaxLicenseMinutesPerJob QOSMinLicense QOSMaxBBPerJob QOSMaxBBPerNode QOSMinBB
		QOSMaxBillingPerJob QOSMaxBillingPerNode QOSMaxBillingMinutesPerJob QOSMinBilling`,
	unmodelled: `AssociationJobLimit AssociationResourceLimit AssociationTimeLimit FrontEndDown NodeDown SystemFailure JobLaunchFailure NonZeroExitCode RaisedSignal TimeLimit InactiveLimit QOSUsageThreshold QOSJobLimit QOSResourceLimit QOSTimeLimit
		QOSGrpSubmitJobsLimit QOSMaxSubmitJobPerUserLimit AssocGrpSubmitJobsLimit AssocMaxSubmitJobLimit MaxSubmitJobsPerAccount BurstBufferResources BurstBufferStageIn BurstBufferOperation PowerNotAvail PowerReserved AccountingPolicy FedJobLock OutOfMemory
		QOSGrpCPURunMinutesLimit AssocGrpCPURunMinutesLimit AssocGrpUnknownRunMinutes AssocGrpMemRunMinutes AssocGrpNodeRunMinutes AssocGrpEnergyRunMinutes AssocGrpGRESRunMinutes AssocGrpLicenseRunMinutes AssocGrpBBRunMinutes AssocGrpBillingRunMinutes
		QOSGrpUnknownRunMinutes QOSGrpMemoryRunMinutes QOSGrpNodeRunMinutes QOSGrpEnergyRunMinutes QOSGrpGRESRunMinutes QOSGrpLicenseRunMinutes QOSGrpBBRunMinutes QOSGrpBillingRunMinutes`,
}

func TestReasons(t *testing.T) {
	named := map[string]bool{}
	for want, list := range allReasons {
		for reason := range strings.FieldsSeq(list) {
			named[reason] = true
			if got, _ := readReason(reason); got != want {
				t.Errorf("%s: %d, want %d", reason, got, want)
			}
			_, listed := reasons[reason]
			if !listed && !limitReason.MatchString(reason) {
				t.Errorf("%s is not in the table", reason)
			}
		}
	}
	for reason := range reasons {
		if reason != "" && !named[reason] {
			t.Errorf("Slurm has no reason %s", reason)
		}
	}
	if got, _ := readReason("SomethingNew"); got != unmodelled {
		t.Errorf("an unknown reason is %d", got)
	}
}

// TestUnmodelledReasons answers about a job that waits for each reason of Slurm's on an idle
// site without limits: the interval has no upper end, with the reason's name, or the answer is
// a refusal with it.
func TestUnmodelledReasons(t *testing.T) {
	for want, list := range allReasons {
		if want == forRoom || want == forEvent {
			continue
		}
		for reason := range strings.FieldsSeq(list) {
			s := plainSite()
			s["squeue"] = `{"jobs":[` + pending(5, reason, `,"account":"lab","qos":"normal"`) + `]}`
			_, _, rest, err := look(t, s).Queued("5")
			if err == nil && (len(rest.Unread) != 1 || !strings.Contains(rest.Unread[0], reason)) {
				t.Errorf("%s: unread is %q", reason, rest.Unread)
			}
			if err != nil && !strings.Contains(err.Error(), reason) {
				t.Errorf("%s: %v", reason, err)
			}
		}
	}
}
