package cli

import (
	"math"
	"os"
	"path/filepath"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/foretime/foretime/shared/timing"
)

// Speed measures this machine's speed before, between and after a program's
// samples, and keeps the readings next to its record of predictions. If a reading
// fails or cannot be kept, one warning says so and the answer is still given:
// predictions then rest on fewer readings and are wider.
type Speed struct {
	record    *Record
	yardstick *timing.Yardstick
	own       []timing.Reading
	warned    bool
}

// NewSpeed returns a Speed that keeps its readings if record is kept.
func NewSpeed(record *Record) *Speed { return &Speed{record: record} }

// Read takes a reading, which lasts about 30 ms.
func (s *Speed) Read() {
	if s.yardstick == nil {
		s.yardstick = timing.NewYardstick(time.Now, timing.ThreadCPU)
	}
	r, err := s.yardstick.Read()
	if err != nil {
		s.warn(err)
		return
	}
	s.own = append(s.own, r)
	if h := s.history(); h != nil {
		s.warn(h.Add(r))
	}
}

// Readings returns the readings of this machine, earlier programs' first.
func (s *Speed) Readings() []timing.Reading {
	h := s.history()
	if h == nil {
		return s.own
	}
	all, err := h.Readings()
	s.warn(err)
	return append(all, s.own...) // duplicates count once
}

// SD returns the standard deviation of the logarithm of the machine's speed at this
// program's readings; 0 for fewer than two.
func (s *Speed) SD() float64 {
	if len(s.own) < 2 {
		return 0
	}
	speeds := make([]float64, len(s.own))
	for i, r := range s.own {
		speeds[i] = math.Log(r.Compute.CPU)
	}
	return stat.StdDev(speeds, nil)
}

// history returns the log of readings; nil if none is kept.
func (s *Speed) history() *timing.History {
	if s.record == nil || s.record.Book() == nil {
		return nil
	}
	host, err := os.Hostname()
	if err != nil {
		s.warn(err)
		return nil
	}
	return &timing.History{Path: filepath.Join(filepath.Dir(s.record.Book().Path), "speed.jsonl"), Machine: host}
}

func (s *Speed) warn(err error) {
	if err != nil && !s.warned {
		s.warned = true
		s.record.env.Log.Warnf("this machine's speed: %v", err)
	}
}
