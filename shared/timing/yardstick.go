package timing

import (
	"fmt"
	"math"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
	"gonum.org/v1/gonum/stat"
)

// Yardstick measures the speed of the processor that it runs on by fixed work: about
// 15 ms on a core of 3 GHz. It is not safe for concurrent use.
type Yardstick struct {
	cpu      func() (time.Duration, error)
	work     func() float64
	result   float64   // of the work, so the compiler keeps it
	readings []float64 // processor time of the work, in seconds
}

// NewYardstick returns a Yardstick that uses a clock of the processor time of the
// calling thread, such as [ThreadCPU].
func NewYardstick(cpu func() (time.Duration, error)) *Yardstick {
	return &Yardstick{cpu: cpu, work: sumMultiplyAdds}
}

// Read does the work once and keeps its processor time. The error is the clock's.
func (y *Yardstick) Read() error {
	runtime.LockOSThread() // the processor time is the thread's
	defer runtime.UnlockOSThread()
	start, err := y.cpu()
	if err != nil {
		return fmt.Errorf("timing: processor time: %w", err)
	}
	y.result += y.work()
	end, err := y.cpu()
	if err != nil {
		return fmt.Errorf("timing: processor time: %w", err)
	}
	y.readings = append(y.readings, (end - start).Seconds())
	return nil
}

// SD returns the standard deviation of the logarithm of the speed over all readings; 0
// for fewer than two.
func (y *Yardstick) SD() float64 {
	if len(y.readings) < 2 {
		return 0
	}
	logs := make([]float64, len(y.readings))
	for i, seconds := range y.readings {
		logs[i] = math.Log(seconds)
	}
	return stat.StdDev(logs, nil)
}

// ThreadCPU returns the processor time of the calling thread
// (CLOCK_THREAD_CPUTIME_ID, clock_gettime(2)).
func ThreadCPU() (time.Duration, error) {
	var t unix.Timespec
	err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t)
	return time.Duration(t.Nano()), err
}

// rounds sets the amount of work.
const rounds = 9_000_000

// sumMultiplyAdds computes twelve independent sums: as many as the registers hold, and
// more than two ports and a latency of four cycles can hide. Such work needs every
// floating-point port, so it is slower if the core is shared.
func sumMultiplyAdds() float64 {
	a, b := 0.999999, 1e-6
	var s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11 float64
	for range rounds {
		s0 = s0*a + b
		s1 = s1*a + b
		s2 = s2*a + b
		s3 = s3*a + b
		s4 = s4*a + b
		s5 = s5*a + b
		s6 = s6*a + b
		s7 = s7*a + b
		s8 = s8*a + b
		s9 = s9*a + b
		s10 = s10*a + b
		s11 = s11*a + b
	}
	return s0 + s1 + s2 + s3 + s4 + s5 + s6 + s7 + s8 + s9 + s10 + s11
}
