package provision

import (
	"errors"
	"fmt"

	"github.com/foretime/foretime/mirage/internal/slurmview"
	"github.com/foretime/foretime/mirage/internal/trace"
)

// Doubts, in warnings, each given once.
var (
	// ErrNeverStarts says that a job pends for a reason that time does not change.
	ErrNeverStarts = errors.New("the job cannot start")
	// ErrNoPriorityGain says what a chain without overlap costs where priority grows with age.
	ErrNoPriorityGain = errors.New("a job that waits for another one gains no priority on this cluster (PriorityFlags lacks ACCRUE_ALWAYS): each successor begins to queue when its predecessor ends; the tasks of one array (sbatch --array=1-N%1) gain priority from the time that the first one has to wait")
)

// doubt warns once.
func (p *Provisioner) doubt(err error) {
	if !p.doubted[err.Error()] {
		p.doubted[err.Error()] = true
		p.s.Warn(err)
	}
}

// stuck doubts a service's job that will never start. It returns an error for the first
// of the chain, whose successors would not start either.
func (p *Provisioner) stuck(k *Link, j *slurmview.Job) error {
	if !j.State.Pending() {
		return nil
	}
	if j.NeedsRelease() {
		p.doubt(fmt.Errorf("job %d of link %d is held (%s) and starts after scontrol release %d", j.ID, k.Number, j.Reason, j.ID))
	}
	if hold, _ := trace.ReadReason(j.Reason); hold != trace.ForNothing {
		return nil
	}
	err := fmt.Errorf("job %d of link %d: %w: pending with reason %s", j.ID, k.Number, ErrNeverStarts, j.Reason)
	if k.Number == 0 && k.Gone == 0 {
		return err
	}
	p.doubt(err)
	return nil
}
