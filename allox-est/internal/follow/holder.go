package follow

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// holder is an open file of a process, as proc lists it.
type holder struct{ process, fd, info string }

// alive says that the process still runs.
func (h holder) alive() bool {
	_, err := os.Stat(h.process)
	return err == nil
}

// holdersOf returns who has a file open for writing, by the process information in proc.
// Seen is false if processes may be hidden: those of other users.
func holdersOf(proc string, file os.FileInfo) (held []holder, seen bool) {
	processes, err := os.ReadDir(proc)
	if proc == "" || err != nil {
		return nil, false
	}
	seen = true
	for _, p := range processes {
		if _, err := strconv.Atoi(p.Name()); err != nil {
			continue
		}
		folder := filepath.Join(proc, p.Name(), "fd")
		fds, err := os.ReadDir(folder)
		if os.IsPermission(err) {
			seen = false
		}
		for _, fd := range fds {
			h := holder{filepath.Dir(folder), filepath.Join(folder, fd.Name()), filepath.Join(proc, p.Name(), "fdinfo", fd.Name())}
			if h.hasOpen(file) {
				held = append(held, h)
			}
		}
	}
	return held, seen
}

// hasOpen says that a process still has the file open for writing.
func (h holder) hasOpen(file os.FileInfo) bool {
	info, err := os.Stat(h.fd)
	if err != nil || !os.SameFile(info, file) {
		return false
	}
	text, err := os.ReadFile(h.info)
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(text)) {
		if flags, found := strings.CutPrefix(line, "flags:"); found {
			mode, err := strconv.ParseUint(strings.TrimSpace(flags), 8, 64)
			return err == nil && mode&3 != 0
		}
	}
	return false
}

// onlyOwnerWrites says that only this user may write a file: processes of others do not matter.
func onlyOwnerWrites(file os.FileInfo) bool {
	stat, known := file.Sys().(*syscall.Stat_t)
	return known && int(stat.Uid) == os.Geteuid() && file.Mode().Perm()&0o022 == 0
}

// shared are the types of file systems whose files processes of other machines may write
// (statfs(2)): NFS, SMB, Lustre, GPFS, BeeGFS, Ceph, AFS, 9P, FUSE.
var shared = []int64{0x6969, 0x517b, 0xfe534d42, 0xff534d42, 0x0bd00bd0, 0x47504653, 0x19830326, 0x00c36400, 0x5346414f, 0x01021997, 0x65735546}

// local says that only processes of this machine write files of a directory.
func local(path string) bool {
	var fs syscall.Statfs_t
	return syscall.Statfs(path, &fs) == nil && !slices.Contains(shared, int64(fs.Type))
}
