package workload

import (
	"strconv"
	"time"
)

// Command is one run of the workload program (package simcuda builds it): a
// warm-up job, then jobs until the duration and the least number are reached.
// The zero value of a field leaves the program's own default.
type Command struct {
	ProfileFile   string        // a file that [Profile.WriteTo] wrote
	CSV           string        // where the completion times go
	Duration      time.Duration // jobs begin for this long
	MinJobs       int           // and at least so many; the program's default is 10
	Jobs          int           // instead: exactly so many
	Sleep         time.Duration // pause after each job
	Period        time.Duration // instead: from the beginning of one job to that of the next
	Launch        time.Duration // host work before each launch
	Host          time.Duration // host work at the beginning of each job
	SLO           time.Duration // time within which a job should be done, told to the hook
	Device        int           // CUDA ordinal
	MemoryBytes   int64         // device memory held while running
	ReservedBytes int64         // the figure of the last CSV column
	Path          string        // how the driver is reached
	Graph         int           // launch so many kernels at a time, as one captured graph; 0 each by itself
	Barrier       bool          // print "model loaded" and wait for "run"
	NoMarks       bool          // leave finding the jobs to the hook
}

// Args returns the program's arguments.
func (c Command) Args() []string {
	var args []string
	text := func(flag, value string) {
		if value != "" {
			args = append(args, flag, value)
		}
	}
	count := func(flag string, n int64) {
		if n != 0 {
			args = append(args, flag, strconv.FormatInt(n, 10))
		}
	}
	length := func(flag string, d, unit time.Duration) {
		if d != 0 {
			args = append(args, flag, strconv.FormatFloat(float64(d)/float64(unit), 'f', -1, 64))
		}
	}
	on := func(flag string, set bool) {
		if set {
			args = append(args, flag)
		}
	}
	text("--profile", c.ProfileFile)
	text("--csv", c.CSV)
	length("--dur-s", c.Duration, time.Second)
	count("--min-jobs", int64(c.MinJobs))
	count("--jobs", int64(c.Jobs))
	length("--sleep-ms", c.Sleep, time.Millisecond)
	length("--period-ms", c.Period, time.Millisecond)
	count("--launch-ns", c.Launch.Nanoseconds())
	length("--host-ms", c.Host, time.Millisecond)
	length("--slo-ms", c.SLO, time.Millisecond)
	count("--device", int64(c.Device))
	count("--mem-bytes", c.MemoryBytes)
	count("--reserved-bytes", c.ReservedBytes)
	text("--path", c.Path)
	count("--graph-kernels", int64(c.Graph))
	on("--barrier", c.Barrier)
	on("--no-marks", c.NoMarks)
	return args
}
