package cluster

// Conservative lets jobs overtake as long as they delay no other (Mu'alem and
// Feitelson, IEEE TPDS 12(6), 2001).
const Conservative Discipline = "conservative"

func conservative() Scheduler {
	return Scheduler{Event: func(p *Plan, f *Pass) {
		p.reserving(f, Backfill{}, func(p *Profile, from, to int64, nodes int, s *Share) { p.Reserve(from, to, nodes, s) })
	}}
}
