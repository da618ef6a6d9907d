package layers

import "strings"

// adapters maps the files and directories of domain packages that use the real
// clock or start programs to the reason.
func adapters() map[string]string {
	return map[string]string{
		"allox-est/internal/follow/log.go":       "reads a log as it grows",
		"allox-est/internal/jobs/burner.go":      "a job that uses a given amount of processor time",
		"allox-est/internal/jobs/job.go":         "an example job measures its own time",
		"allox-est/internal/launch":              "runs a job and measures its cost",
		"allox-est/internal/slurm/submit.go":     "runs Slurm's commands",
		"chamtool/host":                          "builds and runs a program in C",
		"deft/internal/cc":                       "runs the C compiler",
		"deft/internal/daemon":                   "owns a session until its clients end",
		"deft/internal/diagnosis/watch.go":       "runs the program that is diagnosed",
		"deft/internal/diagnosis/unhooked.go":    "finds the interpreter of a script in PATH",
		"deft/internal/trial/process.go":         "runs the clients of a real experiment",
		"deft/internal/trial/real.go":            "a real experiment runs in real time",
		"edgeprof/internal/collection/stress.go": "keeps processors busy while others are measured",
		"edgeprof/internal/device/local.go":      "a load is the difference of two readings",
		"edgeprof/internal/device/probe.go":      "measures the load by working for a while",
		"edgeprof/internal/runtime/worker":       "a worker is a process",
		"mirage/internal/provision/lock.go":      "the clock of a real Slurm",
		"mirage/internal/slurmview/runner.go":    "runs Slurm's commands",
		"shared/file/input.go":                   "notices a FIFO without a writer",
		"shared/file/lock.go":                    "waits for another process's lock",
		"shared/timing/laps.go":                  "the default clock of laps",
	}
}

func adapter(f File) bool {
	for place := range adapters() {
		if f.Name == place || f.Dir == place || strings.HasPrefix(f.Dir, place+"/") {
			return true
		}
	}
	return false
}

// clock lists the functions of package time that use the real clock.
func clock() []string {
	names := []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"}
	for i, name := range names {
		names[i] = "time." + name
	}
	return names
}
