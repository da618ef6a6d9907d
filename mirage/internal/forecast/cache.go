package forecast

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/foretime/foretime/mirage/internal/trace"
	"github.com/foretime/foretime/mirage/internal/wait"
	"github.com/foretime/foretime/shared/file"
)

// Cache keeps fitted forecasters in a directory of its own, by the digest of the jobs,
// the settings and the program. It removes the oldest beyond a number and a size.
type Cache struct {
	Dir     string
	Program string      // build of this program: another one fits again
	Warn    func(error) // what kept a forecaster from being stored or read
	Now     func() time.Time
}

// The most files in a cache, and their bytes in all.
const (
	cachedFiles = 40
	cachedBytes = 64 << 20
)

// suffix ends the names of the files, the only ones that the cache removes.
const suffix = ".forecaster"

// fitForecaster returns a forecaster that has learnt from the jobs before a time.
func fitForecaster(ctx context.Context, jobs []trace.Job, at int64, s wait.Settings, cache *Cache) (*wait.Forecaster, error) {
	path := cache.path(jobs, at, s)
	if state, ok := cache.load(path); ok {
		f, err := wait.NewForecaster(jobs, s)
		if err != nil {
			return nil, err
		}
		if err := f.Restore(ctx, state); err == nil {
			return f, nil
		} else if ctx.Err() != nil {
			return nil, ctx.Err()
		}
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
		err = cmp.Or(err, e.Encode(&jobs[i]))
	}
	if err != nil {
		return ""
	}
	return filepath.Join(c.Dir, hex.EncodeToString(h.Sum(nil))+suffix)
}

// load reads a state; a file that was damaged is as good as none.
func (c *Cache) load(path string) (s wait.State, ok bool) {
	if path == "" {
		return s, false
	}
	if err := plain(path); err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			c.Warn(err)
		}
		return s, false
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return s, false
	}
	sum, body, _ := bytes.Cut(b, []byte("\n"))
	if want := sha256.Sum256(body); string(sum) != hex.EncodeToString(want[:]) || json.Unmarshal(body, &s) != nil {
		c.Warn(fmt.Errorf("%s is damaged and is written again", path))
		return s, false
	}
	now := c.Now()
	_ = os.Chtimes(path, now, now) // the oldest are removed by when they were used
	return s, true
}

// plain returns an error unless path names a plain file: the cache neither follows a link nor
// waits for a FIFO.
func plain(path string) error {
	info, err := os.Lstat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no plain file and is not used", path)
	}
	return err
}

func (c *Cache) store(path string, f *wait.Forecaster) error {
	s, err := f.State()
	if err != nil {
		return err
	}
	body, err := json.Marshal(s)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return err
	}
	if err := plain(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	err = file.Write(path, func(w io.Writer) error {
		sum := sha256.Sum256(body)
		_, err := fmt.Fprintf(w, "%s\n%s", hex.EncodeToString(sum[:]), body)
		return err
	})
	if err != nil {
		return err
	}
	return c.prune()
}

// prune removes the files that were not used for the longest time, beyond the bounds.
func (c *Cache) prune() error {
	paths, err := filepath.Glob(filepath.Join(c.Dir, "*"+suffix))
	if err != nil {
		return err
	}
	type entry struct {
		path string
		info fs.FileInfo
	}
	var all []entry
	for _, path := range paths {
		if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() { // another process may have removed it
			all = append(all, entry{path, info})
		}
	}
	slices.SortFunc(all, func(a, b entry) int {
		return cmp.Or(b.info.ModTime().Compare(a.info.ModTime()), cmp.Compare(a.path, b.path))
	})
	bytes := int64(0)
	for i, e := range all {
		if bytes += e.info.Size(); i > 0 && (i >= cachedFiles || bytes > cachedBytes) {
			_ = os.Remove(e.path)
		}
	}
	return nil
}
