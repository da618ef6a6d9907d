package estimate

import (
	"maps"
	"slices"

	"github.com/foretime/foretime/allox-est/journal"
)

// inLaps makes the laps of runs, where each holds several epochs, the epochs of
// runs and job. The job's last lap counts as a whole one.
func inLaps(runs []journal.Run, job Job) ([]journal.Run, Job, int) {
	lap := 1
	for _, r := range runs {
		lap = max(lap, r.PerLap)
	}
	if lap == 1 {
		return runs, job, lap
	}
	runs = slices.Clone(runs)
	for i := range runs {
		runs[i].Epochs = max(1, runs[i].Epochs/lap)
	}
	job.Epochs = (job.Epochs + lap - 1) / lap
	job.Unit = "lap"
	every := maps.Clone(job.Every)
	job.Every = map[string]int{}
	for name, period := range every {
		if period > lap { // one of a lap is in all of them
			job.Every[name] = period / lap
		}
	}
	return runs, job, lap
}

// inEpochs takes an estimate in laps back to epochs.
func (e *Estimate) inEpochs(lap int) {
	e.Epochs *= lap
	if s := e.Segments; s != nil {
		s.WarmUp, s.Period, s.Epoch = s.WarmUp*lap, s.Period*lap, s.Epoch/float64(lap)
		for i := range s.Costs {
			s.Costs[i].Every *= lap
		}
	}
}
