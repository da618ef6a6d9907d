package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/foretime/foretime/chamtool/internal/config"
	"github.com/foretime/foretime/chamtool/internal/perfmodel"
)

// model returns the model with which this rank begins, and an error if what is kept is not used.
func (c *consumer) model() (*perfmodel.Model, error) {
	m := perfmodel.New(perfmodel.Auto)
	path := c.config.StorePath()
	if path == "" || c.config.Calibrate == config.CalibrateRestart { // keep drops what was kept before this run
		return m, nil
	}
	s, err := perfmodel.ReadStore(path)
	if err == nil {
		m.Teach(s)
	} else if !errors.Is(err, os.ErrNotExist) {
		return m, fmt.Errorf("kept models are not used: %w", err)
	}
	return m, nil
}

// keep merges what this rank learned into the kept models.
func (c *consumer) keep() error {
	path := c.config.StorePath()
	if path == "" || c.config.Calibrate == config.CalibrateUse {
		return nil
	}
	learned := c.session.TakeLearned(time.Now())
	if learned.Len() == 0 {
		return nil
	}
	var since time.Time
	if c.config.Calibrate == config.CalibrateRestart {
		since = c.began
	}
	return perfmodel.SharedStore{Path: path, Now: time.Now}.Add(learned, since)
}
