package cluster

// Conservative lets jobs overtake as long as they delay nobody (Mu'alem and
// Feitelson, IEEE TPDS 12(6), 2001).
const Conservative Discipline = "conservative"

// share reserves what a job will take, and leaves the rest of its nodes to others.
func share(p *Profile, from, to int64, nodes int, s *Share) {
	p.Reserve(from, to, nodes, s)
}

func conservative() Scheduler {
	return Scheduler{Event: func(p *Plan, f *Pass) { p.reserving(f, Backfill{}, share) }}
}
