package daemon

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"syscall"

	"github.com/foretime/foretime/deft/internal/session"
	"github.com/foretime/foretime/shared/file"
)

// Returned when a session cannot be owned.
var (
	// ErrOwned is returned if another process is the owner.
	ErrOwned = errors.New("another process is the owner")
	// ErrPlace is returned for a directory or name that cannot hold a session.
	ErrPlace = errors.New("cannot create a session")
	// ErrDirectory is returned, with ErrPlace, for a directory that is not this user's
	// alone, or cannot be made.
	ErrDirectory = errors.New("not a private directory of this user")
	// ErrForeign is returned for a file at a session's path that is not a session.
	ErrForeign = errors.New("this file was not written by deft")
	// ErrRemoved is noticed, not returned: the owner has mended it.
	ErrRemoved = errors.New("the session's files were removed while it was in use, and made again (systemd-logind does so after the last logout: loginctl enable-linger)")
)

// Place holds the paths of the files of one session: the session itself, the socket
// of its owner, the lock that the owner holds, its log, and the simulated
// device.
type Place struct{ dir, name string }

var validName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,30}$`)

// NewPlace returns the place of a named session in a directory, which it creates for this
// user alone if it is missing.
func NewPlace(dir, name string) (Place, error) {
	if !validName.MatchString(name) {
		return Place{}, fmt.Errorf("daemon: %w: the name %q is not valid", ErrPlace, name)
	}
	p := Place{dir, name}
	if n := len(p.path("session")); n > longestPath {
		return Place{}, fmt.Errorf("daemon: %w: %s: the path has %d bytes, a socket's at most %d", ErrPlace, p.path("session"), n, longestPath)
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return Place{}, fmt.Errorf("daemon: %w: %w: %w", ErrPlace, ErrDirectory, err)
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return Place{}, fmt.Errorf("daemon: %w: %w: %w", ErrPlace, ErrDirectory, err)
	}
	if why := whyShared(info); why != "" {
		return Place{}, fmt.Errorf("daemon: %w: %w: %s %s", ErrPlace, ErrDirectory, dir, why)
	}
	return p, nil
}

// longestPath is the size of a socket's address in bytes, without its final NUL (unix(7)).
const longestPath = 107

// whyShared returns the reason why a directory is not private to this user, or "".
func whyShared(info fs.FileInfo) string {
	st, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !ok:
		return "has no known owner"
	case int(st.Uid) != os.Geteuid():
		return fmt.Sprintf("belongs to user %d, not to user %d", st.Uid, os.Geteuid())
	case info.Mode()&fs.ModeSymlink != 0:
		return "is a symbolic link"
	case !info.IsDir():
		return "is not a directory"
	case info.Mode().Perm()&0o077 != 0:
		return fmt.Sprintf("has mode %04o, so others can enter it; run chmod 700", info.Mode().Perm())
	}
	return ""
}

// Name returns the session's name.
func (p Place) Name() string { return p.name }

// Session returns the path of the session, for DEFT_SESSION of its clients.
func (p Place) Session() string { return p.path("session") }

// Device returns the path of the simulated device of the session's clients.
func (p Place) Device() string { return p.path("device") }

// Log returns the path of the log of an owner in the background.
func (p Place) Log() string { return p.path("log") }

// logHeader is the first line of a log; a file without it is not deft's.
const logHeader = "log of the owner of a deft session\n"

// deviceHeader holds the first bytes of a simulated device.
const deviceHeader = "simcuda3"

// OpenLog opens the log to append. The error matches ErrForeign for a file that is
// not deft's.
func (p Place) OpenLog() (*os.File, error) {
	f, err := os.OpenFile(p.Log(), os.O_CREATE|os.O_APPEND|os.O_RDWR|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, fmt.Errorf("daemon: %w", err)
	}
	switch info, err := f.Stat(); {
	case err == nil && info.Size() == 0:
		if _, err := f.WriteString(logHeader); err != nil {
			return nil, errors.Join(fmt.Errorf("daemon: %w", err), f.Close())
		}
	case err != nil || !hasPrefix(p.Log(), logHeader):
		return nil, errors.Join(fmt.Errorf("daemon: %s: %w", p.Log(), ErrForeign), err, f.Close())
	}
	return f, nil
}

// hasPrefix reports whether a regular file begins with a text, or was left before anything was
// written: empty, or with zeros.
func hasPrefix(path, text string) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	b := make([]byte, len(text))
	n, _ := io.ReadFull(f, b)
	return string(b[:n]) == text || len(bytes.Trim(b[:n], "\x00")) == 0
}

func (p Place) socket() string { return p.path("socket") }

func (p Place) path(kind string) string { return filepath.Join(p.dir, p.name+"."+kind) }

// lock makes this process the one that may own the session; the lock ends with
// it. The error matches ErrOwned.
func (p Place) lock() (*os.File, error) { return Lock(p.path("lock"), os.O_RDWR|os.O_CREATE) }

// Lock opens a file or directory and locks it until this process ends. The error matches
// ErrOwned if another process holds the lock, or has removed the file meanwhile.
func Lock(path string, flag int) (*os.File, error) {
	f, err := os.OpenFile(path, flag, 0o600)
	if err != nil {
		return nil, fmt.Errorf("daemon: %w", err)
	}
	if err = file.TryLock(f); err != nil && !errors.Is(err, file.ErrInUse) {
		return nil, errors.Join(fmt.Errorf("daemon: %w", err), f.Close())
	}
	held, err1 := f.Stat()
	now, err2 := os.Lstat(path)
	if err != nil || err1 != nil || err2 != nil || !os.SameFile(held, now) {
		return nil, errors.Join(fmt.Errorf("daemon: %s: %w", path, ErrOwned), f.Close())
	}
	return f, nil
}

// RestoreSession makes a session's file again if it was removed: by a link to that of this
// process. It returns an error if another session took the place.
func (p Place) RestoreSession(s *session.Session) error {
	if s.IsAt(p.Session()) {
		return nil
	}
	if _, err := NewPlace(p.dir, p.name); err != nil {
		return err
	}
	if _, err := os.Stat(p.Session()); errors.Is(err, fs.ErrNotExist) {
		_ = os.Remove(p.Session()) // a link to the session of a process that has ended
	}
	return s.LinkAt(p.Session())
}

// removeFiles removes the files of an unused session. The caller holds the lock.
func (p Place) removeFiles() {
	_ = os.Remove(p.Session()) // what is not there need not go
	if info, err := os.Lstat(p.socket()); err == nil && info.Mode()&fs.ModeSocket != 0 {
		_ = os.Remove(p.socket())
	}
	if hasPrefix(p.Device(), deviceHeader) {
		_ = os.Remove(p.Device())
	}
	if hasPrefix(p.Log(), logHeader) {
		_ = os.Remove(p.Log())
	}
	if info, err := os.Lstat(p.path("lock")); err == nil && info.Mode().IsRegular() && info.Size() == 0 {
		_ = os.Remove(p.path("lock"))
	}
}

// Clean removes the files of a killed owner if no client uses them.
func (p Place) Clean() error {
	if left, _ := filepath.Glob(p.path("*")); len(left) == 0 { // the name is no pattern
		return nil
	}
	lock, err := p.lock()
	if errors.Is(err, ErrOwned) {
		return nil
	}
	if err != nil {
		return err
	}
	defer lock.Close()
	switch s, err := session.Open(p.Session()); {
	case err == nil:
		defer s.Close()
		if hasClients(s) {
			return nil
		}
	case errors.Is(err, fs.ErrNotExist): // a program that was still running made them again
	case !errors.Is(err, session.ErrVersion) && !isUnwritten(p.Session()):
		return nil // a file that is not ours
	}
	p.removeFiles()
	return nil
}

// isUnwritten reports whether a file was left by an owner that was killed before it wrote a
// session's first byte: it belongs to this user, is empty or as large as a session, and
// contains only zeros.
func isUnwritten(path string) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() != 0 && info.Size() != session.Size {
		return false
	}
	if st, ok := info.Sys().(*syscall.Stat_t); !ok || int(st.Uid) != os.Geteuid() {
		return false
	}
	b, err := os.ReadFile(path)
	return err == nil && len(bytes.Trim(b, "\x00")) == 0
}

// hasClients reports whether a session has a living client.
func hasClients(s *session.Session) bool {
	return slices.ContainsFunc(s.Clients(), session.Client.Living)
}
