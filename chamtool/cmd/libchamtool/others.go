package main

import (
	"os"
	"syscall"
	"time"

	"github.com/foretime/foretime/chamtool/internal/event"
	"github.com/foretime/foretime/chamtool/internal/summary"
)

// machineLoad is the CPU time of all programs and of this one at a time.
type machineLoad struct {
	at  time.Time
	all event.ProcessorUse
	own time.Duration
	err error
}

func readMachineLoad() machineLoad {
	l := machineLoad{at: time.Now()}
	var usage syscall.Rusage
	if l.err = syscall.Getrusage(syscall.RUSAGE_SELF, &usage); l.err == nil {
		l.own = time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
		l.all, l.err = event.ReadProcessorUse(os.DirFS("/"))
	}
	return l
}

// leastElapsed is the time from which the ticks of 10 ms that the system counts in are fine enough.
const leastElapsed = 200 * time.Millisecond

// others returns the processors of the machine and the mean number of them that other programs
// kept busy until later; 0 and nil if unknown, as after a short time.
func (l machineLoad) others(later machineLoad) (online int, busy *float64) {
	elapsed := later.at.Sub(l.at)
	if l.err != nil || later.err != nil || elapsed < leastElapsed {
		return 0, nil
	}
	used := later.all.Busy - l.all.Busy - (later.own - l.own)
	return later.all.Processors, summary.NewFigure(max(0, used.Seconds()/elapsed.Seconds()))
}
