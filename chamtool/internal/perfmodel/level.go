package perfmodel

// level is the middle of the last three numbers, which one stall does not move; of fewer, the
// last one; 0 without any.
type level struct {
	numbers [3]float64
	n       int
}

func (l *level) add(x float64) {
	l.numbers[l.n%len(l.numbers)] = x
	l.n++
}

func (l *level) value() float64 {
	if l.n < len(l.numbers) {
		return l.numbers[max(0, l.n-1)]
	}
	x := &l.numbers
	return max(min(x[0], x[1]), min(x[2], max(x[0], x[1])))
}
