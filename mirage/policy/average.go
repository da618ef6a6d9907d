package policy

// averageOver is how many started jobs the average is taken over.
const averageOver = 100

// Average submits when the predecessor has as long to run as the last hundred
// started jobs waited on average.
type Average struct{}

// Decide says submit when the average wait is reached.
func (Average) Decide(s *State) (Decision, error) {
	waits := s.Waits[:min(len(s.Waits), averageOver)]
	sum := 0.0
	for _, w := range waits {
		sum += w
	}
	return waitOf(s, amongWaits(s, sum/float64(max(len(waits), 1)))), nil
}
