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

// files are the names of a hierarchy's settings.
type files struct{ weight, memory, quota string }

// period is the period of a processor limit, in microseconds.
const period = 100_000

// apply writes the settings and returns those that were taken.
func (c control) apply(dir string, f files) (done control) {
	took := func(name, value string) bool {
		return os.WriteFile(filepath.Join(dir, name), []byte(value), 0) == nil
	}
	weight, quota := c.weight, strconv.Itoa(int(c.cpus*period))
	if f.weight == "cpu.shares" {
		weight = max(2, weight*1024/100) // the default of shares is 1024 where that of weight is 100
	} else {
		quota += " " + strconv.Itoa(period)
	}
	if c.weight > 0 && took(f.weight, strconv.Itoa(weight)) {
		done.weight = c.weight
	}
	if c.memory > 0 && took(f.memory, strconv.FormatInt(c.memory, 10)) {
		done.memory = c.memory
	}
	if c.cpus > 0 && (f.weight != "cpu.shares" || took("cpu.cfs_period_us", strconv.Itoa(period))) && took(f.quota, quota) {
		done.cpus = c.cpus
	}
	return done
}

// enable lets the cgroups below one of v2 use the controllers, where that is
// allowed.
func (c control) enable(dir string) {
	for name, asked := range map[string]bool{"+cpu": c.weight > 0 || c.cpus > 0, "+memory": c.memory > 0} {
		if asked {
			_ = os.WriteFile(filepath.Join(dir, "cgroup.subtree_control"), []byte(name), 0)
		}
	}
}

// less returns the part of c that is not in done.
func (c control) less(done control) control {
	return control{c.weight - done.weight, c.memory - done.memory, c.cpus - done.cpus}
}

func (c control) and(o control) control {
	return control{c.weight + o.weight, c.memory + o.memory, c.cpus + o.cpus}
}

// scope is the command line that runs another in a scope of the service manager's
// with what is asked (systemd-run(1)).
func (c control) scope(systemdRun []string) []string {
	argv := append([]string{}, systemdRun...)
	for _, p := range []struct {
		asked bool
		text  string
	}{
		{c.weight > 0, fmt.Sprintf("CPUWeight=%d", c.weight)},
		{c.memory > 0, fmt.Sprintf("MemoryMax=%d", c.memory)},
		{c.cpus > 0, fmt.Sprintf("CPUQuota=%.0f%%", 100*c.cpus)},
	} {
		if p.asked {
			argv = append(argv, "--property="+p.text)
		}
	}
	return append(argv, "--")
}

// missing names the limits among what is left.
func (c control) missing() error {
	switch {
	case c.memory > 0:
		return fmt.Errorf("limits.memory: %w: no cgroup with a memory controller can be made and there is no systemd", ErrLimit)
	case c.cpus > 0:
		return fmt.Errorf("limits.cpus: %w: no cgroup with a cpu controller can be made and there is no systemd", ErrLimit)
	}
	return nil
}

// SystemdRun is the command that runs another in a scope of its own; nil where the
// machine does not run systemd.
func SystemdRun() []string {
	if _, err := os.Stat("/run/systemd/system"); err != nil {
		return nil
	}
	argv := []string{"systemd-run", "--scope", "--quiet"}
	if os.Geteuid() != 0 {
		argv = append(argv, "--user")
	}
	return argv
}
