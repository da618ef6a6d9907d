package scheduler

import "github.com/foretime/foretime/mirage/cluster"

// Slurm is a strict pass on events and a backfill pass on an interval
// (sched_config of Slurm's documents).
const Slurm Discipline = "slurm"

// slurm has 7000 points for age, full after seven days, and 100 for size, a
// backfill pass each 30 s over 2880 minutes, exact, and looks at 1000 jobs.
func slurm() Way {
	return Way{
		Event: (*Plan).strict,
		Periodic: func(p *Plan, f *Floor) {
			b := p.Rules.Backfill
			p.reserving(f, b.MaxJobTest, b.WindowMinutes*60, b.ResolutionSeconds, (*cluster.Profile).Promise)
		},
		Defaults: func(r *Rules) {
			r.Weights.Age, r.Weights.Size = 7000, 100
			r.Backfill = Backfill{IntervalSeconds: 30, WindowMinutes: 2880, MaxJobTest: 1000}
			r.QueueDepth = 1000
		},
		Promises: func(r Rules) Promises {
			if r.Backfill.ResolutionSeconds > 0 {
				return Promises{}
			}
			return Promises{HeadWithin: r.Backfill.WindowMinutes * 60}
		},
	}
}
