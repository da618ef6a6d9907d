package scheduler

import "math"

// Conservative lets jobs overtake as long as they delay nobody (Mu'alem and
// Feitelson, IEEE TPDS 12(6), 2001).
const Conservative Discipline = "conservative"

func conservative() Way {
	return Way{
		Event:    func(p *Plan, f *Floor) { p.reserving(f, 0, 0, 0) },
		Promises: func(Rules) Promises { return Promises{HeadWithin: math.MaxInt64, AllReserved: true} },
	}
}
