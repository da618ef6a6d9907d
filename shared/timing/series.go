package timing

// series is a list of floats that grows without copying: its memory stays at 8
// bytes per value.
type series struct {
	chunks []*[chunk]float64
	n      int
}

const chunk = 8192

func (s *series) value(i int) float64 { return s.chunks[i/chunk][i%chunk] }

// set stores value i; i is at most one beyond all values set before. It does not
// change n.
func (s *series) set(i int, x float64) {
	if i/chunk == len(s.chunks) {
		s.chunks = append(s.chunks, new([chunk]float64))
	}
	s.chunks[i/chunk][i%chunk] = x
}
