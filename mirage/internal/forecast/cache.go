package forecast

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/foretime/foretime/mirage/internal/trace"
	"github.com/foretime/foretime/mirage/internal/wait"
	"github.com/foretime/foretime/shared/file"
)

// Cache keeps fitted forecasters in a directory of its own, by the digest of the jobs,
// the settings and the program. It removes the oldest beyond a number.
type Cache struct {
	Dir     string
	Program string      // build of this program: another one fits again
	Warn    func(error) // what kept a forecaster from being stored
}

// cachedFiles is the largest number of files in a cache, of two to three megabytes each.
const cachedFiles = 20

// suffix ends the names of the files, the only ones that the cache removes.
const suffix = ".forecaster"

// fitForecaster returns a forecaster that has learnt from the jobs before a time.
func fitForecaster(ctx context.Context, jobs []trace.Job, at int64, s wait.Settings, cache *Cache) (*wait.Forecaster, error) {
	path := cache.path(jobs, at, s)
	if f, err := restore(ctx, path, jobs, at, s); err == nil {
		return f, nil
	}
	f, err := wait.NewForecaster(jobs, s)
	if err != nil {
		return nil, err
	}
	if err := f.Reach(ctx, at); err != nil {
		return nil, err
	}
	if path != "" {
		if err := cache.store(path, f); err != nil {
			cache.Warn(fmt.Errorf("the forecaster is not cached: %w", err))
		}
	}
	return f, nil
}

// path returns the name of the file of a forecaster; "" without a cache.
func (c *Cache) path(jobs []trace.Job, at int64, s wait.Settings) string {
	if c == nil {
		return ""
	}
	s.Threads = 0 // they change nothing
	h := sha256.New()
	e := json.NewEncoder(h)
	err := e.Encode([]any{c.Program, at, s})
	for i := range jobs {
		err = errors.Join(err, e.Encode(&jobs[i]))
	}
	if err != nil {
		return ""
	}
	return filepath.Join(c.Dir, hex.EncodeToString(h.Sum(nil))+suffix)
}

// restore returns a forecaster with the state of a time in a file.
func restore(ctx context.Context, path string, jobs []trace.Job, at int64, s wait.Settings) (*wait.Forecaster, error) {
	in, err := file.OpenRegular(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	var state wait.State
	if err := json.NewDecoder(in).Decode(&state); err != nil || state.At != at {
		return nil, errors.Join(fmt.Errorf("%s is damaged", path), err)
	}
	f, err := wait.NewForecaster(jobs, s)
	if err != nil {
		return nil, err
	}
	return f, f.Restore(ctx, state)
}

func (c *Cache) store(path string, f *wait.Forecaster) error {
	s, err := f.State()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return err
	}
	_ = os.Remove(path) // a link, whose target would be written
	if err := file.WriteJSON(path, s); err != nil {
		return err
	}
	return c.prune()
}

// prune removes the oldest files beyond the largest number.
func (c *Cache) prune() error {
	paths, err := filepath.Glob(filepath.Join(c.Dir, "*"+suffix))
	if err != nil {
		return err
	}
	age := func(path string) int64 {
		info, err := os.Lstat(path)
		if err != nil { // another process has removed it
			return 0
		}
		return info.ModTime().UnixNano()
	}
	slices.SortFunc(paths, func(a, b string) int { return cmp.Compare(age(b), age(a)) })
	for _, path := range paths[min(len(paths), cachedFiles):] {
		_ = os.Remove(path)
	}
	return nil
}
