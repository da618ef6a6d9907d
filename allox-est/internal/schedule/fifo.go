package schedule

import "context"

// fifo starts jobs in order of arrival, each on the device it reports faster
// of those with a free node. Nothing overtakes the first waiting job.
type fifo struct{}

func (fifo) Next(_ context.Context, s *State) (*Job, *Node) {
	j := s.Waiting[0]
	cpu, gpu := s.Free(CPU, j), s.Free(GPU, j)
	switch {
	case gpu != nil && (cpu == nil || j.Reported[GPU] <= j.Reported[CPU]):
		return j, gpu
	case cpu != nil:
		return j, cpu
	}
	return nil, nil
}
