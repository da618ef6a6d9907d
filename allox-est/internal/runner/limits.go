package runner

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// Errors of a run's limits.
var (
	// ErrLimit is returned when nothing on the machine can hold a run to a limit.
	ErrLimit = errors.New("the limit cannot be enforced")
	// ErrMemory is in Result.Err when a process was killed at the memory limit.
	ErrMemory = errors.New("killed at the memory limit")
)

// control holds the requests to a cgroup; 0 requests nothing.
type control struct {
	weight int
	memory int64
	cpus   float64
}

// period is the period of a processor limit, in microseconds.
const period = 100_000

// apply writes the settings of a cgroup and returns those that the kernel accepted.
func (c control) apply(dir string) (granted control) {
	set := func(name, value string) bool {
		f, err := os.OpenFile(filepath.Join(dir, name), os.O_WRONLY, 0) // never made: a file that is missing is a controller that is missing
		if err != nil {
			return false
		}
		_, err = f.WriteString(value)
		return errors.Join(err, f.Close()) == nil
	}
	if c.weight > 0 && set("cpu.weight", strconv.Itoa(c.weight)) {
		granted.weight = c.weight
	}
	if c.memory > 0 && set("memory.max", strconv.FormatInt(c.memory, 10)) {
		granted.memory = c.memory
	}
	if c.cpus > 0 && set("cpu.max", fmt.Sprint(int(c.cpus*period), " ", period)) {
		granted.cpus = c.cpus
	}
	return granted
}

// enable lets the cgroups below dir use the controllers, if that is allowed.
func (c control) enable(dir string) {
	for name, needed := range map[string]bool{"+cpu": c.weight > 0 || c.cpus > 0, "+memory": c.memory > 0} {
		if needed {
			_ = os.WriteFile(filepath.Join(dir, "cgroup.subtree_control"), []byte(name), 0)
		}
	}
}

// missing returns an error that names a limit of c that was not granted. A weight
// without effect is none: it shows in Result.Weighted.
func (c control) missing(granted control) error {
	name, property := "", ""
	switch {
	case c.memory != granted.memory:
		name, property = "limits.memory", fmt.Sprintf("MemoryMax=%d", c.memory)
	case c.cpus != granted.cpus:
		name, property = "limits.cpus", fmt.Sprintf("CPUQuota=%.0f%%", 100*c.cpus)
	default:
		return nil
	}
	return fmt.Errorf("%s: %w: no cgroup v2 with its controller can be made; without %[1]s, run allox-est itself in a scope with systemd-run --user --scope --property=%[3]s", name, ErrLimit, property)
}
