package cli

import (
	"os"
	"path/filepath"
	"time"

	"github.com/foretime/foretime/shared/timing"
)

// Speed reads this machine's speed before, between and after a program's samples,
// and keeps the readings next to its record of predictions. What cannot be read or
// kept is warned of once, and costs no answer: predictions then rest on fewer
// readings, and are wider.
type Speed struct {
	record    *Record
	yardstick *timing.Yardstick
	own       []timing.Reading
	warned    bool
}

// NewSpeed returns a Speed whose readings are kept if the record is.
func NewSpeed(record *Record) *Speed { return &Speed{record: record} }

// Read takes a reading; it lasts about 30 ms.
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

// Readings returns the readings of this machine, those of earlier programs first.
func (s *Speed) Readings() []timing.Reading {
	h := s.history()
	if h == nil {
		return s.own
	}
	all, err := h.Readings()
	s.warn(err)
	return append(all, s.own...) // one that is there twice counts once
}

// history is the log; nil if none is kept.
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
