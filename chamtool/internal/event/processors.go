package event

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"time"
)

// ErrProcessorUse is returned if the system does not report the CPU time of all programs.
var ErrProcessorUse = errors.New("unknown CPU time of all programs")

// ProcessorUse is the CPU time that all programs of a machine took since it started. That which the
// machine itself had no processor in, since it is a virtual one, counts too.
type ProcessorUse struct {
	Busy       time.Duration
	Processors int // online
}

// tick is the unit of /proc/stat on every architecture of Linux.
const tick = time.Second / 100

// ReadProcessorUse reads it from root, the root of the file system.
func ReadProcessorUse(root fs.FS) (ProcessorUse, error) {
	f, err := root.Open("proc/stat")
	if err != nil {
		return ProcessorUse{}, fmt.Errorf("%w: %w", ErrProcessorUse, err)
	}
	defer f.Close()
	var l ProcessorUse
	for lines := bufio.NewScanner(f); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		switch {
		case len(fields) == 0 || !strings.HasPrefix(fields[0], "cpu"):
		case fields[0] != "cpu":
			l.Processors++
		case len(fields) < 9:
			return ProcessorUse{}, fmt.Errorf("%w: proc/stat: %d fields of cpu, want 8 or more", ErrProcessorUse, len(fields)-1)
		default: // user, nice, system, idle, waiting for disks, interrupts, soft interrupts, stolen
			for _, i := range []int{1, 2, 3, 6, 7, 8} {
				n, err := strconv.ParseInt(fields[i], 10, 63)
				if err != nil {
					return ProcessorUse{}, fmt.Errorf("%w: proc/stat: %w", ErrProcessorUse, err)
				}
				l.Busy += time.Duration(n) * tick
			}
		}
	}
	if l.Processors == 0 {
		return ProcessorUse{}, fmt.Errorf("%w: proc/stat names no processor", ErrProcessorUse)
	}
	return l, nil
}
