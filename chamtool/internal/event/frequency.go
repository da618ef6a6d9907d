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

// Frequencies holds the MHz of every core at about one moment, 0 where unknown.
type Frequencies []float64

// MHz returns the frequency of a core, and whether it is known.
func (s Frequencies) MHz(core int) (float64, bool) {
	if core < 0 || core >= len(s) || s[core] <= 0 {
		return 0, false
	}
	return s[core], true
}

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
		if err != nil || bad != nil || !IsFrequency(kilohertz/1000) {
			s = append(s, 0)
			misses++
			continue
		}
		s = append(s, kilohertz/1000)
		misses = 0
	}
	for len(s) > 0 && s[len(s)-1] == 0 {
		s = s[:len(s)-1]
	}
	return s, len(s) > 0
}

func readCpuinfo(root fs.FS) (Frequencies, error) {
	text, err := fs.ReadFile(root, "proc/cpuinfo")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFrequency, err)
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
			if err != nil || core < 0 || !IsFrequency(mhz) {
				continue
			}
			for len(s) <= core {
				s = append(s, 0)
			}
			s[core], known = mhz, true
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%w: /proc/cpuinfo: %w", ErrFrequency, err)
	}
	if !known {
		return nil, fmt.Errorf("%w: /proc/cpuinfo has no cpu MHz line", ErrFrequency)
	}
	return s, nil
}

// IsFrequency reports whether a number can be the MHz of a core.
func IsFrequency(mhz float64) bool { return 100 <= mhz && mhz <= 10_000 }
