package cpufreq

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

// ErrUnknown is returned when the machine does not tell a frequency.
var ErrUnknown = errors.New("core frequency unknown")

// Source says where a sample came from.
type Source string

// Where the kernel tells frequencies.
const (
	Sysfs   Source = "sysfs"
	Cpuinfo Source = "cpuinfo"
)

// Sample is the frequency of every core at about one moment.
type Sample struct {
	Source Source
	mhz    []float64 // by core, 0 where unknown
}

// MHz is the frequency of a core, and whether it is known.
func (s Sample) MHz(core int) (float64, bool) {
	if core < 0 || core >= len(s.mhz) || s.mhz[core] <= 0 {
		return 0, false
	}
	return s.mhz[core], true
}

// Of is the sample of given frequencies, by core; 0 is unknown.
func Of(mhz []float64) Sample { return Sample{mhz: mhz} }

// Cores is the number of cores the sample covers.
func (s Sample) Cores() int { return len(s.mhz) }

// Read takes a sample from root, the root of the file system.
func Read(root fs.FS) (Sample, error) {
	if s, ok := readSysfs(root); ok {
		return s, nil
	}
	return readCpuinfo(root)
}

func readSysfs(root fs.FS) (Sample, bool) {
	s := Sample{Source: Sysfs}
	for core, misses := 0, 0; misses < 8; core++ { // cores may be offline
		text, err := fs.ReadFile(root, fmt.Sprintf("sys/devices/system/cpu/cpu%d/cpufreq/scaling_cur_freq", core))
		kilohertz, bad := strconv.ParseFloat(strings.TrimSpace(string(text)), 64)
		if err != nil || bad != nil || !plausible(kilohertz/1000) {
			s.mhz = append(s.mhz, 0)
			misses++
			continue
		}
		s.mhz = append(s.mhz, kilohertz/1000)
		misses = 0
	}
	for len(s.mhz) > 0 && s.mhz[len(s.mhz)-1] == 0 {
		s.mhz = s.mhz[:len(s.mhz)-1]
	}
	return s, len(s.mhz) > 0
}

func readCpuinfo(root fs.FS) (Sample, error) {
	text, err := fs.ReadFile(root, "proc/cpuinfo")
	if err != nil {
		return Sample{}, fmt.Errorf("%w: %w", ErrUnknown, err)
	}
	s := Sample{Source: Cpuinfo}
	core, known := -1, false
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		key, value, _ := strings.Cut(lines.Text(), ":")
		value = strings.TrimSpace(value)
		switch strings.TrimSpace(key) {
		case "processor":
			if n, err := strconv.Atoi(value); err == nil && n >= 0 && n < 1<<16 {
				core = n
			}
		case "cpu MHz":
			mhz, err := strconv.ParseFloat(value, 64)
			if err != nil || core < 0 || !plausible(mhz) {
				continue
			}
			for len(s.mhz) <= core {
				s.mhz = append(s.mhz, 0)
			}
			s.mhz[core], known = mhz, true
		}
	}
	if err := lines.Err(); err != nil {
		return Sample{}, fmt.Errorf("%w: /proc/cpuinfo: %w", ErrUnknown, err)
	}
	if !known {
		return Sample{}, fmt.Errorf("%w: /proc/cpuinfo has no cpu MHz line", ErrUnknown)
	}
	return s, nil
}

// plausible keeps out what no core has run at.
func plausible(mhz float64) bool { return mhz > 1 && mhz < 20000 }
