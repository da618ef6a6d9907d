package launch

import (
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// terminal is the controlling terminal of this process; nil if there is none. While the
// user's job runs in its foreground, keys signal the job alone.
type terminal struct{ fd int }

// openTerminal returns the controlling terminal.
func openTerminal() *terminal {
	fd, err := unix.Open("/dev/tty", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	return &terminal{fd}
}

// shows reports whether a process group is in the foreground.
func (t *terminal) shows(group int) bool {
	if t == nil {
		return false
	}
	front, err := unix.IoctlGetInt(t.fd, unix.TIOCGPGRP)
	return err == nil && front == group
}

// pass gives the foreground from one process group to another.
func (t *terminal) pass(from, to int) {
	if t.shows(from) {
		t.give(to)
	}
}

// give puts a process group into the foreground.
func (t *terminal) give(to int) {
	signal.Ignore(syscall.SIGTTOU) // a group in the background is stopped for the call
	_ = unix.IoctlSetPointerInt(t.fd, unix.TIOCSPGRP, to)
}

func (t *terminal) close() {
	if t != nil {
		unix.Close(t.fd)
	}
}
