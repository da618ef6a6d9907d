package cluster

// EASY lets jobs overtake as long as they do not delay the first one (Lifka,
// JSSPP 1995).
const EASY Discipline = "easy"

func easy() Scheduler {
	return Scheduler{Event: (*Plan).easy}
}

// easy starts jobs in turn; the first that does not fit gets a reservation, in
// each partition where nodes are of kinds, and later ones start if they fit
// beside it.
func (p *Plan) easy(f *Pass) {
	reserved, outOfTurn := uint64(0), false
	f.Nodes.Plan(&p.profile, f.Now, 0)
	w := walk{q: f.Queue, now: f.Now}
	for r := w.next(); r != nil; r = w.next() {
		nodes := int(r.Nodes)
		switch {
		case p.blocked(f, r):
			outOfTurn = true
		case p.profile.Fits(nodes, r.Share, r.Limit):
			p.begin(f, r, p.take(f, r, max(r.Limit, 1)), outOfTurn)
		case r.partitions()&^reserved != 0:
			at := p.profile.Earliest(nodes, r.Share, r.Limit)
			p.profile.Reserve(at, at+max(r.Limit, 1), nodes, r.Share)
			reserved, outOfTurn = reserved|r.partitions(), true
		}
		if f.Nodes.Free() == 0 {
			return
		}
	}
}
