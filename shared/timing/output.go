package timing

import (
	"io"
	"iter"
)

// Output is the content of a job's log: its laps in seconds. A job of k epochs that
// follows the protocol prints k+2: set-up, epochs, teardown.
type Output struct {
	Warnings []error // torn reports in addition to the complete one
	laps     series
}

// Len returns the number of laps.
func (o *Output) Len() int { return o.laps.n }

// All yields the laps in order, without a copy.
func (o *Output) All() iter.Seq[float64] {
	return func(yield func(float64) bool) {
		for i := range o.laps.n {
			if !yield(o.laps.value(i)) {
				return
			}
		}
	}
}

// Laps returns a copy of the laps in one slice.
func (o *Output) Laps() []float64 {
	xs := make([]float64, 0, o.laps.n)
	for x := range o.All() {
		xs = append(xs, x)
	}
	return xs
}

// Total returns the sum of the laps in seconds.
func (o *Output) Total() float64 {
	var sum float64
	for x := range o.All() {
		sum += x
	}
	return sum
}

// Line returns the job's time as a line over its epochs: intercept is the first lap
// plus the last, slope the mean of those between, both in seconds. Fewer than three
// laps have no slope (ok is false); the intercept is then their sum.
func (o *Output) Line() (intercept, slope float64, ok bool) {
	n := o.laps.n
	if n < 3 {
		return o.Total(), 0, false
	}
	for i := 1; i < n-1; i++ {
		slope += o.laps.value(i)
	}
	return o.laps.value(0) + o.laps.value(n-1), slope / float64(n-2), true
}

// ParseOutput reads a whole log and returns the report that choice selects. Errors
// are those of the reader or a *ParseError.
func ParseOutput(r io.Reader, choice Choice) (*Output, error) {
	p := Parser{Choice: choice}
	if _, err := p.ReadFrom(r); err != nil {
		return nil, err
	}
	return p.Output()
}

// ReadFrom consumes all of r. The error is r's.
func (p *Parser) ReadFrom(r io.Reader) (n int64, err error) {
	buf := make([]byte, 256<<10)
	for {
		k, err := r.Read(buf)
		n += int64(k)
		_, _ = p.Write(buf[:k])
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
}
