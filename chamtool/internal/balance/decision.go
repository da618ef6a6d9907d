package balance

import "math"

// Situation holds the state of the ranks at a decision.
type Situation struct {
	Loads       []float64 // predicted seconds that each rank still has, what is on its way to it included
	Workers     int       // threads of a rank that run tasks, at least 1
	TaskSeconds float64   // mean time of a task
	MoveSeconds float64   // what moving one task takes; transfers of less are left out
	Every       float64   // seconds between decisions; +Inf before the second one
}

// Transfers returns the offload table, cut down to the horizon: the work that each rank should
// give to each other rank.
func (s Situation) Transfers() []Transfer {
	return Stock(PlanTransfers(s.Loads, s.MoveSeconds), s.Loads, s.Horizon())
}

// Horizon returns the seconds of work that a receiver gets in advance. It is a quarter of the
// mean rest, which leaves room to correct early mistakes. At the end, when that is little, it
// is the work that the receiver's workers finish until the tasks of the decision after the next
// arrive, at least four tasks.
func (s Situation) Horizon() float64 {
	mean := 0.0
	for _, l := range s.Loads {
		mean += l / float64(len(s.Loads))
	}
	return max(mean/4, 4*s.TaskSeconds+s.MoveSeconds, 2*s.Every*float64(max(s.Workers, 1))+s.MoveSeconds)
}

// TransfersFrom returns the transfers of one giver, in their order.
func TransfersFrom(rank int, transfers []Transfer) []Transfer {
	var own []Transfer
	for _, t := range transfers {
		if t.From == rank {
			own = append(own, t)
		}
	}
	return own
}

// Move is one task on its way.
type Move struct {
	Task int // its index
	To   int // rank
}

// Moves names the tasks, given in predicted seconds, that make up one giver's
// transfers. No task moves twice, none that takes least seconds or less, and no
// more than most to one rank; most below 0 is no limit.
func Moves(tasks []float64, transfers []Transfer, least float64, most int) []Move {
	free := append([]float64(nil), tasks...)
	sent := map[int]int{}
	var out []Move
	for _, t := range transfers {
		for _, i := range Pick(free, t, least) {
			if most >= 0 && sent[t.To] >= most {
				break
			}
			sent[t.To]++
			out = append(out, Move{i, t.To})
			free[i] = 0 // no later transfer picks it
		}
	}
	return out
}

// arrival is the seconds that a task which was sent takes to be in the receiver's
// load.
const arrival = 0.010

// InTransit holds the tasks sent so recently that the receivers' loads do not contain them yet.
// Times are on the caller's clock in seconds. The zero value is ready.
type InTransit struct {
	sent    []parcel
	decided float64
	started bool
}

type parcel struct {
	sentAt, seconds float64
	to              int
}

// Send adds predicted seconds of work that leave for a rank now.
func (w *InTransit) Send(now float64, to int, seconds float64) {
	w.sent = append(w.sent, parcel{now, seconds, to})
}

// AddTo adds what is still on its way to the loads.
func (w *InTransit) AddTo(loads []float64, now float64) {
	kept := w.sent[:0]
	for _, p := range w.sent {
		if now-p.sentAt < arrival {
			loads[p.to] += p.seconds
			kept = append(kept, p)
		}
	}
	w.sent = kept
}

// SinceLast returns the seconds since it was last called, +Inf at first.
func (w *InTransit) SinceLast(now float64) float64 {
	before, asked := w.decided, w.started
	w.decided, w.started = now, true
	if !asked {
		return math.Inf(1)
	}
	return now - before
}
