package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/foretime/foretime/chamtool/config"
	"github.com/foretime/foretime/chamtool/perfmodel"
)

// storePath is where this host's models are kept; "" keeps none.
func (c *consumer) storePath() string {
	host, _ := os.Hostname()
	return c.config.StorePath(host)
}

// model is what this rank begins with.
func (c *consumer) model() (*perfmodel.Model, []error) {
	var warnings []error
	o := perfmodel.Options{Serve: c.config.Model, FirstFit: c.config.FirstFitTasks}
	if c.config.MLPFile != "" {
		network, err := perfmodel.LoadNetwork(c.config.MLPFile)
		if err != nil {
			warnings = append(warnings, err)
		}
		o.Network = network
	}
	m := perfmodel.New(o)
	path := c.storePath()
	switch {
	case path == "":
	case c.config.Calibrate == config.CalibrateRestart:
		if c.rank == 0 {
			if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
				warnings = append(warnings, err)
			}
		}
	default:
		s, err := perfmodel.ReadStore(path)
		if err == nil {
			m.Teach(s)
		} else if !errors.Is(err, os.ErrNotExist) {
			warnings = append(warnings, fmt.Errorf("kept models are not used: %w", err))
		}
	}
	return m, warnings
}

// keep merges what this rank learned into the kept models, under a lock: other
// ranks of the host do the same at about the same time.
func (c *consumer) keep() error {
	path := c.storePath()
	learned := c.session.Model().Learned()
	if path == "" || c.config.Calibrate == config.CalibrateUse || len(learned.Entries) == 0 {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	lock, err := os.OpenFile(path+".lock", os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return err
	}
	defer lock.Close() // which unlocks
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return err
	}
	kept, err := perfmodel.ReadStore(path)
	if errors.Is(err, perfmodel.ErrStore) {
		if err := os.Rename(path, path+".bad"); err != nil {
			return err
		}
	} else if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if kept == nil {
		kept = &perfmodel.Store{}
	}
	kept.Merge(learned)
	return kept.Write(path)
}
