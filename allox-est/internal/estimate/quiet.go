package estimate

import "github.com/foretime/foretime/allox-est/internal/journal"

// QuietWall returns a run's wall time without the wait for a processor, in
// seconds.
func QuietWall(r journal.Run) float64 { return withoutWait(r, r.Wall, r.CPU, r.Wait) }

// mostWait is how long, as a multiple of its processor time, a job is taken to
// wait for processors where the load does not say more.
const mostWait = 8

// withoutWait takes off a wall time of a run the part in which ready threads
// had no processor. Wait is summed over threads; the threads that ran or
// waited at a time are cpu+wait per wall, at least one. They are not all the
// job's: a runtime has threads of its own. On a CPU the job computes on so many
// threads at a time and no more, so that the rest is at least its processor time
// over those. A job that is idle part of the time may have waited
// while it had nothing to do, as one that sleeps until a set time does: only the
// share of the wait counts that the job was busy or waiting for, and no more of
// it than so many times the processor time as others stood in line. The wait of a
// runtime's own threads, which wake to find nothing to do, delays nobody.
func withoutWait(r journal.Run, wall, cpu, wait float64) float64 {
	if wall <= 0 || wait <= 0 {
		return wall
	}
	wait = min(wait, max(mostWait, 2*r.Load/float64(max(1, r.CPUs)))*cpu)
	least := 0.0
	if threads := threads(r); r.Device == "cpu" && threads > 0 {
		least = min(wall, cpu/threads)
	}
	ready := (cpu + wait) / wall
	return max(least, wall-min(1, ready)*wait/max(1, ready))
}

// threads is how many of a run's threads could run at a time: as many as were
// seen to want a processor, or else as many as the job was given, and no more than there are processors, or than the job was limited to.
func threads(r journal.Run) float64 {
	n := r.Parallel
	if n == 0 {
		n = float64(r.Threads)
	}
	if r.CPUs > 0 {
		n = min(n, float64(r.CPUs))
	}
	if r.CPULimit > 0 {
		n = min(n, r.CPULimit)
	}
	return n
}
