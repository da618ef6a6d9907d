package timing

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"
)

// ErrNoProcess is returned when no process of a tree is left.
var ErrNoProcess = errors.New("no such process")

// userHz is the unit of the times in /proc/PID/stat. The kernel's ABI fixes it
// on every architecture Go knows (proc(5)).
const userHz = 100

// TreeUsage is the resource use of the live processes of a tree.
type TreeUsage struct {
	Processes int
	// CPU is the user and system time of the live processes and of their children
	// that ended and were waited for, with a resolution of 10 ms per process.
	CPU time.Duration
	// Wait is the time that threads were ready without a processor. Only a Meter
	// sets it.
	Wait time.Duration
	// Resident is the memory in RAM in bytes; shared pages count once per process.
	Resident int64
	// Parallel is the mean number of threads that needed a processor, over the time
	// that any did. Only a Meter sets it; 0 before two readings.
	Parallel float64
	// Peak is the largest Resident that a Meter has seen. Only a Meter sets it.
	Peak int64
	// Processor is the processor of the thread that ran longest since a Meter's
	// last reading; -1 if none ran, or if it is unknown. Only a Meter sets it.
	Processor int
}

// Processes reads process trees from a proc file system.
type Processes struct {
	Root string // "" means /proc
}

// Usage adds up the trees of the given processes. Processes that end during the
// call are left out. ErrNoProcess is returned if none is alive.
func (p Processes) Usage(pids ...int) (TreeUsage, error) {
	return p.usage(pids, func(int) {})
}

// usage returns what Usage returns, and calls visit for each living process.
func (p Processes) usage(pids []int, visit func(pid int)) (TreeUsage, error) {
	u := TreeUsage{Processor: -1}
	for _, pid := range p.Tree(pids...) {
		stat, err := p.stat(pid)
		if err != nil {
			continue
		}
		visit(pid)
		u.Processes++
		u.CPU += stat.cpu
		u.Resident += stat.resident
	}
	if u.Processes == 0 {
		return u, fmt.Errorf("process tree of %v: %w", pids, ErrNoProcess)
	}
	return u, nil
}

// Tree returns the given processes and all their descendants that are alive,
// parents first, each once.
func (p Processes) Tree(pids ...int) []int {
	seen := map[int]bool{}
	var tree []int
	add := func(pid int) {
		if !seen[pid] {
			seen[pid] = true
			tree = append(tree, pid)
		}
	}
	for _, pid := range pids {
		add(pid)
	}
	for i := 0; i < len(tree); i++ {
		for _, child := range p.Children(tree[i]) {
			add(child)
		}
	}
	return tree
}

// Children returns the children of a process, zombies included.
func (p Processes) Children(pid int) []int {
	var children []int
	for _, task := range p.threads(pid) {
		b, err := os.ReadFile(p.path(pid, "task", task, "children"))
		if err != nil {
			continue
		}
		for _, field := range bytes.Fields(b) {
			if child, err := strconv.Atoi(string(field)); err == nil {
				children = append(children, child)
			}
		}
	}
	return children
}

type processStat struct {
	cpu      time.Duration
	resident int64
}

// stat reads /proc/PID/stat. The name in parentheses may contain any character, so
// the fields are counted from its last closing parenthesis.
func (p Processes) stat(pid int) (processStat, error) {
	b, err := os.ReadFile(p.path(pid, "stat"))
	if err != nil {
		return processStat{}, err
	}
	f := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
	if len(f) < 22 {
		return processStat{}, fmt.Errorf("%s: %d fields", p.path(pid, "stat"), len(f))
	}
	var s processStat
	for _, field := range f[11:15] { // utime, stime, cutime, cstime: fields 14-17
		ticks, err := strconv.ParseInt(string(field), 10, 64)
		if err != nil {
			return s, fmt.Errorf("%s: %w", p.path(pid, "stat"), err)
		}
		s.cpu += time.Duration(ticks) * (time.Second / userHz)
	}
	pages, err := strconv.ParseInt(string(f[21]), 10, 64) // rss: field 24
	if err != nil {
		return s, fmt.Errorf("%s: %w", p.path(pid, "stat"), err)
	}
	s.resident = pages * int64(os.Getpagesize())
	return s, nil
}

// processor returns the last processor of a thread: field 39 of its stat.
func (p Processes) processor(pid int, thread string) int {
	b, err := os.ReadFile(p.path(pid, "task", thread, "stat"))
	if err != nil {
		return -1
	}
	f := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
	if len(f) < 37 {
		return -1
	}
	n, err := strconv.Atoi(string(f[36]))
	if err != nil {
		return -1
	}
	return n
}

// threads returns the threads of a process; none if it has ended.
func (p Processes) threads(pid int) []string {
	dir, err := os.Open(p.path(pid, "task"))
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	slices.Sort(names)
	return names
}

func (p Processes) path(pid int, parts ...string) string {
	return filepath.Join(append([]string{cmp.Or(p.Root, "/proc"), strconv.Itoa(pid)}, parts...)...)
}
