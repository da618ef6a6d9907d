package cluster

// Slurm is a strict pass on events and a backfill pass on an interval
// (sched_config of Slurm's documents).
const Slurm Discipline = "slurm"

// slurm has 7000 points for age, full after seven days, and 100 for size, a
// backfill pass each 30 s over 2880 minutes, exact, and looks at 1000 jobs.
func slurm() Scheduler {
	return Scheduler{
		Event: (*Plan).strict,
		Periodic: func(p *Plan, f *Pass) {
			p.reserving(f, p.Rules.Backfill, (*Profile).Promise)
		},
		Defaults: func(r *Rules) {
			r.Weights.Age, r.Weights.Size = 7000, 100
			r.Backfill = Backfill{IntervalSeconds: 30, WindowMinutes: 2880, MaxJobTest: 1000}
			r.QueueDepth = 1000
		},
	}
}
