package scheduler

import "math"

// EASY lets jobs overtake as long as they do not delay the first one (Lifka,
// JSSPP 1995).
const EASY Discipline = "easy"

func easy() Way {
	return Way{
		Event:    (*Plan).easy,
		Promises: func(Rules) Promises { return Promises{HeadWithin: math.MaxInt64} },
	}
}

// easy starts jobs in turn; the first that does not fit gets a reservation,
// and later ones start if they fit beside it.
func (p *Plan) easy(f *Floor) {
	reserved, outOfTurn := false, false
	f.Nodes.Plan(&p.profile, f.Now, 0)
	w := walk{q: f.Queue, now: f.Now}
	for r := w.next(); r != nil; r = w.next() {
		nodes := int(r.Nodes)
		switch {
		case p.blocked(f, r):
			outOfTurn = true
		case p.profile.Fits(nodes, r.Limit):
			p.profile.Reserve(f.Now, f.Now+max(r.Limit, 1), nodes)
			p.begin(f, r, outOfTurn)
		case !reserved:
			at := p.profile.Earliest(nodes, r.Limit)
			p.profile.Reserve(at, at+max(r.Limit, 1), nodes)
			reserved, outOfTurn = true, true
		}
		if f.Nodes.Free() == 0 {
			return
		}
	}
}
