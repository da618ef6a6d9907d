package session

import (
	"math"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The futex operations of futex(2), between processes.
const (
	futexWait = 0
	futexWake = 1
)

// futexSleep waits while word holds value, at most for timeout.
func futexSleep(word unsafe.Pointer, value uint32, timeout time.Duration) {
	ts := unix.NsecToTimespec(int64(max(timeout, 0)))
	_, _, _ = unix.Syscall6(unix.SYS_FUTEX, uintptr(word), futexWait,
		uintptr(value), uintptr(unsafe.Pointer(&ts)), 0, 0)
}

// futexWakeAll wakes all waiters of word.
func futexWakeAll(word unsafe.Pointer) {
	_, _, _ = unix.Syscall6(unix.SYS_FUTEX, uintptr(word), futexWake, math.MaxInt32, 0, 0, 0)
}
