package launch

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/foretime/foretime/shared/timing"
)

// family distinguishes the processes of a run from the Runner's other children, which were
// there before.
type family struct {
	processes timing.Processes
	strangers map[int]bool
	self      int
}

func newFamily() *family {
	f := &family{self: os.Getpid(), strangers: map[int]bool{}}
	for _, pid := range f.processes.Children(f.self) {
		f.strangers[pid] = true
	}
	return f
}

// children returns the Runner's children that belong to the run: its first
// process and orphans, zombies included.
func (f *family) children() []int {
	var pids []int
	for _, pid := range f.processes.Children(f.self) {
		if !f.strangers[pid] {
			pids = append(pids, pid)
		}
	}
	return pids
}

// alive counts the run's processes that are not zombies.
func (f *family) alive() int {
	n := 0
	for _, pid := range f.processes.Tree(f.children()...) {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if after := b[bytes.LastIndexByte(b, ')')+1:]; err == nil && !bytes.HasPrefix(after, []byte(" Z")) {
			n++
		}
	}
	return n
}

// kill ends every process of the run that is found.
func (f *family) kill(first int) {
	for _, pid := range f.processes.Tree(append(f.children(), first)...) {
		if pid == first && !slices.Contains(f.children(), first) {
			continue // reaped already: the number may be another's by now
		}
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// reap collects adopted processes that ended and returns their processor time.
func (f *family) reap() time.Duration {
	var cpu time.Duration
	for _, pid := range f.children() {
		var usage syscall.Rusage
		if got, err := syscall.Wait4(pid, nil, syscall.WNOHANG, &usage); err == nil && got == pid {
			cpu += time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
		}
	}
	return cpu
}
