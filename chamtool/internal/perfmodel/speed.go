package perfmodel

import "math"

// speed holds the slowness of the process and of each worker now, as a logarithm relative to
// the start, over all functions. Every run of sizes that ran before adds to it: its distance
// from them, and the speed at that time.
type speed struct {
	process movingMedian
	workers []worker
}

// worker holds the speed of a worker relative to the process's, and its clock.
type worker struct {
	movingMedian
	clock float64 // MHz at which its numbers were taken; 0 is not known
}

// maxWorkers bounds the workers with a speed of their own.
const maxWorkers = 512

// worker returns the one that runs a task, nil where that is not known.
func (s *speed) worker(m Moment) *worker {
	if m.Worker <= 0 || m.Worker > maxWorkers {
		return nil
	}
	if m.Worker > len(s.workers) {
		s.workers = append(s.workers, make([]worker, m.Worker-len(s.workers))...)
	}
	return &s.workers[m.Worker-1]
}

// current returns the speed of a task's worker, or of the process where that is not known.
// A clock that has changed since is believed until runs say otherwise.
func (s *speed) current(m Moment) float64 {
	if w := s.worker(m); w != nil {
		return s.process.middle + w.middle - w.faster(m)
	}
	return s.process.middle
}

// minClockChange is the smallest change of a clock that counts: 3 %, since steady clocks vary by up
// to 2 %.
const minClockChange = 0.03

// faster returns the logarithm of the clock's speed relative to the time of the numbers.
func (w *worker) faster(m Moment) float64 {
	if !(m.MHz > 0) || w.clock == 0 || m.MHz == w.clock {
		return 0
	}
	if d := math.Log(m.MHz / w.clock); math.Abs(d) > minClockChange {
		return d
	}
	return 0
}

// learn takes what a run says of the speed at its moment.
func (s *speed) learn(m Moment, deviation float64) {
	w := s.worker(m)
	if w == nil {
		s.process.add(deviation)
		return
	}
	if d := w.faster(m); d != 0 {
		w.shift(-d)
		w.clock = 0
	}
	if w.clock == 0 && m.MHz > 0 {
		w.clock = m.MHz
	}
	s.process.add(deviation - w.middle)
	w.add(deviation - s.process.middle)
}

// movingMedian is the median of the recent numbers, as far back as they lie on both sides of
// it: a few in a row on one side are a step, and the numbers before it are dropped.
type movingMedian struct {
	numbers
	middle   float64
	sameSide int // how many of the last ones lay above the middle; below it, a negative number
}

func (l *movingMedian) add(x float64) {
	switch {
	case x > l.middle:
		l.sameSide = max(l.sameSide, 0) + 1
	case x < l.middle:
		l.sameSide = min(l.sameSide, 0) - 1
	default:
		l.sameSide = 0
	}
	l.numbers.add(float32(x))
	if max(l.sameSide, -l.sameSide) >= consecutiveRuns {
		l.keep(consecutiveRuns)
		l.sameSide = 0
	}
	l.middle = l.numbers.middle()
}

// shift moves all numbers.
func (l *movingMedian) shift(by float64) {
	for i := range l.order {
		l.order[i] += float32(by)
		l.sorted[i] += float32(by)
	}
	l.middle += by
}
