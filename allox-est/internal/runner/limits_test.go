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
	roots := CgroupRoots()
	res, err := New(Settings{Scratch: t.TempDir(), Cgroup: roots}).Run(t.Context(), c)
	if errors.Is(err, ErrLimit) {
		t.Skip("needs cgroups that can be written: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, root := range roots {
		if left, _ := filepath.Glob(filepath.Join(root, cgroupName(os.Getpid())+"*")); len(left) > 0 {
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
cat /sys/fs/cgroup/$(sed -n 's/^0:://p' /proc/self/cgroup)/cpu.max`}, Env: os.Environ(), CPUs: 0.5})
	if got := strings.TrimSpace(res.Stdout()); !strings.HasPrefix(got, "50000") || res.Err != nil {
		t.Errorf("quota %q, %v", got, res.Err)
	}
}

// TestControl: each setting goes into its controller's file; one without a file was not
// granted, and a limit that was not granted is an error with its name.
func TestControl(t *testing.T) {
	request := control{weight: 200, memory: 1 << 30, cpus: 1.5}
	dir := t.TempDir()
	if granted := request.apply(dir); granted != (control{}) {
		t.Errorf("no controllers: granted %+v", granted)
	}
	if err := request.missing(control{}); !errors.Is(err, ErrLimit) || !strings.Contains(err.Error(), "limits.memory") || !strings.Contains(err.Error(), "MemoryMax=1073741824") {
		t.Errorf("no controllers: %v", err)
	}
	want := map[string]string{"cpu.weight": "200", "memory.max": "1073741824", "cpu.max": "150000 100000"}
	for name := range want {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	granted := request.apply(dir)
	if granted != request || request.missing(granted) != nil {
		t.Errorf("granted %+v, %v", granted, request.missing(granted))
	}
	for name, text := range want {
		if got, _ := os.ReadFile(filepath.Join(dir, name)); string(got) != text {
			t.Errorf("%s: %q, want %q", name, got, text)
		}
	}
	if err := request.missing(control{memory: 1 << 30}); !errors.Is(err, ErrLimit) || !strings.Contains(err.Error(), "CPUQuota=150%") {
		t.Errorf("no cpu controller: %v", err)
	}
	if err := (control{weight: 200}).missing(control{}); err != nil {
		t.Errorf("a weight is no limit: %v", err)
	}
}

// TestNoCgroup: a run with a limit does not start if no cgroup can be made.
func TestNoCgroup(t *testing.T) {
	c := Command{Args: []string{"echo", "ran"}, Env: os.Environ(), CPUs: 1.5}
	if _, err := New(Settings{Scratch: t.TempDir()}).Run(t.Context(), c); !errors.Is(err, ErrLimit) || !errors.Is(err, ErrStart) {
		t.Errorf("no cgroup: %v", err)
	}
}
