package trace

import (
	"bufio"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/foretime/foretime/shared/file"
)

// ErrMachines is returned when a file of machines makes no sense.
var ErrMachines = errors.New("invalid .machines file")

// Machines is a group of equal nodes of the machine that a log is of.
type Machines struct {
	Name  string
	Nodes int
	CPUs  int // of a node
	// MemoryMB is that of a node; 0 if unknown.
	MemoryMB int64
}

// machinesOf reads the file of machines next to a log: LOG.machines, or else the one in its
// directory whose name, without .swf.machines, is the beginning of the log's name; nil if there
// is none.
func machinesOf(log string) ([]Machines, error) {
	base := strings.TrimSuffix(filepath.Base(log), ".gz")
	found, err := filepath.Glob(filepath.Join(filepath.Dir(log), "*.machines"))
	if err != nil {
		return nil, nil // a directory that is a pattern has no such file
	}
	best, longest := "", 0
	for _, path := range found {
		stem := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(path), ".machines"), ".swf")
		if strings.HasPrefix(base, stem) && len(stem) > longest {
			best, longest = path, len(stem)
		}
	}
	if best == "" {
		return nil, nil
	}
	return ReadMachines(best)
}

// ReadMachines reads a file with a line for each group of equal nodes, tabs
// between its columns: number, name, nodes, CPUs of a node, speed, memory of a node
// in KB, the last two of which may be missing. The error wraps ErrMachines.
func ReadMachines(path string) (groups []Machines, err error) {
	f, err := file.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		text := strings.TrimSpace(lines.Text())
		if text == "" {
			continue
		}
		field := strings.Split(text, "\t")
		if len(field) < 4 {
			return nil, fmt.Errorf("%s:%d: %w: %d columns, want at least 4", path, n, ErrMachines, len(field))
		}
		nodes, err1 := strconv.Atoi(field[2])
		cpus, err2 := strconv.Atoi(field[3])
		if err1 != nil || err2 != nil || nodes < 1 || cpus < 1 || nodes > 1<<24 || cpus > 1<<16 {
			return nil, fmt.Errorf("%s:%d: %w: %s nodes of %s CPUs", path, n, ErrMachines, field[2], field[3])
		}
		g := Machines{Name: field[1], Nodes: nodes, CPUs: cpus}
		if len(field) > 5 {
			kb, _ := strconv.ParseInt(field[5], 10, 64)
			g.MemoryMB = max(kb, 0) >> 10
		}
		groups = append(groups, g)
	}
	return groups, lines.Err()
}

// describe takes over what a file of machines says of an SWF log's.
func (t *Trace) describe(groups []Machines, procsPerNode int) {
	cpus := 0
	for _, g := range groups {
		cpus += g.Nodes * g.CPUs
	}
	t.Size, t.Machines = cpus/procsPerNode, groups
	if procsPerNode == 1 {
		t.Unit = Processors
	}
}
