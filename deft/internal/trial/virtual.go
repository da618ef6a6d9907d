package trial

import (
	"context"
	"time"

	"github.com/foretime/foretime/deft/internal/experiment"
	"github.com/foretime/foretime/deft/internal/policy"
	"github.com/foretime/foretime/deft/internal/report"
	"github.com/foretime/foretime/deft/internal/simulator"
)

// Virtual runs an experiment on the virtual clock. The clock of the logs begins
// with the first warm-up job.
func Virtual(ctx context.Context, x *experiment.Experiment) (*Outcome, error) {
	c, err := simulatorConfig(x)
	if err != nil {
		return nil, err
	}
	result, err := simulator.Run(ctx, c)
	if err != nil {
		return nil, err
	}
	o := &Outcome{
		Run:    &report.Run{Policy: x.PolicyName(), Device: "sim", Clock: "virtual", Warnings: warnings(x, "sim")},
		PIDs:   make([]int, len(x.Models)),
		models: x.Models,
	}
	if err := o.addResult(x, result); err != nil {
		return nil, err
	}
	return o, nil
}

// simulatorConfig returns the experiment as the simulator's configuration.
func simulatorConfig(x *experiment.Experiment) (simulator.Config, error) {
	p, err := policy.New(x.PolicyName(), x.Rules())
	if err != nil {
		return simulator.Config{}, err
	}
	c := simulator.Config{
		Policy: p, Duration: x.Duration, MinJobs: x.MinJobs, Device: x.Device,
		SyncCost: x.SyncCost, Reaction: x.Reaction, Jitter: x.Jitter, Seed: x.Seed, WarmUp: true,
	}
	for i := range x.Models {
		m := &x.Models[i]
		job, err := m.Profile()
		if err != nil {
			return simulator.Config{}, err
		}
		c.Clients = append(c.Clients, simulator.Client{
			Terms: x.Terms(i), Kernels: job.Times(), Graph: m.Graph, Launch: m.LaunchCost,
			Sleep: m.Pause(), Period: m.Period, Start: m.Start,
			MemoryBytes: job.AllocatedBytes, ReservedBytes: job.ReservedBytes,
		})
	}
	return c, nil
}

// addResult puts the simulator's result into the outcome.
func (o *Outcome) addResult(x *experiment.Experiment, result *simulator.Result) error {
	r := o.Run
	var begin time.Duration
	for _, c := range result.Clients {
		begin = min(begin, c.Jobs[0].Begin)
	}
	for i := range result.Clients {
		c := &result.Clients[i]
		m := describe(&x.Models[i])
		m.Launches, m.MaxQueue = c.Launches, c.MaxQueue
		m.Syncs = c.Syncs
		m.StallMS, m.GateMS = milliseconds(c.Stall), milliseconds(c.Gate)
		m.GPUMS = milliseconds(c.GPU)
		var times []float64
		for _, j := range c.JobsAfterWarmUp() {
			times = append(times, milliseconds(j.JCT()))
		}
		last := c.Jobs[len(c.Jobs)-1].End
		if err := m.Measure(times, last.Seconds()); err != nil {
			return err
		}
		r.Models = append(r.Models, m)
		o.Logs = append(o.Logs, jobLog(c, begin))
	}
	r.Seconds = result.End.Seconds()
	r.Decisions = result.Decisions
	return nil
}

// jobLog returns a client's jobs as a log whose clock starts at begin.
func jobLog(c *simulator.ClientResult, begin time.Duration) []report.Job {
	var rows []report.Job
	for _, j := range c.Jobs {
		rows = append(rows, report.Job{
			StartNs: int64(j.Begin - begin), EndNs: int64(j.End - begin), Ms: milliseconds(j.JCT()),
			AllocatedBytes: &c.MemoryBytes, ReservedBytes: &c.ReservedBytes,
		})
	}
	return rows
}
