package launch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/foretime/foretime/shared/file"
)

// cgroup is the kernel's own list of a run's processes: none escapes it. All
// its methods do nothing if no cgroup could be made.
type cgroup struct {
	path     string // cgroup v2; empty if none
	dir      *os.File
	weighted bool // it has the weight that was requested
}

// newCgroup makes a cgroup below the first of the directories that allows it, or, if the
// command has a weight, below the first that accepts it.
func newCgroup(s Settings, weight int) *cgroup {
	g := &cgroup{}
	for _, root := range s.Cgroup {
		path, dir := makeCgroup(root, weight)
		if path == "" {
			continue
		}
		g.remove()
		g.path, g.dir = path, dir
		g.weighted = weight > 0 && setWeight(path, weight)
		if g.weighted || weight == 0 {
			break
		}
	}
	return g
}

// setWeight sets the weight of a cgroup on the processor, and reports whether the kernel
// accepted it.
func setWeight(path string, weight int) bool {
	f, err := os.OpenFile(filepath.Join(path, "cpu.weight"), os.O_WRONLY, 0) // never made: a file that is missing is a controller that is missing
	if err != nil {
		return false
	}
	_, err = f.WriteString(strconv.Itoa(weight))
	return errors.Join(err, f.Close()) == nil
}

func makeCgroup(root string, weight int) (string, *os.File) {
	removeStale(root)
	if weight > 0 {
		_ = os.WriteFile(filepath.Join(root, "cgroup.subtree_control"), []byte("+cpu"), 0) // if that is allowed
	}
	path, err := makeMarked(root)
	if err != nil {
		return "", nil
	}
	_, err = os.Stat(filepath.Join(path, "cgroup.kill"))
	dir, openErr := os.Open(path)
	if err != nil || openErr != nil {
		if openErr == nil {
			dir.Close()
		}
		os.Remove(path)
		return "", nil
	}
	return path, dir
}

// cgroupName begins the names of the cgroups of a Runner in a process.
func cgroupName(pid int) string { return fmt.Sprintf("allox-est-%d-", pid) }

// ownerAttribute marks a cgroup as a Runner's: a cgroup cannot contain a file of
// ours, but the kernel keeps extended attributes of it. Its value is a
// [file.Owner] in JSON.
const ownerAttribute = "user.foretime.owner"

// makeMarked makes a cgroup below root and marks it. One that the kernel does not
// let us mark is used as well, and nobody else removes it.
func makeMarked(root string) (string, error) {
	path, err := os.MkdirTemp(root, cgroupName(os.Getpid()))
	if err != nil {
		return "", err
	}
	if owner, err := file.CurrentOwner(filepath.Base(path)); err == nil {
		if mark, err := json.Marshal(owner); err == nil {
			_ = unix.Setxattr(path, ownerAttribute, mark, 0)
		}
	}
	return path, nil
}

// removeStale ends and removes the cgroups of this user's Runners that were killed.
// It recognises them by their mark; a cgroup of a similar name is not touched.
func removeStale(root string) {
	self, err := file.CurrentOwner("")
	if err != nil {
		return
	}
	paths, _ := filepath.Glob(filepath.Join(root, "allox-est-*-*"))
	for _, path := range paths {
		mark := make([]byte, 4096)
		n, err := unix.Lgetxattr(path, ownerAttribute, mark)
		var owner file.Owner
		if err != nil || json.Unmarshal(mark[:n], &owner) != nil || owner.Name != filepath.Base(path) || !owner.Gone(self) {
			continue
		}
		killCgroup(path)
		_ = os.Remove(path) // the next Runner's turn if a process is still on its way out
	}
}

// attach makes cmd's process begin its life inside the cgroup.
func (g *cgroup) attach(cmd *exec.Cmd) {
	if g.path != "" {
		cmd.SysProcAttr.UseCgroupFD = true
		cmd.SysProcAttr.CgroupFD = int(g.dir.Fd())
	}
}

// cpu returns the processor time of all that ever ran in the cgroup.
func (g *cgroup) cpu() (time.Duration, bool) {
	if g == nil || g.path == "" {
		return 0, false
	}
	b, err := os.ReadFile(filepath.Join(g.path, "cpu.stat"))
	if err != nil {
		return 0, false
	}
	var us int64
	n, _ := fmt.Sscanf(string(b), "usage_usec %d\n", &us)
	return time.Duration(us) * time.Microsecond, n == 1
}

// kill ends every process in the cgroup.
func (g *cgroup) kill() {
	if g.path != "" {
		killCgroup(g.path)
	}
}

func killCgroup(path string) {
	f, err := os.OpenFile(filepath.Join(path, "cgroup.kill"), os.O_WRONLY, 0)
	if err != nil {
		return
	}
	defer f.Close()
	_, _ = f.WriteString("1")
}

// empty says that no process is left in the cgroup.
func (g *cgroup) empty() bool {
	if g.path == "" {
		return true
	}
	b, err := os.ReadFile(filepath.Join(g.path, "cgroup.procs"))
	return err != nil || len(bytes.TrimSpace(b)) == 0
}

// remove removes the cgroup; the run goes on without one.
func (g *cgroup) remove() {
	if g.path != "" {
		g.dir.Close()
		os.Remove(g.path)
		g.path, g.weighted = "", false
	}
}

// CgroupRoots returns the directories of this machine for Settings.Cgroup: this process's own
// cgroup, which a service manager may have delegated to it, and the root of cgroup v2. It
// is empty if cgroup v2 is not mounted.
func CgroupRoots() (roots []string) {
	for _, path := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/unified"} {
		if _, err := os.Stat(filepath.Join(path, "cgroup.controllers")); err == nil {
			if own := ownCgroup(); own != "" && own != "/" {
				roots = append(roots, filepath.Join(path, own))
			}
			return append(roots, path)
		}
	}
	return nil
}

// ownCgroup returns the path of this process's cgroup v2 below its root (cgroups(7)),
// or "" if the kernel does not say.
func ownCgroup() string {
	b, _ := os.ReadFile("/proc/self/cgroup")
	for line := range strings.Lines(string(b)) {
		if path, ok := strings.CutPrefix(strings.TrimSpace(line), "0::"); ok {
			return path
		}
	}
	return ""
}
