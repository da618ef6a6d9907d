package simcuda

import (
	"strconv"
	"time"
)

// Command is one run of the workload program: a warm-up job, then jobs until the
// duration and the least number are reached. The zero value of a field leaves the
// program's own default.
type Command struct {
	Profile       string        // file with a line "COUNT NANOSECONDS" for each group of kernels
	CSV           string        // where the completion times go
	Duration      time.Duration // jobs begin for this long
	MinJobs       int           // and at least so many; the program's default is 10
	Sleep         time.Duration // pause after each job
	Period        time.Duration // instead: from the beginning of one job to that of the next
	Launch        time.Duration // host work before each launch
	MemoryBytes   int64         // device memory held while running
	ReservedBytes int64         // the figure of the last CSV column
	Graph         int           // launch so many kernels at a time, as one captured graph; 0 each by itself
}

// Args returns the program's arguments. It will print "model loaded" and wait for
// "run".
func (c Command) Args() []string {
	args := []string{"--barrier", "--profile", c.Profile, "--csv", c.CSV}
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
	length("--dur-s", c.Duration, time.Second)
	count("--min-jobs", int64(c.MinJobs))
	length("--sleep-ms", c.Sleep, time.Millisecond)
	length("--period-ms", c.Period, time.Millisecond)
	count("--launch-ns", c.Launch.Nanoseconds())
	count("--mem-bytes", c.MemoryBytes)
	count("--reserved-bytes", c.ReservedBytes)
	count("--graph-kernels", int64(c.Graph))
	return args
}
