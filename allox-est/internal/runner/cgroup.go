package runner

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/foretime/foretime/shared/file"
)

// cgroup is the kernel's own list of a run's processes: none escapes it. All
// its methods do nothing where no cgroup could be made.
type cgroup struct {
	path string // cgroup v2; empty if none
	dir  *os.File
	old  []oldCgroup
	asks control
	done control // of it, what took effect
	inV2 control // of that, what path did
}

// oldCgroup is one of a hierarchy of cgroup v1.
type oldCgroup struct{ path, parent string }

// newCgroup makes a cgroup below the first of the folders of v2 that allows it,
// the first that takes the weight and the limits where any are asked for, and
// those of v1 for what is left.
func newCgroup(s Settings, c Command) *cgroup {
	g := &cgroup{asks: c.control()}
	for _, root := range s.Cgroup {
		path, dir := makeCgroup(root, g.asks)
		if path == "" {
			continue
		}
		g.abandon()
		g.path, g.dir = path, dir
		g.inV2 = g.asks.apply(path, files{"cpu.weight", "memory.max", "cpu.max"})
		g.done = g.inV2
		if g.done == g.asks {
			return g
		}
	}
	if left := g.asks.less(g.done); left.weight > 0 || left.cpus > 0 {
		g.addOld(s.Shares, control{weight: left.weight, cpus: left.cpus})
	}
	if left := g.asks.less(g.done); left.memory > 0 {
		g.addOld(s.Memory, control{memory: left.memory})
	}
	return g
}

// addOld makes a cgroup of v1 below root; one that does not take what is asked is
// none.
func (g *cgroup) addOld(root string, c control) {
	if root == "" {
		return
	}
	removeStale(root)
	path, err := makeMarked(root)
	if err != nil {
		return
	}
	if c.apply(path, files{"cpu.shares", "memory.limit_in_bytes", "cpu.cfs_quota_us"}) != c {
		os.Remove(path)
		return
	}
	g.old = append(g.old, oldCgroup{path, root})
	g.done = g.done.and(c)
}

func makeCgroup(root string, asks control) (string, *os.File) {
	removeStale(root)
	asks.enable(root)
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

// enter moves the calling thread into the cgroups of v1, which a child it forks
// inherits; leave moves it back.
func (g *cgroup) enter() error {
	for _, o := range g.old {
		if err := os.WriteFile(filepath.Join(o.path, "tasks"), []byte("0"), 0); err != nil {
			return fmt.Errorf("cgroup: %w", err)
		}
	}
	return nil
}

func (g *cgroup) leave() {
	for _, o := range g.old {
		_ = os.WriteFile(filepath.Join(o.parent, "tasks"), []byte("0"), 0)
	}
}

// cpu returns the processor time of all that ever ran in the cgroup.
func (g *cgroup) cpu() (time.Duration, bool) {
	if g.path == "" {
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

// killedForMemory says that the kernel ended a process at the memory limit.
func (g *cgroup) killedForMemory() bool {
	var paths []string
	if g.path != "" {
		paths = append(paths, filepath.Join(g.path, "memory.events"))
	}
	for _, o := range g.old {
		paths = append(paths, filepath.Join(o.path, "memory.oom_control"))
	}
	for _, path := range paths {
		b, _ := os.ReadFile(path)
		for line := range strings.Lines(string(b)) {
			if n, ok := strings.CutPrefix(line, "oom_kill "); ok && strings.TrimSpace(n) != "0" {
				return true
			}
		}
	}
	return false
}

// abandon gives up the v2 cgroup.
func (g *cgroup) abandon() {
	if g.path != "" {
		g.dir.Close()
		os.Remove(g.path)
		g.path, g.done, g.inV2 = "", g.done.less(g.inV2), control{}
	}
}

func (g *cgroup) remove() {
	g.abandon()
	for _, o := range g.old {
		os.Remove(o.path)
	}
}

// Hierarchies returns the folders of this machine that Settings.Cgroup,
// Settings.Shares and Settings.Memory name: this process's own cgroup, which a
// service manager may have delegated to it, and the root of cgroup v2; and the v1
// hierarchies of cpu and memory. Each is empty where it is not mounted.
func Hierarchies() (v2 []string, shares, memory string) {
	for _, path := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/unified"} {
		if _, err := os.Stat(filepath.Join(path, "cgroup.controllers")); err == nil {
			if own := ownCgroup(); own != "" && own != "/" {
				v2 = append(v2, filepath.Join(path, own))
			}
			v2 = append(v2, path)
			break
		}
	}
	return v2, hierarchy("cpu.shares", "cpu", "cpu,cpuacct"), hierarchy("memory.limit_in_bytes", "memory")
}

// hierarchy is the first folder of cgroup v1 that has a file.
func hierarchy(file string, names ...string) string {
	for _, name := range names {
		path := filepath.Join("/sys/fs/cgroup", name)
		if _, err := os.Stat(filepath.Join(path, file)); err == nil {
			return path
		}
	}
	return ""
}

// ownCgroup is the path of this process's cgroup v2 below its root (cgroups(7));
// empty where the kernel does not say.
func ownCgroup() string {
	b, _ := os.ReadFile("/proc/self/cgroup")
	for line := range strings.Lines(string(b)) {
		if path, ok := strings.CutPrefix(strings.TrimSpace(line), "0::"); ok {
			return path
		}
	}
	return ""
}
