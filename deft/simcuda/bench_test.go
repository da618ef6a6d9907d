package simcuda_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"
)

// How much longer jobs take than their kernels: the simulated device's error,
// the scheduler of the machine included. A job of one kernel shows what one
// synchronization costs.
func BenchmarkJob(b *testing.B) {
	for _, job := range []struct {
		kernels int
		each    time.Duration
	}{{400, 100 * time.Microsecond}, {100, 50 * time.Microsecond}, {1, 100 * time.Microsecond}} {
		b.Run(fmt.Sprintf("kernels=%d/each=%v", job.kernels, job.each), func(b *testing.B) {
			d := newBench(b)
			out := filepath.Join(b.TempDir(), "a.csv")
			ideal := time.Duration(job.kernels) * job.each
			jobs := int(2 * time.Second / ideal)
			cmd := d.command(d.Workload, "--kernels", strconv.Itoa(job.kernels), "--kernel-ns", strconv.Itoa(int(job.each)), "--jobs", strconv.Itoa(jobs), "--csv", out)
			if text, err := cmd.CombinedOutput(); err != nil {
				b.Fatalf("%v %s", err, text)
			}
			times := rows(b, out)[1:]
			slices.Sort(times)
			var sum time.Duration
			for _, t := range times {
				sum += t
			}
			over := func(t time.Duration) float64 { return float64(t-ideal) / 1e3 }
			b.ReportMetric(float64(sum)/float64(len(times))/float64(ideal), "measured/ideal")
			b.ReportMetric(over(sum/time.Duration(len(times))), "µs-over-mean")
			b.ReportMetric(over(times[len(times)/2]), "µs-over-p50")
			b.ReportMetric(over(times[len(times)*99/100]), "µs-over-p99")
			busy := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
			b.ReportMetric(float64(busy)/float64(sum), "cpu/device")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// Many processes at once: how much of the time the device is busy, and how
// evenly it serves them (Jain's index over the jobs done).
func BenchmarkClients(b *testing.B) {
	seconds := 3
	if testing.Short() {
		seconds = 1
	}
	for _, n := range []int{1, 2, 8, 32} {
		b.Run(fmt.Sprintf("clients=%d", n), func(b *testing.B) {
			const kernels, each = 50, 100 * time.Microsecond
			d := newBench(b)
			cmds := make([]*exec.Cmd, n)
			outs := make([]string, n)
			for i := range cmds {
				outs[i] = filepath.Join(b.TempDir(), strconv.Itoa(i)+".csv")
				cmds[i] = d.command(d.Workload, "--kernels", strconv.Itoa(kernels), "--kernel-ns", strconv.Itoa(int(each)), "--dur-s", strconv.Itoa(seconds), "--csv", outs[i])
			}
			begin := time.Now()
			for _, c := range cmds {
				if err := c.Start(); err != nil {
					b.Fatal(err)
				}
			}
			var busy time.Duration
			for _, c := range cmds {
				if err := c.Wait(); err != nil {
					b.Fatal(err)
				}
				busy += c.ProcessState.UserTime() + c.ProcessState.SystemTime()
			}
			wall := time.Since(begin)
			var jobs, squares float64
			for _, out := range outs {
				done := float64(len(rows(b, out)))
				jobs += done
				squares += done * done
			}
			b.ReportMetric(jobs*kernels*each.Seconds()/wall.Seconds(), "device-busy")
			b.ReportMetric(jobs*jobs/float64(n)/squares, "jain")
			b.ReportMetric(busy.Seconds()/wall.Seconds(), "cpus")
			b.ReportMetric(0, "ns/op")
		})
	}
}
