package timing

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// fakeProc writes a proc file system of three processes: 10 -> 11 -> 12.
func fakeProc(t *testing.T) Processes {
	t.Helper()
	root := t.TempDir()
	for path, text := range map[string]string{
		"10/stat":              "10 (a) b) S 1 10 10 0 -1 4194560 100 0 0 0 150 50 25 25 20 0 1 0 5 1000 7 18446744073709551615",
		"10/task/10/children":  "11 ",
		"10/task/10/schedstat": "2000000000 3000000 12",
		"10/task/13/children":  "",
		"10/task/13/schedstat": "1 2000000 1",
		"10/task/10/stat":      "10 (a) b) S 1 10 10 0 -1 4194560 100 0 0 0 150 50 25 25 20 0 1 0 5 1000 7 18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 5 0",
		"10/task/13/stat":      "13 (torn",
		"11/stat":              "11 (c) S 10 10 10 0 -1 4194560 100 0 0 0 1 2 0 0 20 0 1 0 5 1000 3 18446744073709551615",
		"11/task/11/children":  "12 10",
		"12/stat":              "12 (short) Z 11",
	} {
		name := filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return Processes{Root: root}
}

func TestProcessesUsage(t *testing.T) {
	p := fakeProc(t)
	if got := p.Tree(10, 11); !slices.Equal(got, []int{10, 11, 12}) {
		t.Errorf("tree %v", got)
	}
	got, err := p.Usage(10)
	want := TreeUsage{Processes: 2, CPU: 2530 * time.Millisecond, Resident: 10 * int64(os.Getpagesize()), Processor: -1}
	if err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
	if _, err := p.Usage(99); !errors.Is(err, ErrNoProcess) {
		t.Errorf("absent process: %v", err)
	}
	if _, err := p.Usage(); !errors.Is(err, ErrNoProcess) {
		t.Errorf("no process: %v", err)
	}
}

func TestProcessesOfThisMachine(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("needs a proc file system")
	}
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	var p Processes
	if !slices.Contains(p.Tree(os.Getpid()), cmd.Process.Pid) {
		t.Error("the child is not in the tree")
	}
	u, err := p.Usage(os.Getpid())
	if err != nil || u.Processes < 2 || u.Resident < 1<<20 {
		t.Errorf("got %+v, %v", u, err)
	}
}

func TestMeter(t *testing.T) {
	p := fakeProc(t)
	m := Meter{Processes: p}
	set := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(p.Root, path), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	check := func(pid int, cpu, wait time.Duration, processor int, wantErr error) {
		t.Helper()
		u, err := m.Read(pid)
		if u.CPU != cpu || u.Wait != wait || u.Processor != processor || !errors.Is(err, wantErr) {
			t.Errorf("got %+v, %v, want CPU %v, wait %v, processor %d", u, err, cpu, wait, processor)
		}
	}
	check(10, 2*time.Second+1, 5*time.Millisecond, 5, nil)
	os.Remove(filepath.Join(p.Root, "10/task/13/schedstat")) // a thread ended
	check(10, 2*time.Second+1, 5*time.Millisecond, -1, nil)  // and no other ran
	set("10/task/10/schedstat", "100 200 1")                 // its number was reused
	check(10, 2*time.Second+101, 5*time.Millisecond+200, 5, nil)
	set("10/task/13/schedstat", "51 2000000 1") // the longest run determines the processor
	set("10/task/10/schedstat", "120 200 1")
	check(10, 2*time.Second+171, 5*time.Millisecond+200, -1, nil)
	set("10/task/13/schedstat", "51 2000000 1")
	set("10/task/10/schedstat", "torn")
	check(10, 2*time.Second+171, 5*time.Millisecond+200, -1, nil)
	set("11/stat", "torn")
	if u, _ := m.Read(10); u.Resident != 7*int64(os.Getpagesize()) || u.Peak != 10*int64(os.Getpagesize()) {
		t.Errorf("memory %d, peak %d", u.Resident, u.Peak)
	}
	check(99, 2*time.Second+171, 5*time.Millisecond+200, -1, ErrNoProcess)
}
