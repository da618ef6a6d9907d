package follow

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/foretime/foretime/shared/crash"
)

// waker signals each time that a file is written, as the kernel reports it. Its zero value
// never signals: then the file must be polled.
type waker struct {
	events *os.File
	writes chan struct{}
}

// wakerOf returns the waker of a file; one that never signals where the kernel does not
// report all writes, as on the file systems of other machines.
func wakerOf(path string) waker {
	if !local(path) {
		return waker{}
	}
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return waker{}
	}
	w := waker{os.NewFile(uintptr(fd), "inotify"), make(chan struct{}, 1)}
	if _, err := unix.InotifyAddWatch(fd, path, unix.IN_MODIFY|unix.IN_CLOSE_WRITE); err != nil {
		w.close()
		return waker{}
	}
	crash.Go(func() {
		for buf := make([]byte, 4<<10); ; {
			if _, err := w.events.Read(buf); err != nil {
				return // it was closed
			}
			select {
			case w.writes <- struct{}{}:
			default: // one signal waits already
			}
		}
	})
	return w
}

func (w waker) close() {
	if w.events != nil {
		w.events.Close()
	}
}
