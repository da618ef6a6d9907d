package timing

import (
	"fmt"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// Cost is the time of a piece of work, in seconds. CPU is the processor time of its
// thread; Wall less CPU is waiting.
type Cost struct {
	Wall float64 `json:"wall"`
	CPU  float64 `json:"cpu"`
}

// Reading holds the costs of the two pieces of work of a [Yardstick] at one time.
type Reading struct {
	At time.Time `json:"at"` // the start
	// Compute is the cost of independent multiply-adds: they need every
	// floating-point port, so they are slower if the core is shared.
	Compute Cost `json:"compute"`
	// Memory is the cost of reads beyond the caches.
	Memory Cost `json:"memory"`
}

// Yardstick measures the speed of the processor that it runs on by two fixed
// pieces of work, of about 15 ms each on a core of 3 GHz. It is not safe for
// concurrent use. It keeps 64 MiB.
type Yardstick struct {
	now     Clock
	cpu     func() (time.Duration, error)
	compute func() float64
	memory  func() float64
	result  float64 // of the work, so the compiler keeps it
}

// NewYardstick returns a Yardstick that uses the given clocks: one of wall time,
// and one of the processor time of the calling thread, such as [ThreadCPU].
func NewYardstick(now Clock, cpu func() (time.Duration, error)) *Yardstick {
	table := make([]uint64, tableWords)
	for i := range table { // the system provides memory at the first write only
		table[i] = uint64(i)
	}
	return &Yardstick{now: now, cpu: cpu, compute: multiplyAdds, memory: func() float64 { return scatteredReads(table) }}
}

// Read does the work once. The error is the processor clock's.
func (y *Yardstick) Read() (Reading, error) {
	runtime.LockOSThread() // the processor time is the thread's
	defer runtime.UnlockOSThread()
	r := Reading{At: y.now()}
	var err error
	if r.Compute, err = y.cost(y.compute); err != nil {
		return r, err
	}
	r.Memory, err = y.cost(y.memory)
	return r, err
}

func (y *Yardstick) cost(work func() float64) (Cost, error) {
	cpu, err := y.cpu()
	if err != nil {
		return Cost{}, fmt.Errorf("timing: processor time: %w", err)
	}
	start := y.now()
	y.result += work()
	wall := y.now().Sub(start)
	end, err := y.cpu()
	if err != nil {
		return Cost{}, fmt.Errorf("timing: processor time: %w", err)
	}
	return Cost{Wall: wall.Seconds(), CPU: (end - cpu).Seconds()}, nil
}

// ThreadCPU returns the processor time of the calling thread
// (CLOCK_THREAD_CPUTIME_ID, clock_gettime(2)).
func ThreadCPU() (time.Duration, error) {
	var t unix.Timespec
	err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t)
	return time.Duration(t.Nano()), err
}

// ProcessCPU returns the processor time of this process, all its threads together
// (CLOCK_PROCESS_CPUTIME_ID, clock_gettime(2)).
func ProcessCPU() (time.Duration, error) {
	var t unix.Timespec
	err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t)
	return time.Duration(t.Nano()), err
}

// The sizes of the two pieces of work. Readings of other sizes are not comparable.
const (
	rounds     = 9_000_000
	tableWords = 64 << 20 / 8
	reads      = 1_200_000
)

// multiplyAdds computes twelve independent sums: as many as the registers hold, and
// more than two ports and a latency of four cycles can hide.
func multiplyAdds() float64 {
	a, b := 0.999999, 1e-6
	var s [12]float64
	s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11 := s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7], s[8], s[9], s[10], s[11]
	for range rounds {
		s0, s1, s2, s3 = s0*a+b, s1*a+b, s2*a+b, s3*a+b
		s4, s5, s6, s7 = s4*a+b, s5*a+b, s6*a+b, s7*a+b
		s8, s9, s10, s11 = s8*a+b, s9*a+b, s10*a+b, s11*a+b
	}
	return s0 + s1 + s2 + s3 + s4 + s5 + s6 + s7 + s8 + s9 + s10 + s11
}

// scatteredReads reads words far apart, independent of each other, in an order that
// no prefetcher predicts (the multiplier is Knuth's for 64 bits, The Art of
// Computer Programming 2, section 3.3.4).
func scatteredReads(table []uint64) float64 {
	at, sum := uint64(1), uint64(0)
	for range reads {
		at = at*6364136223846793005 + 1442695040888963407
		sum += table[at>>32%uint64(len(table))]
	}
	return float64(sum)
}
