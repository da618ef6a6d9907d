package slurmview

import (
	"strings"
	"testing"

	"github.com/foretime/foretime/mirage/internal/trace"
)

// allReasons are the reasons that Slurm 25.05 prints (src/common/job_state_reason.c), by what
// a job waits for.
var allReasons = map[trace.Hold]string{
	trace.ForRoom: "None Prolog Priority Resources Reservation ReqNodeNotAvail SchedDefer Cleaning",
	trace.ForLimit: `Licenses JobArrayTaskLimit
		QOSGrpCpuLimit QOSGrpJobsLimit QOSGrpMemLimit QOSGrpNodeLimit QOSGrpUnknown QOSGrpEnergy QOSGrpGRES QOSGrpLicense QOSGrpBB QOSGrpBilling
		QOSMaxCpuPerUserLimit QOSMaxJobsPerUserLimit QOSMaxNodePerUserLimit QOSMaxUnknownPerUser QOSMaxMemoryPerUser QOSMaxEnergyPerUser QOSMaxGRESPerUser QOSMaxLicensePerUser QOSMaxBBPerUser QOSMaxBillingPerUser
		MaxBBPerAccount MaxCpuPerAccount MaxEnergyPerAccount MaxGRESPerAccount MaxNodePerAccount MaxLicensePerAccount MaxMemoryPerAccount MaxUnknownPerAccount MaxJobsPerAccount MaxBillingPerAccount
		AssocGrpCpuLimit AssocGrpJobsLimit AssocGrpMemLimit AssocGrpNodeLimit AssocMaxJobsLimit AssocGrpUnknown AssocGrpEnergy AssocGrpGRES AssocGrpLicense AssocGrpBB AssocGrpBilling`,
	trace.ForEvent:  "BeginTime Dependency",
	trace.ForPerson: "JobHeldAdmin JobHeldUser JobHoldMaxRequeue PartitionDown PartitionInactive",
	trace.ForBudget: `QOSGrpCPUMinutesLimit QOSGrpWallLimit AssocGrpCPUMinutesLimit AssocGrpWallLimit AssocGrpUnknownMinutes AssocGrpMemMinutes AssocGrpNodeMinutes AssocGrpEnergyMinutes
		AssocGrpGRESMinutes AssocGrpLicenseMinutes AssocGrpBBMinutes AssocGrpBillingMinutes QOSGrpUnknownMinutes QOSGrpMemoryMinutes QOSGrpNodeMinutes QOSGrpEnergyMinutes QOSGrpGRESMinutes QOSGrpLicenseMinutes QOSGrpBBMinutes QOSGrpBillingMinutes`,
	trace.ForNothing: `PartitionNodeLimit PartitionTimeLimit PartitionConfig BadConstraints Constraints InvalidAccount InvalidQOS QOSNotAllowed AccountNotAllowed DependencyNeverSatisfied ReservationDeleted ReservationInvalid MaxMemPerLimit DeadLine
		QOSMaxCpuPerJobLimit QOSMaxCpuMinutesPerJobLimit QOSMaxNodePerJobLimit QOSMaxWallDurationPerJobLimit QOSMinCpuNotSatisfied AssocMaxCpuPerJobLimit AssocMaxCpuMinutesPerJobLimit AssocMaxNodePerJobLimit AssocMaxWallDurationPerJobLimit
		AssocMaxUnknownPerJob AssocMaxUnknownPerNode AssocMaxUnknownMinutesPerJob AssocMaxCpuPerNode AssocMaxMemPerJob AssocMaxMemPerNode AssocMaxMemMinutesPerJob AssocMaxNodeMinutesPerJob AssocMaxEnergyPerJob AssocMaxEnergyPerNode AssocMaxEnergyMinutesPerJob
		AssocMaxGRESPerJob AssocMaxGRESPerNode AssocMaxGRESMinutesPerJob AssocMaxLicensePerJob AssocMaxLicenseMinutesPerJob AssocMaxBBPerJob AssocMaxBBPerNode AssocMaxBBMinutesPerJob AssocMaxBillingPerJob AssocMaxBillingPerNode AssocMaxBillingMinutesPerJob
		QOSMaxUnknownPerJob QOSMaxUnknownPerNode QOSMaxUnknownMinutesPerJob QOSMinUnknown QOSMaxCpuPerNode QOSMaxMemoryPerJob QOSMaxMemoryPerNode QOSMaxMemoryMinutesPerJob QOSMinMemory QOSMaxNodeMinutesPerJob QOSMinNode
		QOSMaxEnergyPerJob QOSMaxEnergyPerNode QOSMaxEnergyMinutesPerJob QOSMinEnergy QOSMaxGRESPerJob QOSMaxGRESPerNode QOSMaxGRESMinutesPerJob QOSMinGRES QOSMaxLicensePerJob QOSMaxLicenseMinutesPerJob QOSMinLicense QOSMaxBBPerJob QOSMaxBBPerNode QOSMinBB
		QOSMaxBillingPerJob QOSMaxBillingPerNode QOSMaxBillingMinutesPerJob QOSMinBilling`,
	trace.Unmodelled: `AssociationJobLimit AssociationResourceLimit AssociationTimeLimit FrontEndDown NodeDown SystemFailure JobLaunchFailure NonZeroExitCode RaisedSignal TimeLimit InactiveLimit QOSUsageThreshold QOSJobLimit QOSResourceLimit QOSTimeLimit
		QOSGrpSubmitJobsLimit QOSMaxSubmitJobPerUserLimit AssocGrpSubmitJobsLimit AssocMaxSubmitJobLimit MaxSubmitJobsPerAccount BurstBufferResources BurstBufferStageIn BurstBufferOperation PowerNotAvail PowerReserved AccountingPolicy FedJobLock OutOfMemory
		QOSGrpCPURunMinutesLimit AssocGrpCPURunMinutesLimit AssocGrpUnknownRunMinutes AssocGrpMemRunMinutes AssocGrpNodeRunMinutes AssocGrpEnergyRunMinutes AssocGrpGRESRunMinutes AssocGrpLicenseRunMinutes AssocGrpBBRunMinutes AssocGrpBillingRunMinutes
		QOSGrpUnknownRunMinutes QOSGrpMemoryRunMinutes QOSGrpNodeRunMinutes QOSGrpEnergyRunMinutes QOSGrpGRESRunMinutes QOSGrpLicenseRunMinutes QOSGrpBBRunMinutes QOSGrpBillingRunMinutes`,
}

func TestReasons(t *testing.T) {
	for want, list := range allReasons {
		for reason := range strings.FieldsSeq(list) {
			if got, _ := trace.ReadReason(reason); got != want {
				t.Errorf("%s: %d, want %d", reason, got, want)
			}
			if _, kind := trace.ReadReason(reason); kind == "" {
				t.Errorf("%s is not in the table", reason)
			}
		}
	}
	if got, kind := trace.ReadReason("SomethingNew"); got != trace.Unmodelled || kind != "" {
		t.Errorf("an unknown reason is %d, %s", got, kind)
	}
}

// TestUnmodelledReasons answers about a job that waits for each reason of Slurm's on an idle
// site without limits: the interval has no upper end, with the reason's name, or the answer is
// a refusal with it.
func TestUnmodelledReasons(t *testing.T) {
	for want, list := range allReasons {
		if want == trace.ForRoom || want == trace.ForEvent {
			continue
		}
		for reason := range strings.FieldsSeq(list) {
			s := plainSite()
			s["squeue"] = `{"jobs":[` + pending(5, reason, `,"account":"lab","qos":"normal"`) + `]}`
			_, _, rest, err := look(t, s).FindQueued("5")
			if err == nil && (len(rest.Unread) != 1 || !strings.Contains(rest.Unread[0], reason)) {
				t.Errorf("%s: unread is %q", reason, rest.Unread)
			}
			if err != nil && !strings.Contains(err.Error(), reason) {
				t.Errorf("%s: %v", reason, err)
			}
		}
	}
}
