package timing

import (
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

func TestProcessesTree(t *testing.T) {
	p := fakeProc(t)
	if got := p.Tree(10, 11); !slices.Equal(got, []int{10, 11, 12}) {
		t.Errorf("tree %v", got)
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
	if u := (&Meter{}).Read(os.Getpid()); u.Peak < 1<<20 {
		t.Errorf("got %+v", u)
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
	check := func(pid int, cpu, wait time.Duration) {
		t.Helper()
		if u := m.Read(pid); u.CPU != cpu || u.Wait != wait {
			t.Errorf("got %+v, want CPU %v, wait %v", u, cpu, wait)
		}
	}
	check(10, 2*time.Second+1, 5*time.Millisecond)
	os.Remove(filepath.Join(p.Root, "10/task/13/schedstat")) // a thread ended
	check(10, 2*time.Second+1, 5*time.Millisecond)           // and no other ran
	set("10/task/10/schedstat", "100 200 1")                 // its number was reused
	check(10, 2*time.Second+101, 5*time.Millisecond+200)
	set("10/task/13/schedstat", "51 2000000 1")
	set("10/task/10/schedstat", "120 200 1")
	check(10, 2*time.Second+171, 5*time.Millisecond+200)
	set("10/task/13/schedstat", "51 2000000 1")
	set("10/task/10/schedstat", "torn")
	check(10, 2*time.Second+171, 5*time.Millisecond+200)
	set("11/stat", "torn")
	if u := m.Read(10); u.Peak != 10*int64(os.Getpagesize()) {
		t.Errorf("peak %d", u.Peak)
	}
	if u := (&Meter{Processes: p}).Read(10); u.Peak != 7*int64(os.Getpagesize()) {
		t.Errorf("peak without the torn process %d", u.Peak)
	}
	check(99, 2*time.Second+171, 5*time.Millisecond+200)
}
