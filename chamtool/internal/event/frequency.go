package event

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

// ErrFrequency is returned if the machine does not report a frequency.
var ErrFrequency = errors.New("unknown core frequency")

// Frequencies is the frequency of every core at about one moment.
type Frequencies struct {
	mhz []float64 // by core, 0 where unknown
}

// MHz returns the frequency of a core, and whether it is known.
func (s Frequencies) MHz(core int) (float64, bool) {
	if core < 0 || core >= len(s.mhz) || s.mhz[core] <= 0 {
		return 0, false
	}
	return s.mhz[core], true
}

// NewFrequencies returns the sample of given frequencies, by core; 0 is unknown.
func NewFrequencies(mhz []float64) Frequencies { return Frequencies{mhz: mhz} }

// ReadFrequencies takes a sample from root, the root of the file system.
func ReadFrequencies(root fs.FS) (Frequencies, error) {
	if s, ok := readSysfs(root); ok {
		return s, nil
	}
	return readCpuinfo(root)
}

func readSysfs(root fs.FS) (Frequencies, bool) {
	var s Frequencies
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

func readCpuinfo(root fs.FS) (Frequencies, error) {
	text, err := fs.ReadFile(root, "proc/cpuinfo")
	if err != nil {
		return Frequencies{}, fmt.Errorf("%w: %w", ErrFrequency, err)
	}
	var s Frequencies
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
		return Frequencies{}, fmt.Errorf("%w: /proc/cpuinfo: %w", ErrFrequency, err)
	}
	if !known {
		return Frequencies{}, fmt.Errorf("%w: /proc/cpuinfo has no cpu MHz line", ErrFrequency)
	}
	return s, nil
}

// plausible keeps out what no core has run at.
func plausible(mhz float64) bool { return mhz > 1 && mhz < 20000 }
