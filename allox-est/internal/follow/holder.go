package follow

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// holder is an open file of a process, as proc lists it.
type holder struct{ fd, info string }

// writers returns who has a file open for writing, by the process information in proc.
// Seen is false if processes may be hidden: those of other users.
func writers(proc string, file os.FileInfo) (held []holder, seen bool) {
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
			h := holder{filepath.Join(folder, fd.Name()), filepath.Join(proc, p.Name(), "fdinfo", fd.Name())}
			if h.holds(file) {
				held = append(held, h)
			}
		}
	}
	return held, seen
}

// holds says that a process still has the file open for writing.
func (h holder) holds(file os.FileInfo) bool {
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

// own says that only this user may write a file: processes of others do not matter.
func own(file os.FileInfo) bool {
	stat, known := file.Sys().(*syscall.Stat_t)
	return known && int(stat.Uid) == os.Geteuid() && file.Mode().Perm()&0o022 == 0
}
