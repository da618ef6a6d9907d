package file

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Owner identifies the process that left files, also after it ended. A process
// number alone does not: the kernel reuses it.
type Owner struct {
	Host      string `json:"host"`
	Boot      string `json:"boot"`      // /proc/sys/kernel/random/boot_id
	Namespace string `json:"namespace"` // namespace of process numbers: /proc/self/ns/pid
	PID       int    `json:"pid"`
	Start     string `json:"start"` // field 22 of /proc/PID/stat, proc_pid_stat(5)
	UID       int    `json:"uid"`
	Name      string `json:"name"` // of the directory that it owns: a copy has another name
}

// CurrentOwner returns this process as the Owner of a directory.
func CurrentOwner(name string) (Owner, error) {
	o := Owner{PID: os.Getpid(), UID: os.Getuid(), Name: name}
	host, err := os.Hostname()
	if err != nil {
		return o, err
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return o, err
	}
	o.Host, o.Boot = host, strings.TrimSpace(string(boot))
	if o.Namespace, err = os.Readlink("/proc/self/ns/pid"); err != nil {
		return o, err
	}
	o.Start, err = startTime("self")
	return o, err
}

// Gone reports whether o is known to have ended; self is a process of the same
// user. A process on another host, or in another namespace of process numbers,
// counts as alive.
func (o Owner) Gone(self Owner) bool {
	switch {
	case o.UID != self.UID || o.Host != self.Host || o.PID <= 0 || o.Start == "":
		return false
	case o.Boot != self.Boot:
		return o.Boot != ""
	case o.Namespace != self.Namespace:
		return false
	}
	start, err := startTime(fmt.Sprint(o.PID))
	return errors.Is(err, fs.ErrNotExist) || err == nil && start != o.Start
}

// startTime returns the start time of a process, in the kernel's ticks since boot.
func startTime(pid string) (string, error) {
	path := filepath.Join("/proc", pid, "stat")
	b, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	// The program's name, in parentheses, may contain any character.
	fields := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
	if len(fields) < 20 {
		return "", fmt.Errorf("%s: %d fields after the name, want at least 20", path, len(fields))
	}
	return fields[19], nil
}
