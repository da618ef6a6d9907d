package balance

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
