package httpapi

import (
	"io"
	"time"
)

// An upload must come at minBytesPerSecond on average, after a start of
// slowSeconds, and may pause for slowSeconds: a client that is slower would hold
// one of few places for nothing. Any modem is faster.
const (
	minBytesPerSecond = 1000
	slowSeconds       = 10
)

// paced is a request's body that must keep a pace: each read sets the deadline of
// the connection by what has come so far.
type paced struct {
	body     io.Reader
	deadline func(time.Time) error // sets that of the connection's reads
	now      func() time.Time
	begin    time.Time
	until    time.Time // the whole body has to be there
	bytes    int64
}

func (p *paced) Read(b []byte) (int, error) {
	const slow = slowSeconds * time.Second
	by := p.begin.Add(slow + time.Duration(p.bytes)*time.Second/minBytesPerSecond)
	if pause := p.now().Add(slow); pause.Before(by) {
		by = pause
	}
	if p.until.Before(by) {
		by = p.until
	}
	_ = p.deadline(by) // servers without deadlines have none to set
	n, err := p.body.Read(b)
	p.bytes += int64(n)
	return n, err
}
