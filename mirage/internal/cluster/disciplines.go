package cluster

// slurmDefaults sets 7000 points for age, full after seven days, and 100 for size, a
// backfill pass each 30 s over 2880 minutes, exact, that looks at 1000 jobs.
func slurmDefaults(r *Rules) {
	r.Weights.Age, r.Weights.Size = 7000, 100
	r.Backfill = Backfill{IntervalSeconds: 30, WindowMinutes: 2880, MaxJobTest: 1000}
	r.QueueDepth = 1000
}

func (p *Plan) backfilling(f *Pass) { p.reserving(f, p.Rules.Backfill, (*Profile).Promise) }

// conservative starts jobs that delay no other.
func (p *Plan) conservative(f *Pass) {
	p.reserving(f, Backfill{}, func(p *Profile, from, to int64, nodes int, s *Share) { p.Reserve(from, to, nodes, s) })
}

// easy starts jobs in order. The first that does not fit gets a reservation, one per partition
// on a machine with kinds of nodes, and later ones start if they do not delay it.
func (p *Plan) easy(f *Pass) {
	reserved, outOfTurn := uint64(0), false
	f.Nodes.Plan(&p.profile, f.Now, 0)
	w := walk{q: f.Queue, now: f.Now}
	for r := w.next(); r != nil; r = w.next() {
		nodes := int(r.Nodes)
		switch {
		case p.isBlocked(f, r):
			outOfTurn = true
		case p.profile.Fits(nodes, r.Share, r.Limit):
			p.begin(f, r, p.reserveNow(f, r, max(r.Limit, 1)), outOfTurn)
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
