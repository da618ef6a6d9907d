package session

import (
	"bytes"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// Identity is a process as one word: its id in the upper half, the low 32 bits
// of its start time in clock ticks (field 22 of /proc/PID/stat) in the lower.
// A process that got the id of a dead one has another identity. 0 is none.
type Identity uint64

// Self is the identity of the calling process.
func Self() (Identity, error) {
	pid := os.Getpid()
	start, alive := startTicks(pid)
	if !alive {
		return 0, fmt.Errorf("session: /proc/%d/stat: cannot be read; is /proc mounted?", pid)
	}
	return identity(pid, start), nil
}

func identity(pid int, start uint64) Identity {
	return Identity(uint64(uint32(pid))<<32 | start&0xffffffff)
}

// PID is the process id, as seen in the pid namespace of the process itself.
func (i Identity) PID() int { return int(int32(i >> 32)) }

// Alive says whether the process still runs. A zombie does not.
func (i Identity) Alive() bool {
	if i.PID() <= 0 {
		return false
	}
	start, alive := startTicks(i.PID())
	return alive && identity(i.PID(), start) == i
}

// startTicks reads when a process started; alive is false for one that has
// ended, reaped or not.
func startTicks(pid int) (start uint64, alive bool) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, false
	}
	return parseStat(stat)
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

// pidNamespace is the inode of the caller's pid namespace, 0 if unknown.
func pidNamespace() uint64 {
	var st unix.Stat_t
	if unix.Stat("/proc/self/ns/pid", &st) != nil {
		return 0
	}
	return st.Ino
}

// Now is CLOCK_MONOTONIC in nanoseconds, the clock of all times in a session.
func Now() int64 {
	var ts unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts) // cannot fail on Linux
	return ts.Nano()
}
