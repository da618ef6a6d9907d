package hook_test

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/foretime/foretime/deft/internal/session"
)

// What a launch costs in thread CPU time, beside the driver's own call that
// does nothing, in one run: of which nobody asks anything, under a directive
// that asks nothing of this launch, and without a session.
func BenchmarkLaunch(b *testing.B) {
	for _, tt := range []struct {
		name   string
		joined bool
		d      session.Directive
		args   []string
	}{
		{"asked=nothing", true, session.Directive{}, nil},
		{"asked=sync", true, session.Directive{SyncEvery: 1 << 30}, nil},
		{"asked=time", true, session.Directive{InFlightTime: time.Hour}, nil},
		{"asked=timed", true, session.Directive{Timed: true}, nil},
		{"session=none", false, session.Directive{}, nil},
		{"graph", true, session.Directive{}, []string{"graph"}},
	} {
		b.Run(tt.name, func(b *testing.B) {
			w := newWorld(b, session.Options{OwnerTimeout: time.Hour})
			w.device.More = append(w.device.More, "SIMCUDA_NOOP=1")
			bench := compileTest(b, "bench", "bench.c")
			driver, hook := 1e9, 1e9
			for b.Loop() {
				cmd := w.command(bench, append([]string{"1000000", "15"}, tt.args...)...)
				w.session.Direct(0, tt.d)
				if !tt.joined {
					cmd.Env = append(cmd.Env, "DEFT_SESSION=")
				}
				var d, h float64
				var same int
				out := w.run(cmd)
				if _, err := fmt.Sscanf(out, "driver %f hook %f same %d", &d, &h, &same); err != nil || same == 1 {
					b.Fatalf("%q: %v", out, err)
				}
				driver, hook = min(driver, d), min(hook, h)
				w.reap()
			}
			b.ReportMetric(driver, "driver-ns/launch")
			b.ReportMetric(hook, "hook-ns/launch")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// What the library adds to a program's memory once it has launched.
func BenchmarkMemory(b *testing.B) {
	w := newWorld(b, session.Options{OwnerTimeout: time.Hour})
	var rss, private [2]float64
	for b.Loop() {
		for i, env := range []string{"LD_PRELOAD=", "X="} {
			p := w.probe(env)
			p.do("launch 1000")
			p.do("alloc 1000")
			p.do("sync")
			rss[i] = rollup(b, p.cmd.Process.Pid, "Rss:")
			private[i] = rollup(b, p.cmd.Process.Pid, "Private_Dirty:")
			p.exit()
			w.reap()
		}
	}
	b.ReportMetric(rss[1]-rss[0], "extra-rss-kB")
	b.ReportMetric(private[1]-private[0], "extra-private-kB")
	b.ReportMetric(0, "ns/op")
}

// rollup reads one line of /proc/PID/smaps_rollup, in kB.
func rollup(b *testing.B, pid int, what string) float64 {
	body, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/smaps_rollup")
	if err != nil {
		b.Skip("needs /proc/PID/smaps_rollup: a Linux kernel of 4.14 or later")
	}
	for line := range strings.Lines(string(body)) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] == what {
			kB, err := strconv.ParseFloat(fields[1], 64)
			if err != nil {
				b.Fatal(err)
			}
			return kB
		}
	}
	b.Fatalf("no %s in smaps_rollup", what)
	return 0
}

// From the kill of an owner that keeps the gate closed to the launch.
func BenchmarkResume(b *testing.B) {
	w := newWorld(b, session.Options{OwnerTimeout: time.Hour})
	p := w.probe()
	p.do("launch 1")
	var sum, worst time.Duration
	n := 0
	for b.Loop() {
		o := w.owner()
		o.direct(0, session.Directive{Closed: true})
		p.send("launch 1")
		w.eventually("stopped", func() bool { return w.client(p).Drained })
		time.Sleep(time.Duration(n%20) * time.Millisecond) // at any point of the client's nap
		begin := time.Now()
		o.kill()
		if got := p.answer(); got != "ok" {
			b.Fatal(got)
		}
		took := time.Since(begin)
		sum, worst, n = sum+took, max(worst, took), n+1
	}
	b.ReportMetric(float64(sum.Microseconds())/float64(n)/1000, "mean-ms")
	b.ReportMetric(float64(worst.Microseconds())/1000, "worst-ms")
	b.ReportMetric(0, "ns/op")
	p.exit()
}

// From the owner's word to the launch of a client that stands at the gate.
func BenchmarkGate(b *testing.B) {
	w := newWorld(b, session.Options{OwnerTimeout: time.Hour})
	p := w.probe()
	p.do("launch 1")
	var sum time.Duration
	n := 0
	for b.Loop() {
		w.session.Direct(0, session.Directive{Closed: true})
		p.send("launch 1")
		w.eventually("stopped", func() bool { return w.client(p).Drained })
		begin := time.Now()
		w.session.Direct(0, session.Directive{})
		if got := p.answer(); got != "ok" {
			b.Fatal(got)
		}
		sum, n = sum+time.Since(begin), n+1
	}
	b.ReportMetric(float64(sum.Microseconds())/float64(n), "open-us")
	b.ReportMetric(0, "ns/op")
	p.exit()
}

// 200 programs at once that open the driver and launch, under the hook and
// without it: wall time of all, and CPU time of each.
func BenchmarkStartup(b *testing.B) {
	const programs = 200
	for _, hooked := range []bool{false, true} {
		b.Run(fmt.Sprintf("hook=%v", hooked), func(b *testing.B) {
			w := newWorld(b, session.Options{OwnerTimeout: time.Hour})
			var wall, cpu time.Duration
			for b.Loop() {
				cmds := make([]*exec.Cmd, programs)
				for i := range cmds {
					cmds[i] = w.command(w.clients.Client, "dlsym", "10")
					if !hooked {
						cmds[i].Env = append(cmds[i].Env, "LD_PRELOAD=")
					}
				}
				begin := time.Now()
				var wg sync.WaitGroup
				for _, cmd := range cmds {
					wg.Go(func() {
						if out, err := cmd.CombinedOutput(); err != nil || string(out) != "launches 10\n" {
							b.Errorf("%v: %s", err, out)
						}
					})
				}
				wg.Wait()
				wall += time.Since(begin)
				for _, cmd := range cmds {
					cpu += cmd.ProcessState.SystemTime() + cmd.ProcessState.UserTime()
				}
				if gone := w.reap(); hooked && len(gone) != programs {
					b.Errorf("%d clients, want %d", len(gone), programs)
				}
			}
			b.ReportMetric(float64(wall.Milliseconds())/float64(b.N), "wall-ms")
			b.ReportMetric(float64(cpu.Microseconds())/float64(b.N)/programs/1000, "cpu-ms/program")
			b.ReportMetric(0, "ns/op")
		})
	}
}
