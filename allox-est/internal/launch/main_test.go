package launch

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMain lets the test binary play the jobs: its environment says which.
func TestMain(m *testing.M) {
	if name := os.Getenv("FORETIME_TEST_JOB"); name != "" {
		os.Exit(hostile[name]())
	}
	os.Exit(m.Run())
}

const report = "<TIME_WRITTER_OUTPUT>[0.1, 0.2, 0.3]</TIME_WRITTER_OUTPUT>\n"

// hostile are jobs that do what jobs should not. Each returns its exit code.
var hostile = map[string]func() int{
	"good":   func() int { fmt.Print(report); return 0 },
	"exit 3": func() int { fmt.Fprintln(os.Stderr, "out of luck"); return 3 },
	"segmentation fault": func() int { // the Go runtime would make it an exit code
		syscall.Exec("/bin/sh", []string{"sh", "-c", "kill -SEGV $$"}, os.Environ())
		return 1
	},
	"hang": func() int { time.Sleep(time.Hour); return 0 },
	"ignores TERM": func() int {
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
		time.Sleep(time.Hour)
		return 0
	},
	"prints much": func() int {
		block := bytes.Repeat([]byte("all work and no play\n"), 3000)
		for n := 0; n < 128<<20; n += len(block) {
			os.Stdout.Write(block)
		}
		fmt.Print(report)
		return 0
	},
	"one endless line": func() int {
		block := bytes.Repeat([]byte("x"), 1<<16)
		for range 256 {
			os.Stdout.Write(block)
		}
		fmt.Print(report)
		return 0
	},
	"binary garbage": func() int {
		garbage := make([]byte, 1<<16)
		for i := range garbage {
			garbage[i] = byte(i * 7919 >> 3)
		}
		os.Stdout.Write(garbage)
		os.Stderr.Write(garbage)
		fmt.Print(report)
		return 0
	},
	"no newline": func() int { fmt.Print(strings.TrimSpace(report)); return 0 },
	"no report":  func() int { fmt.Println("done"); return 0 },
	"report in pieces": func() int {
		for _, b := range []byte(report) {
			os.Stdout.Write([]byte{b})
		}
		return 0
	},
	"report on stderr":     func() int { fmt.Fprint(os.Stderr, report); return 0 },
	"forged second report": func() int { fmt.Print(report, strings.Replace(report, "0.1", "9.9", 1)); return 0 },
	"nan":                  func() int { fmt.Print(strings.Replace(report, "0.2", "nan", 1)); return 0 },
	"torn report":          func() int { fmt.Print(report[:30]); return 0 },
	"child holds stdout":   func() int { child("hang", nil, os.Stdout); fmt.Print(report); return 0 },
	"child escapes": func() int {
		child("hang", &syscall.SysProcAttr{Setsid: true}, os.Stdout)
		fmt.Print(report)
		return 0
	},
	"orphan escapes": func() int {
		child("parent", &syscall.SysProcAttr{Setsid: true}, nil).Wait()
		fmt.Print(report)
		return 0
	},
	"parent": func() int { child("hang", &syscall.SysProcAttr{Setsid: true}, nil); return 0 },
	"escapes and hangs": func() int {
		child("parent", &syscall.SysProcAttr{Setsid: true}, nil).Wait()
		time.Sleep(time.Hour)
		return 0
	},
	"many children": func() int {
		n, _ := strconv.Atoi(os.Getenv("FORETIME_TEST_CHILDREN"))
		for range n {
			if exec.Command("sleep", "3600").Start() != nil {
				return 1
			}
		}
		fmt.Print(report)
		return 0
	},
	"deletes its folder": func() int {
		dir, _ := os.Getwd()
		os.RemoveAll(dir)
		fmt.Print(report)
		return 0
	},
	"computes": func() int {
		for start := time.Now(); time.Since(start) < 300*time.Millisecond; {
		}
		child("computes more", nil, nil).Wait()
		return 0
	},
	"computes more": func() int {
		x := 1.0
		for i := range 300_000_000 {
			x += float64(i)
		}
		fmt.Fprintln(io.Discard, x)
		return 0
	},
	"orphan computes": func() int { // and is killed before anything waits for it
		child("parent of one that computes", nil, nil).Wait()
		for {
			if _, err := os.Stat("computed"); err == nil {
				return 0
			}
			time.Sleep(time.Millisecond)
		}
	},
	"parent of one that computes": func() int { child("computes for 500 ms", nil, nil); return 0 },
	"computes for 500 ms": func() int {
		for {
			var u syscall.Rusage
			syscall.Getrusage(syscall.RUSAGE_SELF, &u)
			if u.Utime.Nano()+u.Stime.Nano() > 500e6 {
				os.WriteFile("computed", nil, 0o600)
				time.Sleep(time.Hour)
			}
		}
	},
	"epochs": func() int {
		for i := 1; i <= 3; i++ {
			time.Sleep(100 * time.Millisecond)
			fmt.Printf("Epoch %d/3 step 1\rEpoch %d/3 step 2\n", i, i)
		}
		return 0
	},
	"scratch": func() int {
		dir := os.Getenv("TMPDIR")
		os.WriteFile(dir+"/checkpoint", nil, 0o600)
		fmt.Println(dir, os.Args[1])
		return 0
	},
}

func child(name string, attr *syscall.SysProcAttr, stdout *os.File) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), "FORETIME_TEST_JOB="+name)
	cmd.SysProcAttr = attr
	if stdout != nil {
		cmd.Stdout = stdout
	}
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	return cmd
}

// Stdout returns the last KiBs of stdout.
func (r *Result) Stdout() string { return string(r.out.stdout.tail.b) }
