package prediction

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/foretime/foretime/edgeprof/internal/device"
	"github.com/foretime/foretime/edgeprof/internal/profiler"
	"github.com/foretime/foretime/shared/file"
)

// Catalog finds rates: in files, and in the built-in model. It reads a file again when
// the file changes, and otherwise returns the same calibration again. Many goroutines may
// use it at once.
type Catalog struct {
	// Default is the path of this machine's own rates; "" if it has no place for them.
	Default string
	// Builtin returns the model that is part of the program. Its trees refine the
	// rates of every file.
	Builtin func() (*profiler.Model, error)

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
	m, err := c.Builtin()
	if err != nil {
		return "", nil, err
	}
	// ONNX Runtime's rates: most people deploy it
	builtin, err := Setting(m.Settings, device.Device{}, runtimeORT)
	if err != nil {
		return "", nil, err
	}
	data, err = json.Marshal(builtin)
	return "", data, err
}

// Parse reads rates, which the built-in model refines. The error matches
// [profiler.ErrCalibration] for a file of train.
func (c *Catalog) Parse(data []byte) (*profiler.Calibration, error) {
	rates := &profiler.Calibration{}
	read := struct {
		Kind string `json:"kind"`
		*profiler.Calibration
	}{Calibration: rates}
	if err := json.NewDecoder(bytes.NewReader(data)).Decode(&read); err != nil {
		return nil, err
	}
	if read.Kind != "" {
		return nil, fmt.Errorf("%w: this is %q, a file of train; write its rates with train --calibrations", profiler.ErrCalibration, read.Kind)
	}
	rates.Complete()
	if err := rates.Check(); err != nil {
		return nil, err
	}
	m, err := c.Builtin()
	if err != nil {
		return nil, err
	}
	m.Use(rates)
	return rates, nil
}

// Rates returns the calibration in a file; for "" the default one or, if another runtime
// is given, that of the built-in model that suits the device best. A file that is named
// must have rates of that runtime: otherwise the error matches [profiler.ErrCalibration].
func (c *Catalog) Rates(name, runtime string, d device.Device) (*profiler.Calibration, error) {
	settings, err := c.Settings(name, runtime)
	if err != nil {
		return nil, err
	}
	return closest(settings, d), nil
}

// Settings returns the calibrations that [Catalog.Rates] chooses from.
func (c *Catalog) Settings(name, runtime string) ([]*profiler.Calibration, error) {
	own, err := c.read(name)
	if err != nil {
		return nil, err
	}
	return c.settings(name, runtime, own)
}

func (c *Catalog) settings(name, runtime string, own *profiler.Calibration) ([]*profiler.Calibration, error) {
	if runtime == "" || own.Facts.Runtime == runtime {
		return []*profiler.Calibration{own}, nil
	}
	if name != "" {
		return nil, fmt.Errorf("%s: %w: it has rates of runtime %s, not of %s", name, profiler.ErrCalibration, own.Facts.Runtime, runtime)
	}
	m, err := c.Builtin()
	if err != nil {
		return nil, err
	}
	return withRuntime(m.Settings, runtime)
}

// read returns the calibration in a file, and the same one until the file changes.
func (c *Catalog) read(name string) (*profiler.Calibration, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	path := name
	if path == "" {
		path = c.Default
	}
	stamp := StampOf(path)
	if k, ok := c.kept[name]; ok && k.stamp == stamp {
		return k.calibration, nil
	}
	at, data, err := c.Content(name)
	if err != nil {
		return nil, err
	}
	rates, err := c.Parse(data)
	if err != nil {
		if at == "" {
			return nil, err
		}
		return nil, fmt.Errorf("%s: %w", at, err)
	}
	if c.kept == nil {
		c.kept = map[string]kept{}
	}
	c.kept[name] = kept{stamp, rates}
	return rates, nil
}
