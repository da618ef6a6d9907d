package estimate

import "github.com/foretime/foretime/allox-est/internal/journal"

// QuietWall returns a run's wall time without the wait for a processor, in
// seconds.
func QuietWall(r journal.Run) float64 { return withoutWait(r, r.Wall, r.CPU, r.Wait) }

// maxWaitFactor bounds the wait of a job, as a multiple of its processor time, if the load does
// not show more: the number of competitors for each of its processors. A job that sleeps until a
// set time on a busy machine may have a longer wait, which delayed nothing.
const maxWaitFactor = 8

// withoutWait subtracts from a wall time of a run the part in which ready threads had no
// processor. Wait is summed over threads; the number of threads that ran or waited at a time is
// (cpu+wait)/wall, at least one. Not all of them belong to the job: a runtime has threads of
// its own. On a CPU the job computes on a fixed number of threads at a time, so the rest is at
// least its processor time divided by that. A job that is idle part of the time, such as one
// that sleeps until a set time, may have waited while it had nothing to do: only the share of
// the wait counts in which the job was busy or waiting, and at most the processor time
// multiplied by the number of competitors. The wait of a runtime's own threads, which wake and
// find nothing to do, delays nobody.
func withoutWait(r journal.Run, wall, cpu, wait float64) float64 {
	if wall <= 0 || wait <= 0 {
		return wall
	}
	wait = min(wait, max(maxWaitFactor, 2*r.Load/float64(max(1, r.CPUs)))*cpu)
	least := 0.0
	if n := threads(r); r.Device == "cpu" && n > 0 {
		least = min(wall, cpu/n)
	}
	ready := (cpu + wait) / wall
	return max(least, wall-min(1, ready)*wait/max(1, ready))
}

// threads returns the number of a run's threads that could run at a time: the observed number,
// or else the one that the job was given, and at most the number of processors.
func threads(r journal.Run) float64 {
	n := r.Parallel
	if n == 0 {
		n = float64(r.Threads)
	}
	if r.CPUs > 0 {
		n = min(n, float64(r.CPUs))
	}
	return n
}
