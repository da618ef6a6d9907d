package simcuda

import (
	"fmt"
	"path/filepath"

	"github.com/foretime/foretime/deft/hook"
	"github.com/foretime/foretime/deft/internal/device"
)

// Settings holds the order in which a device serves its processes, and its constants.
type Settings = device.Settings

// Device describes a simulated device, which every process with its environment shares. The
// first of them creates it with these settings.
type Device struct {
	File     string // the device's shared memory, best in /dev/shm; several with a colon between
	Settings Settings
	More     []string // further variables SIMCUDA_NAME=VALUE, listed in src/process.c
}

// Environ returns an environment whose processes load the built driver and use this device.
func (d Device) Environ(b Built, environ []string) []string {
	return append(hook.Prepend(environ, "LD_LIBRARY_PATH", filepath.Dir(b.Driver)), d.Env(b)[1:]...)
}

// Env returns the variables that make a process load the built driver and use
// this device, LD_LIBRARY_PATH first.
func (d Device) Env(b Built) []string {
	env := append([]string{"LD_LIBRARY_PATH=" + filepath.Dir(b.Driver), "SIMCUDA_DEVICE=" + d.File}, d.More...)
	if d.Settings != (Settings{}) {
		s := d.Settings.WithDefaults()
		env = append(env, "SIMCUDA_ORDER="+string(s.Discipline), fmt.Sprintf("SIMCUDA_SLICE_NS=%d", s.Turn), fmt.Sprintf("SIMCUDA_SWITCH_NS=%d", s.Switch),
			fmt.Sprintf("SIMCUDA_OVERLAP=%v", s.Overlap), fmt.Sprintf("SIMCUDA_QUEUE=%d", s.Ahead))
	}
	return env
}
