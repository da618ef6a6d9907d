package runner

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// cgroup is the kernel's own list of a run's processes: none escapes it. All
// its methods do nothing where no cgroup could be made.
type cgroup struct {
	path     string // cgroup v2; empty if none
	dir      *os.File
	shares   string // v1 cpu hierarchy; empty if not in use
	parent   string // v1 cgroup that the thread came from
	weighted bool
}

// newCgroup makes a cgroup below the first of the folders of v2 that allows it,
// the first that can weigh it where a weight is asked for, and one below v1 where
// that alone can.
func newCgroup(v2 []string, v1 string, weight int) *cgroup {
	g := &cgroup{}
	for _, root := range v2 {
		path, dir := makeCgroup(root)
		if path == "" {
			continue
		}
		g.abandon()
		g.path, g.dir = path, dir
		if weight == 0 {
			break
		}
		if os.WriteFile(filepath.Join(path, "cpu.weight"), []byte(strconv.Itoa(weight)), 0) == nil {
			g.weighted = true
			break
		}
	}
	if weight == 0 || g.weighted || v1 == "" {
		return g
	}
	removeStale(v1)
	path, err := os.MkdirTemp(v1, cgroupName(os.Getpid()))
	if err != nil {
		return g
	}
	// The default of shares is 1024 where that of weight is 100.
	if os.WriteFile(filepath.Join(path, "cpu.shares"), []byte(strconv.Itoa(max(2, weight*1024/100))), 0) != nil {
		os.Remove(path)
		return g
	}
	g.shares, g.parent, g.weighted = path, v1, true
	return g
}

func makeCgroup(root string) (string, *os.File) {
	removeStale(root)
	path, err := os.MkdirTemp(root, cgroupName(os.Getpid()))
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

// removeStale ends and removes the cgroups of Runners that were killed.
func removeStale(root string) {
	paths, _ := filepath.Glob(filepath.Join(root, "allox-est-*-*"))
	for _, path := range paths {
		var pid int
		if n, _ := fmt.Sscanf(filepath.Base(path), "allox-est-%d-", &pid); n != 1 || syscall.Kill(pid, 0) != syscall.ESRCH {
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

// enter moves the calling thread into the v1 cgroup, which a child it forks
// inherits; leave moves it back.
func (g *cgroup) enter() error {
	if g.shares == "" {
		return nil
	}
	if err := os.WriteFile(filepath.Join(g.shares, "tasks"), []byte("0"), 0); err != nil {
		return fmt.Errorf("cpu shares: %w", err)
	}
	return nil
}

func (g *cgroup) leave() {
	if g.shares != "" {
		_ = os.WriteFile(filepath.Join(g.parent, "tasks"), []byte("0"), 0)
	}
}

// cpu returns the processor time of all that ever ran in the cgroup.
func (g *cgroup) cpu() (time.Duration, bool) {
	if g.path == "" {
		return 0, false
	}
	b, err := os.ReadFile(filepath.Join(g.path, "cpu.stat"))
	rest, ok := bytes.CutPrefix(b, []byte("usage_usec "))
	if err != nil || !ok {
		return 0, false
	}
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	us, err := strconv.ParseInt(string(line), 10, 64)
	return time.Duration(us) * time.Microsecond, err == nil
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

// abandon gives up the v2 cgroup.
func (g *cgroup) abandon() {
	if g.path != "" {
		g.dir.Close()
		os.Remove(g.path)
		g.path, g.weighted = "", g.shares != ""
	}
}

func (g *cgroup) remove() {
	g.abandon()
	if g.shares != "" {
		os.Remove(g.shares)
	}
}

// Cgroups returns the folders of this machine that Settings.Cgroup and
// Settings.Shares name: this process's own cgroup, which a service manager may
// have delegated to it, and the root of cgroup v2; and the v1 cpu hierarchy. Each
// is empty where it is not mounted.
func Cgroups() (v2 []string, shares string) {
	for _, path := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/unified"} {
		if _, err := os.Stat(filepath.Join(path, "cgroup.controllers")); err == nil {
			if own := ownCgroup(); own != "" && own != "/" {
				v2 = append(v2, filepath.Join(path, own))
			}
			v2 = append(v2, path)
			break
		}
	}
	for _, path := range []string{"/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct"} {
		if _, err := os.Stat(filepath.Join(path, "cpu.shares")); err == nil {
			shares = path
			break
		}
	}
	return v2, shares
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
