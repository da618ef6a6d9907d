package experiment

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Group is a sequence of equal kernels.
type Group struct {
	Kernels int           // how many, at least 1
	Each    time.Duration // time of one kernel alone on the device, above 0
}

// Profile describes one job: its kernels in launch order, and its device memory.
type Profile struct {
	Model          string // the name it was looked up or read under
	Groups         []Group
	AllocatedBytes int64 // device memory in use at the peak of a job
	ReservedBytes  int64 // device memory that the process keeps
}

// Kernels returns the number of kernels of one job.
func (p Profile) Kernels() int {
	n := 0
	for _, g := range p.Groups {
		n += g.Kernels
	}
	return n
}

// DeviceTime returns the device time of one job: the JCT of a job that runs alone and whose
// host keeps the queue full.
func (p Profile) DeviceTime() time.Duration {
	var sum time.Duration
	for _, g := range p.Groups {
		sum += time.Duration(g.Kernels) * g.Each
	}
	return sum
}

// DeviceTimeOf returns the device time of so many kernels of consecutive jobs; 0 for the zero
// Profile.
func (p Profile) DeviceTimeOf(kernels uint64) time.Duration {
	job := uint64(p.Kernels())
	if job == 0 {
		return 0
	}
	sum, left := time.Duration(kernels/job)*p.DeviceTime(), int(kernels%job)
	for _, g := range p.Groups {
		n := min(left, g.Kernels)
		sum += time.Duration(n) * g.Each
		left -= n
	}
	return sum
}

// Times returns the times of the kernels in order of launch.
func (p Profile) Times() []time.Duration {
	var all []time.Duration
	for _, g := range p.Groups {
		all = append(all, slices.Repeat([]time.Duration{g.Each}, g.Kernels)...)
	}
	return all
}

// Text returns the profile in the format of package simcuda's workload program: one line
// "COUNT NANOSECONDS" for each group of kernels, in launch order; # begins a comment.
func (p Profile) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s: kernels, nanoseconds of each\n", strings.Join(strings.Fields(p.Model), " "))
	for _, g := range p.Groups {
		fmt.Fprintf(&b, "%d %d\n", g.Kernels, g.Each.Nanoseconds())
	}
	return b.String()
}
