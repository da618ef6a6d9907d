package session

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// Identity identifies a process: its id in the upper half, the low 32 bits of its start
// time in clock ticks (field 22 of /proc/PID/stat) in the lower. A process that reuses the
// id of a dead one has another identity. 0 is none.
type Identity uint64

// Self returns the identity of the calling process.
func Self() (Identity, error) {
	pid := os.Getpid()
	start, life := startTicks("/proc", pid)
	if life != running {
		return 0, fmt.Errorf("session: cannot read /proc/%d/stat; check that /proc is mounted", pid)
	}
	return identity(pid, start), nil
}

func identity(pid int, start uint64) Identity {
	return Identity(uint64(uint32(pid))<<32 | start&0xffffffff)
}

// PID returns the process id, as seen in the process's own pid namespace.
func (i Identity) PID() int { return int(int32(i >> 32)) }

// Alive says whether the process still runs. A process that cannot be read, for example
// because no more files may be opened, counts as alive; a zombie does not.
func (i Identity) Alive() bool { return i.isAlive("/proc") }

func (i Identity) isAlive(proc string) bool {
	if i.PID() <= 0 {
		return false
	}
	start, life := startTicks(proc, i.PID())
	return life == unknown || life == running && identity(i.PID(), start) == i
}

// IsStopped reports whether the process is stopped, by a signal or a debugger. A process of which
// nothing can be read is not.
func (i Identity) IsStopped() bool {
	stat, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(i.PID()), "stat"))
	_, rest, found := bytes.Cut(stat[max(0, bytes.LastIndexByte(stat, ')')):], []byte(") "))
	return found && len(rest) > 0 && (rest[0] == 'T' || rest[0] == 't')
}

// life is the state of a process in /proc.
type life int

const (
	unknown life = iota // it cannot be read
	ended               // reaped or not
	running
)

// startTicks reads when a process started.
func startTicks(proc string, pid int) (start uint64, is life) {
	stat, err := os.ReadFile(filepath.Join(proc, strconv.Itoa(pid), "stat"))
	switch {
	case errors.Is(err, unix.ESRCH):
		return 0, ended
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Stat(filepath.Join(proc, "self", "stat")); err == nil {
			return 0, ended
		}
		return 0, unknown // no /proc
	case err != nil:
		return 0, unknown
	}
	start, alive := parseStat(stat)
	if !alive {
		return 0, ended
	}
	return start, running
}

// parseStat reads the state and the start time, fields 3 and 22 of
// /proc/PID/stat (proc(5)). The name, field 2, may hold blanks and brackets.
func parseStat(stat []byte) (start uint64, alive bool) {
	end := bytes.LastIndexByte(stat, ')')
	if end < 0 {
		return 0, false
	}
	fields := bytes.Fields(stat[end+1:])
	if len(fields) < 20 || len(fields[0]) != 1 || bytes.ContainsAny(fields[0], "ZXx") {
		return 0, false
	}
	start, err := strconv.ParseUint(string(fields[19]), 10, 64)
	return start, err == nil
}

// pidNamespace returns the inode of the caller's pid namespace, 0 if unknown.
var pidNamespace = sync.OnceValue(func() uint64 {
	var st unix.Stat_t
	if unix.Stat("/proc/self/ns/pid", &st) != nil {
		return 0
	}
	return st.Ino
})

// Now returns CLOCK_MONOTONIC in nanoseconds, the clock of all times in a session.
func Now() int64 {
	var ts unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts) // cannot fail on Linux
	return ts.Nano()
}
