package simcuda

import (
	"fmt"
	"path/filepath"
	"reflect"

	"github.com/foretime/foretime/deft/hook"
	"github.com/foretime/foretime/deft/internal/device"
)

// Device describes a simulated device, which every process with its environment shares. The
// first of them creates it with these settings. A zero field is the driver's default, see
// src/process.c.
type Device struct {
	File        string // the device's shared memory, best in /dev/shm; several with a colon between
	Settings    device.Settings
	MemoryBytes int64  // device memory
	AfterFork   bool   // a child forked after cuInit may use the device, unlike a real one
	CountsFile  string // where each process appends what it asked for as it ends: package simcudatest reads it
	Fault       string // what goes wrong, as SIMCUDA_FAULT in src/process.c
	Noop        bool   // launches return at once: for measuring what surrounds them
}

// Environ returns an environment whose processes load the built driver and use this device.
func (d Device) Environ(b Built, environ []string) []string {
	return append(hook.Prepend(environ, "LD_LIBRARY_PATH", filepath.Dir(b.Driver)), d.Env(b)[1:]...)
}

// Env returns the variables that make a process load the built driver and use
// this device, LD_LIBRARY_PATH first.
func (d Device) Env(b Built) []string {
	env := []string{"LD_LIBRARY_PATH=" + filepath.Dir(b.Driver)}
	for _, v := range []struct {
		name  string
		value any
	}{
		{"DEVICE", d.File}, {"MEMORY_BYTES", d.MemoryBytes}, {"COUNTS", d.CountsFile}, {"FAULT", d.Fault},
		{"AFTER_FORK", map[bool]string{true: "allow"}[d.AfterFork]}, {"NOOP", map[bool]string{true: "1"}[d.Noop]},
	} {
		if !reflect.ValueOf(v.value).IsZero() {
			env = append(env, fmt.Sprintf("SIMCUDA_%s=%v", v.name, v.value))
		}
	}
	if d.Settings != (device.Settings{}) {
		s := d.Settings.WithDefaults()
		env = append(env, "SIMCUDA_ORDER="+string(s.Discipline), fmt.Sprintf("SIMCUDA_SLICE_NS=%d", s.Turn), fmt.Sprintf("SIMCUDA_SWITCH_NS=%d", s.Switch),
			fmt.Sprintf("SIMCUDA_OVERLAP=%v", s.Overlap), fmt.Sprintf("SIMCUDA_QUEUE=%d", s.Ahead))
	}
	return env
}
