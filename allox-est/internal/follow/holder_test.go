package follow

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// owned is a file of a user with permissions.
type owned struct {
	os.FileInfo
	mode fs.FileMode
	stat any
}

func (o owned) Mode() fs.FileMode { return o.mode }
func (o owned) Sys() any          { return o.stat }

// TestOnlyOwnerWrites: a file that others may write needs a look at their processes.
func TestOnlyOwnerWrites(t *testing.T) {
	me := &syscall.Stat_t{Uid: uint32(os.Geteuid())}
	other := &syscall.Stat_t{Uid: uint32(os.Geteuid()) + 1}
	for _, tt := range []struct {
		name string
		file owned
		want bool
	}{
		{"mine alone", owned{mode: 0o644, stat: me}, true},
		{"my group's", owned{mode: 0o664, stat: me}, false},
		{"everybody's", owned{mode: 0o646, stat: me}, false},
		{"of another user", owned{mode: 0o644, stat: other}, false},
		{"of an unknown user", owned{mode: 0o644}, false},
	} {
		if got := onlyOwnerWrites(tt.file); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// TestHoldersOf finds who has a file open for writing: not who reads it.
func TestHoldersOf(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	write(t, path, "")
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	open := func(flag int) *os.File {
		f, err := os.OpenFile(path, flag, 0)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	reader := open(os.O_RDONLY)
	defer reader.Close()
	if held, _ := holdersOf("/proc", info); len(held) != 0 {
		t.Errorf("a reader holds it: %v", held)
	}
	for _, flag := range []int{os.O_WRONLY, os.O_RDWR, os.O_WRONLY | os.O_APPEND} {
		f := open(flag)
		held, _ := holdersOf("/proc", info)
		if len(held) != 1 || !held[0].alive() || !held[0].hasOpen(info) {
			t.Errorf("flags %#x: %v", flag, held)
		}
		f.Close()
		if len(held) == 1 && held[0].hasOpen(info) {
			t.Error("a closed file is open")
		}
	}
	if _, seen := holdersOf("", info); seen {
		t.Error("processes are seen without a proc")
	}
}
