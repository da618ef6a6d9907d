package simcuda

import (
	"fmt"
	"path/filepath"
	"reflect"
	"time"

	"github.com/foretime/foretime/deft/hook"
)

// Order is how the device chooses among the processes that wait for it.
type Order string

// The orders.
const (
	FIFO   Order = "fifo"   // commands in the order in which they were queued
	Sliced Order = "sliced" // processes in turn, each for at most a slice
)

// Device is one simulated device: every process that gets its environment
// shares it. The first of them makes it, with these settings. The zero value
// of a field leaves the driver's own default, which src/process.c states.
type Device struct {
	File        string        // the device's shared memory, best in /dev/shm; several with a colon between
	Order       Order         // FIFO by default
	Slice       time.Duration // Sliced: length of a turn
	Switch      time.Duration // Sliced: idle time at a change of turn
	Queue       int           // commands that a process may have waiting, at most 1024
	MemoryBytes int64         // device memory
	AfterFork   bool          // a child forked after cuInit may use the device, unlike a real one
	CountsFile  string        // where each process appends what it asked for as it ends: package simcudatest reads it
	Fault       string        // what goes wrong, as SIMCUDA_FAULT in src/process.c
	Noop        bool          // launches return at once: for measuring what surrounds them
}

// Environ is an environment whose processes load the built driver and use this
// device.
func (d Device) Environ(b Built, environ []string) []string {
	return append(hook.Before(environ, "LD_LIBRARY_PATH", filepath.Dir(b.Driver)), d.Env(b)[1:]...)
}

// Env returns the variables that make a process load the built driver and use
// this device, LD_LIBRARY_PATH first.
func (d Device) Env(b Built) []string {
	env := []string{"LD_LIBRARY_PATH=" + filepath.Dir(b.Driver)}
	for _, v := range []struct {
		name  string
		value any
	}{
		{"DEVICE", d.File}, {"ORDER", d.Order}, {"SLICE_NS", d.Slice.Nanoseconds()}, {"SWITCH_NS", d.Switch.Nanoseconds()},
		{"QUEUE", d.Queue}, {"MEMORY_BYTES", d.MemoryBytes}, {"COUNTS", d.CountsFile}, {"FAULT", d.Fault},
		{"AFTER_FORK", map[bool]string{true: "allow"}[d.AfterFork]}, {"NOOP", map[bool]string{true: "1"}[d.Noop]},
	} {
		if !reflect.ValueOf(v.value).IsZero() {
			env = append(env, fmt.Sprintf("SIMCUDA_%s=%v", v.name, v.value))
		}
	}
	return env
}
