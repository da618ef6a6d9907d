package diagnosis

import (
	"debug/elf"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// ReasonUnhooked returns the reason why a preloaded library does not reach a program; "" if
// its file shows none. A script is treated like its interpreter.
func ReasonUnhooked(path string) string {
	for range 4 { // an interpreter may be a script
		interpreter := shebang(path)
		if interpreter == "" {
			break
		}
		path = interpreter
	}
	if hasPrivileges(path) {
		return "changes its user, group or capabilities when it starts"
	}
	f, err := elf.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	i := slices.IndexFunc(f.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP })
	if i < 0 {
		return "is statically linked"
	}
	if loader, err := io.ReadAll(io.LimitReader(f.Progs[i].Open(), 4096)); err == nil && strings.Contains(string(loader), "ld-musl") {
		return "uses musl libc, not the GNU one"
	}
	libraries, err := f.ImportedLibraries()
	if err == nil && slices.ContainsFunc(libraries, func(l string) bool { return strings.HasPrefix(l, "libasan.") }) {
		return "uses AddressSanitizer, which must be loaded first"
	}
	return ""
}

// shebang returns the interpreter that a script names; "" for other files. What env(1)
// would find is looked up.
func shebang(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	head := make([]byte, 256)
	n, _ := io.ReadFull(f, head)
	line, _, _ := strings.Cut(string(head[:n]), "\n")
	words := strings.Fields(strings.TrimPrefix(line, "#!"))
	if !strings.HasPrefix(line, "#!") || len(words) == 0 {
		return ""
	}
	if filepath.Base(words[0]) == "env" {
		for _, word := range words[1:] {
			if !strings.HasPrefix(word, "-") && !strings.Contains(word, "=") {
				found, _ := exec.LookPath(word) // "" if there is none
				return found
			}
		}
	}
	return words[0]
}

// hasPrivileges reports whether the loader ignores preloaded libraries for a program: one
// that is set-user-ID or set-group-ID, or has capabilities (ld.so(8), secure-execution mode).
func hasPrivileges(path string) bool {
	info, err := os.Stat(path)
	if err != nil {
		return false
	}
	size, err := unix.Getxattr(path, "security.capability", nil)
	return info.Mode()&(fs.ModeSetuid|fs.ModeSetgid) != 0 || err == nil && size > 0
}
