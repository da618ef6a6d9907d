package provision

import (
	"errors"

	"github.com/foretime/foretime/mirage/internal/chain"
	"github.com/foretime/foretime/mirage/internal/policy"
	"github.com/foretime/foretime/mirage/internal/simulator"
	"github.com/foretime/foretime/mirage/internal/trace"
)

// ErrUnseen is returned when the cluster has not been described yet.
var ErrUnseen = errors.New("the nodes of the cluster are unknown so far")

// resume returns the queue as it was last seen and the service in it, which takes what
// its predecessor has.
func (p *Provisioner) resume(s *policy.State) (chain.Service, *simulator.Simulator, error) {
	service := s.Service
	if p.view == nil {
		return service, nil, ErrUnseen
	}
	job, sim, err := p.view.Successor(trace.Job{Nodes: service.Nodes, Limit: service.Limit})
	service.Nodes, service.Priority = job.Nodes, job.Priority
	service.Partition = job.Partition
	service.Need = job.Need
	service.Charges = job.Charges
	return service, sim, err
}
