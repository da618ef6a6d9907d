package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/foretime/foretime/allox-est/internal/journal"
	"github.com/foretime/foretime/shared/timing"
)

// trainScript saves a checkpoint when it is asked to end, and at its end. What it does
// otherwise comes before its epochs and before its end.
const trainScript = `save() { echo saving; sleep 0.1; echo $i >checkpoint; echo saved; exit 0; }
trap save TERM INT HUP QUIT USR1
i=0
%s
echo $$ >pid; : >up
while [ $i -lt ${N:-12} ]; do i=$((i+1)); echo "epoch $i/${N:-12}"; sleep 0.05; done
%s
echo $i >checkpoint; echo trained
%s
`

// A fault is something that happens to a job, or to the program that follows it.
type fault struct {
	name               string
	begin, late, leave string // of the job's script
	keep               bool   // run --keep
	wrap               []string
	flags              []string
	prepare            func(t *testing.T, f *faulty)
	act                func(t *testing.T, f *faulty) // once the job is up
	code               int                           // of the job; its signal, negative, if one ended it
	killed             bool                          // the program was
	printed            string                        // at the end of the job's output; "-" if nobody can see it
	noCheckpoint       bool
	start              string // in the error of a job that cannot be started
}

// untrapped makes the job die of Ctrl-C.
const untrapped = "trap - INT; N=200"

// loopOf returns a shell's loop over three jobs, each of which would save its checkpoint.
func loopOf(shell string) []string {
	return []string{shell, "-c", `for i in 1 2 3; do "$@"; done; exit 1`, shell}
}

// faulty is a fault under way.
type faulty struct {
	dir      string
	cmd      *exec.Cmd
	out, err bytes.Buffer
}

// signal returns an action that sends signals to the program, some time apart.
func signal(apart time.Duration, signals ...syscall.Signal) func(*testing.T, *faulty) {
	return func(_ *testing.T, f *faulty) {
		for _, s := range signals {
			_ = f.cmd.Process.Signal(s)
			time.Sleep(apart)
		}
	}
}

// killHelper kills the relay of the program.
func killHelper(t *testing.T, f *faulty) {
	for _, pid := range (timing.Processes{}).Children(f.cmd.Process.Pid) {
		command, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if strings.HasSuffix(string(command), "\x00relay\x00") {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			return
		}
	}
	t.Error("no relay found")
}

func (f *faulty) path(name string) string { return filepath.Join(f.dir, name) }

// await waits for a file.
func (f *faulty) await(t *testing.T, name string) []byte {
	t.Helper()
	for range 30_000 {
		if b, err := os.ReadFile(f.path(name)); err == nil && (len(b) > 0 || name == "up") {
			return b
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("no %s: %s", name, f.err.String())
	return nil
}

func (f *faulty) killJob(t *testing.T, s syscall.Signal) {
	pid, err := strconv.Atoi(strings.TrimSpace(string(f.await(t, "pid"))))
	if err != nil {
		t.Fatal(err)
	}
	_ = syscall.Kill(pid, s)
}

// to sets one of the program's files.
func to(set func(*exec.Cmd, *os.File), path string) func(*testing.T, *faulty) {
	return func(t *testing.T, f *faulty) {
		file, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			t.Skip(err)
		}
		t.Cleanup(func() { file.Close() })
		set(f.cmd, file)
	}
}

func setStdout(c *exec.Cmd, f *os.File) { c.Stdout = f }
func setStderr(c *exec.Cmd, f *os.File) { c.Stderr = f }

// closedPipe sets one of the program's files to a pipe that nobody reads any more.
func closedPipe(set func(*exec.Cmd, *os.File)) func(*testing.T, *faulty) {
	return func(t *testing.T, f *faulty) {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		r.Close()
		t.Cleanup(func() { w.Close() })
		set(f.cmd, w)
	}
}

// terminal gives the program a terminal of its own and returns its keyboard.
func terminal(t *testing.T, f *faulty) {
	keys, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { keys.Close() })
	number, err := unix.IoctlGetInt(int(keys.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(keys.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Skip(err)
	}
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { tty.Close() })
	f.cmd.Stdin, f.cmd.SysProcAttr = tty, &syscall.SysProcAttr{Setsid: true, Setctty: true}
	f.cmd.ExtraFiles = []*os.File{keys} // the keyboard, for press
}

// press returns an action that presses keys.
func press(keys string) func(*testing.T, *faulty) {
	return func(t *testing.T, f *faulty) {
		if _, err := f.cmd.ExtraFiles[0].WriteString(keys); err != nil {
			t.Fatal(err)
		}
	}
}

var faults = []fault{
	{name: "none", printed: "trained\n"},
	{name: "none, with run --keep", keep: true, printed: "trained\n"},
	{name: "exit 7", leave: "exit 7", code: 7, printed: "trained\n"},
	{name: "exit 139", leave: "exit 139", code: 139, printed: "trained\n"},
	{name: "segmentation fault", leave: "kill -SEGV $$", code: -11, printed: "trained\n"},
	{name: "INT", act: signal(0, syscall.SIGINT), printed: "saved\n"},
	{name: "TERM", act: signal(0, syscall.SIGTERM), printed: "saved\n"},
	{name: "TERM, with run --keep", keep: true, act: signal(0, syscall.SIGTERM), printed: "saved\n"},
	{name: "HUP", act: signal(0, syscall.SIGHUP), printed: "saved\n"},
	{name: "HUP twice", act: signal(300*time.Millisecond, syscall.SIGHUP, syscall.SIGHUP), begin: "trap 'sleep 1; save' HUP", printed: "saved\n"},
	{name: "QUIT", act: signal(0, syscall.SIGQUIT), printed: "saved\n"},
	{name: "USR1", act: signal(0, syscall.SIGUSR1), printed: "saved\n"},
	{name: "USR2 of no concern", begin: "trap 'echo noted' USR2", act: signal(0, syscall.SIGUSR2), printed: "trained\n"},
	{name: "TERM that the job does not trap", begin: "trap - TERM", act: signal(0, syscall.SIGTERM), code: -15, printed: "-", noCheckpoint: true},
	{name: "slow to save", begin: "trap 'sleep 2; save' TERM", act: signal(0, syscall.SIGTERM), printed: "saved\n"},
	{name: "TERM twice at once", act: signal(0, syscall.SIGTERM, syscall.SIGTERM), begin: "trap 'trap - TERM; save' TERM", printed: "saved\n"},
	{name: "TERM again while it saves", act: signal(400*time.Millisecond, syscall.SIGTERM, syscall.SIGTERM), begin: "trap 'trap \"\" TERM; sleep 1; save' TERM", printed: "saved\n"},
	{name: "TERM ignored, then INT", begin: "trap '' TERM INT; N=1000", act: signal(400*time.Millisecond, syscall.SIGTERM, syscall.SIGINT), code: -9, printed: "-", noCheckpoint: true},
	{name: "TERM by timeout(1), to the group too", wrap: []string{"timeout", "1000"}, act: signal(0, syscall.SIGALRM), begin: "N=1000", code: 124, printed: "saved\n"},
	{name: "nohup", wrap: []string{"nohup"}, begin: "trap '' HUP", act: signal(0, syscall.SIGHUP), printed: "trained\n"},
	{name: "kill -9", act: signal(0, syscall.SIGKILL), code: -9, killed: true, printed: "trained\n"},
	{name: "kill -9, with run --keep", keep: true, act: signal(0, syscall.SIGKILL), code: -9, killed: true, printed: "trained\n"},
	{name: "kill -9, then TERM to the job", begin: "N=1000", act: func(t *testing.T, f *faulty) {
		signal(100*time.Millisecond, syscall.SIGKILL)(t, f)
		f.killJob(t, syscall.SIGTERM)
	}, code: -9, killed: true, printed: "saved\n"},
	{name: "kill -9 of the relay", act: killHelper, printed: "trained\n"},
	{name: "stopped while the job prints much", late: "seq 100000; : >late", act: func(t *testing.T, f *faulty) {
		_ = f.cmd.Process.Signal(syscall.SIGSTOP)
		f.await(t, "checkpoint")
		_ = f.cmd.Process.Signal(syscall.SIGCONT)
	}, printed: "trained\n"},
	{name: "full disk below the errors", prepare: to(setStderr, "/dev/full"), printed: "-"},
	{name: "full disk below the answer", prepare: to(setStdout, "/dev/full"), printed: "trained\n"},
	{name: "nobody reads the errors", prepare: closedPipe(setStderr), printed: "-"},
	{name: "nobody reads the answer", prepare: closedPipe(setStdout), printed: "trained\n"},
	{name: "no directory for the journal", flags: []string{"--journal", "none/journal.jsonl"}, printed: "trained\n"},
	{name: "a journal in use", prepare: func(t *testing.T, f *faulty) {
		j, err := journal.Open(f.path("train.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { j.Close() })
	}, printed: "trained\n"},
	{name: "a second job in the directory", prepare: func(t *testing.T, f *faulty) {
		other := exec.Command(f.cmd.Path, "follow", "--", "sh", "train.sh")
		other.Dir = f.dir
		if err := other.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := other.Wait(); err != nil {
				t.Error(err)
			}
		})
	}, printed: "trained\n"},
	{name: "input from a pipe", begin: "read word; [ \"$word\" = hello ] || exit 5", prepare: func(_ *testing.T, f *faulty) { f.cmd.Stdin = strings.NewReader("hello\n") }, printed: "trained\n"},
	{name: "no input", begin: "read word && exit 5", printed: "trained\n"},
	{name: "a background child", leave: "(sleep 1; echo done >child; echo of the child) &", printed: "of the child\n", act: func(t *testing.T, f *faulty) { f.await(t, "child") }},
	{name: "all done and a quiet tail", late: "sleep 2", printed: "trained\n"},
	{name: "a closed output", late: "exec >&- 2>&-; sleep 0.5; echo $i >checkpoint; exit 7", code: 7, printed: "-"},
	{name: "a script without an interpreter", flags: []string{"./train.sh"}, printed: "trained\n"},
	{name: "Ctrl-C at a terminal", begin: "N=1000", prepare: terminal, act: press("\x03"), printed: "saved\n"},
	{name: "Ctrl-C in a loop at a terminal", wrap: loopOf("sh"), begin: untrapped, prepare: terminal, act: press("\x03"), code: -2, printed: "-", noCheckpoint: true},
	{name: "Ctrl-C in a loop of bash at a terminal", wrap: loopOf("bash"), begin: untrapped, prepare: terminal, act: press("\x03"), code: -2, printed: "-", noCheckpoint: true},
	{name: "QUIT that the job does not trap", begin: "trap - QUIT; ulimit -c 0", act: signal(0, syscall.SIGQUIT), code: -3, printed: "-", noCheckpoint: true},
	{name: "no such program", flags: []string{"./none"}, start: "no such file", code: 127},
	{name: "no program of that name", flags: []string{"no-such-program"}, start: "not found", code: 127},
	{name: "a directory", flags: []string{"/tmp"}, start: "/tmp: ", code: 126},
	{name: "input from a terminal", begin: ": >up; read word; [ \"$word\" = hello ] || exit 5", prepare: terminal, act: press("hello\n"), printed: "trained\n"},
}

// TestFaults: whatever happens to the program that follows a job, the job saves its
// checkpoint, all of its output is seen, and its exit code is the program's.
func TestFaults(t *testing.T) {
	for _, tt := range faults {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := &faulty{dir: t.TempDir()}
			script := fmt.Sprintf(trainScript, tt.begin, tt.late, tt.leave)
			if err := os.WriteFile(f.path("train.sh"), []byte(script), 0o755); err != nil {
				t.Fatal(err)
			}
			argv := append(append([]string{}, tt.wrap...), "allox-est", "follow")
			if tt.keep {
				argv = append(argv[:len(argv)-1], "run", "--keep")
			}
			if len(tt.flags) != 1 {
				argv = append(append(argv, tt.flags...), "--", "sh", "train.sh")
			} else {
				argv = append(argv, "--", tt.flags[0])
			}
			f.cmd = exec.Command(argv[0], argv[1:]...)
			f.cmd.Dir, f.cmd.Stdout, f.cmd.Stderr, f.cmd.WaitDelay = f.dir, &f.out, &f.err, time.Minute
			if tt.prepare != nil {
				tt.prepare(t, f)
			}
			if err := f.cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if tt.start == "" {
				f.await(t, "up")
			}
			if tt.act != nil {
				tt.act(t, f)
			}
			err := f.cmd.Wait()
			if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
				t.Fatal(err)
			}
			status := f.cmd.ProcessState.Sys().(syscall.WaitStatus)
			code := status.ExitStatus()
			if status.Signaled() {
				code = -int(status.Signal())
			}
			if code != tt.code {
				t.Errorf("exit code %d, want the job's %d\n%s%s", code, tt.code, f.out.String(), f.err.String())
			}
			if tt.start != "" {
				if !strings.Contains(f.err.String(), tt.start) {
					t.Errorf("%q is not in %q", tt.start, f.err.String())
				}
				return
			}
			if !tt.noCheckpoint {
				f.await(t, "checkpoint")
			}
			if printed := strings.ReplaceAll(f.err.String(), "\r", ""); tt.printed != "-" && !strings.Contains(printed, tt.printed) {
				t.Errorf("the job's last line %q is not in %q", tt.printed, printed)
			}
			if end := f.out.String(); f.cmd.Stdout == io.Writer(&f.out) && !tt.killed && strings.Count(end, " memory at most ") != 1 {
				t.Errorf("no end in %q", end)
			}
		})
	}
}
