package session

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// full mounts a small file system with some kilobytes free.
func full(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("skipped: a small file system cannot be mounted: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	return dir
}

// On a full file system a session is not made, and one that another process made
// without its memory is not mapped: both would end in a SIGBUS.
func TestFullFileSystem(t *testing.T) {
	path := filepath.Join(full(t, "64k"), "x.session")
	if _, err := Create(path, Options{}); !errors.Is(err, unix.ENOSPC) {
		t.Errorf("made: %v", err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("left: %v", err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, Size); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path); !errors.Is(err, unix.ENOSPC) {
		t.Errorf("opened: %v", err)
	}
	enough := filepath.Join(full(t, "128k"), "x.session")
	s, err := Create(enough, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var st unix.Stat_t
	if err := unix.Stat(enough, &st); err != nil || st.Blocks*512 < Size {
		t.Errorf("%d bytes are allocated, want %d, %v", st.Blocks*512, Size, err)
	}
}
