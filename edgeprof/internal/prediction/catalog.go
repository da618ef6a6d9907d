package prediction

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/foretime/foretime/edgeprof/internal/profiler"
	"github.com/foretime/foretime/shared/file"
)

// Catalog finds rates: in files, and the built-in ones. It reads a file again when
// the file changes, and otherwise returns the same calibration again. Many goroutines may
// use it at once.
type Catalog struct {
	// Default is the path of this machine's own rates; "" if it has no place for them.
	Default string
	// Builtin holds the rates that are part of the program, as calibrate writes them.
	Builtin []byte
	// Provider is the execution provider of all rates; "" is cpu.
	Provider string

	mutex sync.Mutex
	kept  map[string]kept
}

// kept is a calibration with the stamp of its file.
type kept struct {
	stamp       Stamp
	calibration *profiler.Calibration
}

// Stamp is the size and the modification time of a file. It changes when the file is
// written again.
type Stamp struct {
	size     int64
	modified time.Time
}

// StampOf returns the stamp of a file; a missing file has one too.
func StampOf(path string) Stamp {
	info, err := os.Stat(path)
	if err != nil {
		return Stamp{size: -1}
	}
	return Stamp{info.Size(), info.ModTime()}
}

// Content returns the content of the named file. For "" it returns that of the default
// file or, if that does not exist, the built-in rates, whose path is "".
func (c *Catalog) Content(name string) (path string, data []byte, err error) {
	if name != "" {
		data, err = file.ReadAll(name)
		return name, data, err
	}
	if c.Default != "" {
		if data, err = file.ReadAll(c.Default); err == nil || !os.IsNotExist(err) {
			return c.Default, data, err
		}
	}
	return "", c.Builtin, nil
}

// ParseRates reads the rates of a calibration. The error matches [profiler.ErrCalibration] for a file of train.
func ParseRates(data []byte) (*profiler.Calibration, error) {
	rates := &profiler.Calibration{}
	read := struct {
		Kind string `json:"kind"`
		*profiler.Calibration
	}{Calibration: rates}
	if err := json.NewDecoder(bytes.NewReader(data)).Decode(&read); err != nil {
		return nil, err
	}
	if read.Kind != "" {
		return nil, fmt.Errorf("%w: this is %q, a file of train, which has no rates", profiler.ErrCalibration, read.Kind)
	}
	rates.Complete()
	if err := rates.Check(); err != nil {
		return nil, err
	}
	return rates, nil
}

// Rates returns the calibration in a file, and the same one until the file changes. For ""
// it is that of the default file or, if that does not exist, the built-in one.
func (c *Catalog) Rates(name string) (*profiler.Calibration, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	path := cmp.Or(name, c.Default)
	stamp := StampOf(path)
	if k, ok := c.kept[name]; ok && k.stamp == stamp {
		return k.calibration, nil
	}
	at, data, err := c.Content(name)
	if err != nil {
		return nil, err
	}
	rates, err := ParseRates(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", cmp.Or(at, "built-in rates"), err)
	}
	if has, want := cmp.Or(rates.Facts.Provider, "cpu"), cmp.Or(c.Provider, "cpu"); has != want {
		return nil, fmt.Errorf("%w: %s: rates of the provider %s, want %s: edgeprof calibrate --provider %[4]s measures them",
			profiler.ErrCalibration, cmp.Or(at, "built-in rates"), has, want)
	}
	rates.Facts.Shipped = at == ""
	if c.kept == nil {
		c.kept = map[string]kept{}
	}
	c.kept[name] = kept{stamp, rates}
	return rates, nil
}
