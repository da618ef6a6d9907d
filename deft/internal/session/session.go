package session

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Returned when a session cannot be mapped.
var (
	ErrNotSession = errors.New("not a deft session")
	ErrVersion    = errors.New("session of another deft version")
	ErrUnsafe     = errors.New("other users can change the session file")
	ErrOwned      = errors.New("the session already has an owner")
)

// Options holds the settings of a new session. The zero value works.
type Options struct {
	// IdleAfter ends an unmarked job that launches nothing for so long;
	// 0 is 50 ms. The owner applies it in [Session.EndIdle].
	IdleAfter time.Duration
	// OwnerTimeout is the time for which clients obey an owner without a heartbeat; 0
	// is one second. A dead owner is noticed sooner.
	OwnerTimeout time.Duration
}

// Session is a mapped session. Its methods may be called from many goroutines.
type Session struct {
	file *os.File
	data []byte
	*region
	self     Identity // set in the owner
	reapFrom int      // slot with which the next [Session.Reap] begins
}

// Create creates a session in a new plain file of mode 0600 and becomes its owner. A process
// that can truncate the file, of the same user, can kill every process that has it mapped. The
// file stays until it is removed.
func Create(path string, o Options) (*Session, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("session: %w", err)
	}
	if err := reserveFile(f); err != nil {
		return nil, errors.Join(fmt.Errorf("session: %s: %w", path, err), f.Close(), os.Remove(path))
	}
	s, err := mapFile(f)
	if err != nil {
		return nil, err
	}
	h := &s.header
	h.version.Store(Version)
	h.headerSize.Store(headerSize)
	h.slotSize.Store(slotSize)
	h.slotCount.Store(Slots)
	h.size.Store(size)
	h.idleNs.Store(uint64(cmp.Or(o.IdleAfter, 50*time.Millisecond)))
	h.ownerTimeoutNs.Store(uint64(cmp.Or(o.OwnerTimeout, time.Second)))
	h.magic.Store(Magic) // last: from here on it is a session
	if err := s.Own(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// reserveFile allocates all memory of a session. On a full file system it returns an error,
// where touching the session later would be a SIGBUS.
func reserveFile(f *os.File) error {
	err := unix.Fallocate(int(f.Fd()), 0, 0, size)
	if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOSYS) {
		_, err = f.WriteAt(make([]byte, size), 0) // nobody has it mapped yet
	}
	if err != nil {
		return noRoom(err)
	}
	return nil
}

func noRoom(err error) error { return fmt.Errorf("%w: a session needs %d bytes", err, size) }

// Open maps the session at path, to watch it or, with [Session.Own], to take
// it over from an owner that has died. The path may be a link to /proc/PID/fd/N of a
// process that has it open.
func Open(path string) (*Session, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("session: %w", err)
	}
	err = checkFile(f)
	if err == nil && errors.Is(unix.Fallocate(int(f.Fd()), 0, 0, size), unix.ENOSPC) {
		err = noRoom(unix.ENOSPC) // one that cannot be extended otherwise is whole, or its maker wrote it
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("session: %s: %w", path, err), f.Close())
	}
	s, err := mapFile(f)
	if err != nil {
		return nil, err
	}
	if err := s.check(); err != nil {
		return nil, errors.Join(fmt.Errorf("session: %s: %w", path, err), s.Close())
	}
	return s, nil
}

// checkFile returns an error if f is too small or could shrink, or is not private to the
// user.
func checkFile(f *os.File) error {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return err
	}
	switch {
	case st.Mode&unix.S_IFMT != unix.S_IFREG:
		return fmt.Errorf("%w: not a regular file", ErrNotSession)
	case st.Size < size:
		return fmt.Errorf("%w: %d bytes, want %d", ErrNotSession, st.Size, size)
	case int(st.Uid) != os.Geteuid() || st.Mode&0o077 != 0:
		return fmt.Errorf("%w: owned by user %d, mode %#o", ErrUnsafe, st.Uid, st.Mode&0o777)
	}
	return nil
}

// check reads the header.
func (s *Session) check() error {
	h := &s.header
	switch {
	case h.magic.Load() != Magic:
		return fmt.Errorf("%w: magic %#x", ErrNotSession, h.magic.Load())
	case h.version.Load() != Version:
		return fmt.Errorf("%w: %d, want %d", ErrVersion, h.version.Load(), Version)
	case h.headerSize.Load() != headerSize, h.slotSize.Load() != slotSize, h.slotCount.Load() != Slots, h.size.Load() != size:
		return fmt.Errorf("%w: sizes %d + %d x %d = %d", ErrVersion,
			h.headerSize.Load(), h.slotCount.Load(), h.slotSize.Load(), h.size.Load())
	}
	return nil
}

func mapFile(f *os.File) (*Session, error) {
	data, err := unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("session: %s: mmap: %w", f.Name(), err), f.Close())
	}
	return &Session{file: f, data: data, region: (*region)(unsafe.Pointer(&data[0]))}, nil
}

// Path returns the path at which the session was created or opened.
func (s *Session) Path() string { return s.file.Name() }

// IsAt reports whether the session is found at a path.
func (s *Session) IsAt(path string) bool {
	own, err := s.file.Stat()
	at, missing := os.Stat(path)
	return err == nil && missing == nil && os.SameFile(own, at)
}

// LinkAt makes a link to the session, whose file was removed, at a path. It leads there while
// this process runs.
func (s *Session) LinkAt(path string) error {
	return os.Symlink(fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), s.file.Fd()), path)
}

// IdleAfter returns the time without launches after which an unmarked job has ended.
func (s *Session) IdleAfter() time.Duration { return time.Duration(s.header.idleNs.Load()) }

// Close ends the ownership, opens every gate if this process was the owner, and unmaps the
// session: no other method may be called afterwards.
func (s *Session) Close() error {
	s.Disown()
	return errors.Join(unix.Munmap(s.data), s.file.Close())
}
