package timing

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// Processes reads process trees from a proc file system.
type Processes struct {
	Root string // "" means /proc
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

// resident returns the memory of a process in RAM in bytes, from /proc/PID/stat. The
// name in parentheses there may contain any character, so the fields are counted from
// its last closing parenthesis.
func (p Processes) resident(pid int) (int64, error) {
	b, err := os.ReadFile(p.path(pid, "stat"))
	if err != nil {
		return 0, err
	}
	f := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
	if len(f) < 22 {
		return 0, fmt.Errorf("%s: %d fields", p.path(pid, "stat"), len(f))
	}
	pages, err := strconv.ParseInt(string(f[21]), 10, 64) // rss: field 24
	if err != nil {
		return 0, fmt.Errorf("%s: %w", p.path(pid, "stat"), err)
	}
	return pages * int64(os.Getpagesize()), nil
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
