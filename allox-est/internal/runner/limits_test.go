package runner

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// limited runs a command within limits by this machine's cgroups, and skips the
// test where they cannot be set.
func limited(t *testing.T, c Command) *Result {
	t.Helper()
	v2, shares, memory := Hierarchies()
	res, err := New(Settings{Scratch: t.TempDir(), Cgroup: v2, Shares: shares, Memory: memory}).Run(t.Context(), c)
	if errors.Is(err, ErrLimit) {
		t.Skip("needs cgroups that can be written: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, root := range append(v2, shares, memory) {
		if left, _ := filepath.Glob(filepath.Join(root, cgroupName(os.Getpid())+"*")); root != "" && len(left) > 0 {
			t.Errorf("left: %v", left)
		}
	}
	return res
}

// A job that takes more memory than it may ends, and the reason is told.
func TestMemoryLimit(t *testing.T) {
	hold := []string{"sh", "-c", "head -c $BYTES /dev/zero | tail -c $BYTES | wc -c"}
	res := limited(t, Command{Args: hold, Env: append(os.Environ(), "BYTES=8000000"), MemoryBytes: 64 << 20})
	if res.Err != nil || strings.TrimSpace(res.Stdout()) != "8000000" {
		t.Errorf("within the limit: %v, %s", res.Err, res.Stdout())
	}
	for _, end := range []string{"", "; true"} { // also where nobody asks how it ended
		hold[2] = "head -c $BYTES /dev/zero | tail -c $BYTES >/dev/null" + end
		res = limited(t, Command{Args: hold, Env: append(os.Environ(), "BYTES=400000000"), MemoryBytes: 64 << 20})
		if !errors.Is(res.Err, ErrMemory) {
			t.Errorf("beyond the limit%s: %v", end, res.Err)
		}
	}
}

// A limit on processors is in the cgroup that the job runs in.
func TestCPULimit(t *testing.T) {
	res := limited(t, Command{Args: []string{"sh", "-c", `
for d in $(sed -n 's/^[0-9]*:cpu[^:]*://p; s/^0:://p' /proc/self/cgroup | grep allox-est)
do cat /sys/fs/cgroup/cpu/$d/cpu.cfs_quota_us /sys/fs/cgroup/$d/cpu.max 2>/dev/null
done; true`}, Env: os.Environ(), CPUs: 0.5})
	if got := strings.TrimSpace(res.Stdout()); !strings.HasPrefix(got, "50000") || res.Err != nil {
		t.Errorf("quota %q, %v", got, res.Err)
	}
}

// Where no cgroup can be made systemd-run makes one, here a stand-in; where there
// is none either the run is refused.
func TestScope(t *testing.T) {
	path := filepath.Join(t.TempDir(), "systemd-run")
	if err := os.WriteFile(path, []byte(`#!/bin/sh
for word; do shift; [ "$word" = -- ] && exec "$@"; echo "$word"; done
`), 0o700); err != nil {
		t.Fatal(err)
	}
	c := Command{Args: []string{"echo", "ran"}, Env: os.Environ(), MemoryBytes: 1 << 30, CPUs: 1.5}
	res, err := New(Settings{Scratch: t.TempDir(), SystemdRun: []string{path, "--scope"}}).Run(t.Context(), c)
	if err != nil || res.Err != nil {
		t.Fatal(err, res)
	}
	want := "--scope\n--property=MemoryMax=1073741824\n--property=CPUQuota=150%\nran\n"
	if res.Stdout() != want {
		t.Errorf("got %q, want %q", res.Stdout(), want)
	}
	if _, err := New(Settings{Scratch: t.TempDir()}).Run(t.Context(), c); !errors.Is(err, ErrLimit) || !errors.Is(err, ErrStart) {
		t.Errorf("nothing to hold it: %v", err)
	}
}
