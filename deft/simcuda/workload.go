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
	for _, f := range []struct {
		flag  string
		value float64
	}{
		{"--dur-s", c.Duration.Seconds()}, {"--min-jobs", float64(c.MinJobs)},
		{"--sleep-ms", c.Sleep.Seconds() * 1e3}, {"--period-ms", c.Period.Seconds() * 1e3}, {"--launch-ns", float64(c.Launch)},
		{"--mem-bytes", float64(c.MemoryBytes)}, {"--reserved-bytes", float64(c.ReservedBytes)}, {"--graph-kernels", float64(c.Graph)},
	} {
		if f.value != 0 {
			args = append(args, f.flag, strconv.FormatFloat(f.value, 'f', -1, 64))
		}
	}
	return args
}
