package daemon

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"syscall"

	"github.com/foretime/foretime/deft/session"
)

// Returned when a session cannot be owned.
var (
	// ErrOwned is returned where another process is the owner.
	ErrOwned = errors.New("another process owns it")
	// ErrPlace is returned for a folder or name that cannot hold a session.
	ErrPlace = errors.New("no place for a session")
)

// Place is where the files of one session lie: the session itself, the socket
// of its owner, the lock that the owner holds, its log, and the simulated
// device.
type Place struct{ dir, name string }

var plain = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,30}$`)

// At is the place of a named session in a folder, which is made for this user
// alone where it is absent.
func At(dir, name string) (Place, error) {
	if !plain.MatchString(name) {
		return Place{}, fmt.Errorf("daemon: %w: a session named %q", ErrPlace, name)
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return Place{}, fmt.Errorf("daemon: %w", err)
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return Place{}, fmt.Errorf("daemon: %w", err)
	}
	if st, ok := info.Sys().(*syscall.Stat_t); !info.IsDir() || info.Mode().Perm()&0o077 != 0 || !ok || int(st.Uid) != os.Geteuid() {
		return Place{}, fmt.Errorf("daemon: %w: %s is not a folder of this user alone", ErrPlace, dir)
	}
	return Place{dir, name}, nil
}

// Name is the session's name.
func (p Place) Name() string { return p.name }

// Session is the path of the session, for DEFT_SESSION of its clients.
func (p Place) Session() string { return p.file("session") }

// Device is the path of the simulated device of the session's clients.
func (p Place) Device() string { return p.file("device") }

// Log is the path of what an owner in the background writes.
func (p Place) Log() string { return p.file("log") }

func (p Place) socket() string { return p.file("socket") }

func (p Place) file(kind string) string { return filepath.Join(p.dir, p.name+"."+kind) }

// lock makes this process the one that may own the session; the lock ends with
// it. The error matches ErrOwned.
func (p Place) lock() (*os.File, error) { return Lock(p.file("lock"), os.O_RDWR|os.O_CREATE) }

// Lock opens a file or folder and locks it for this process, however that ends. The
// error matches ErrOwned where another has it, or took it away meanwhile.
func Lock(path string, flag int) (*os.File, error) {
	f, err := os.OpenFile(path, flag, 0o600)
	if err != nil {
		return nil, fmt.Errorf("daemon: %w", err)
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	held, err1 := f.Stat()
	now, err2 := os.Lstat(path)
	if err != nil || err1 != nil || err2 != nil || !os.SameFile(held, now) {
		return nil, errors.Join(fmt.Errorf("daemon: %s: %w", path, ErrOwned), f.Close())
	}
	return f, nil
}

// remove takes away the files of a session that nobody uses. The caller holds
// the lock.
func (p Place) remove() {
	for _, kind := range []string{"session", "socket", "device", "log", "lock"} {
		_ = os.Remove(p.file(kind)) // what is not there need not go
	}
}

// Clean removes what an owner that was killed has left, where no client uses it
// any more.
func (p Place) Clean() error {
	if _, err := os.Lstat(p.Session()); errors.Is(err, fs.ErrNotExist) {
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
	s, err := session.Open(p.Session())
	if err == nil {
		defer s.Close()
		if living(s) > 0 {
			return nil
		}
	}
	p.remove()
	return nil
}

// living is how many clients of a session there are.
func living(s *session.Session) int {
	n := 0
	for _, c := range s.Clients() {
		if c.Living() {
			n++
		}
	}
	return n
}
