package scheduler

import (
	"math"

	"github.com/foretime/foretime/mirage/cluster"
)

// Conservative lets jobs overtake as long as they delay nobody (Mu'alem and
// Feitelson, IEEE TPDS 12(6), 2001).
const Conservative Discipline = "conservative"

// share reserves what a job will take, and leaves the rest of its nodes to others.
func share(p *cluster.Profile, from, to int64, nodes int, s *cluster.Share) {
	p.Reserve(from, to, nodes, s)
}

func conservative() Way {
	return Way{
		Event:    func(p *Plan, f *Floor) { p.reserving(f, 0, 0, 0, share) },
		Promises: func(Rules) Promises { return Promises{HeadWithin: math.MaxInt64, AllReserved: true} },
	}
}
