package simcudatest

import (
	"os"
	"path/filepath"
	"time"
)

// keepFor is the time for which unused products are kept.
const keepFor = 14 * 24 * time.Hour

// Products brings what earlier test runs compiled into the folder dir, a cache
// of package cc, whose entries are named by their sources and compiler, and returns a
// function that keeps what this run added. A compilation takes seconds, a copy none.
// Where nothing can be kept, both do nothing.
func Products(dir string, now time.Time) (keep func()) {
	user, err := os.UserCacheDir()
	if err != nil {
		return func() {}
	}
	store := filepath.Join(user, "foretime", "deft-tests")
	copyNew(dir, store)
	return func() {
		if os.MkdirAll(store, 0o700) == nil {
			copyNew(store, dir)
			removeUnused(store, dir, now)
		}
	}
}

// copyNew copies the entries of one folder that another lacks, each whole or not at all.
func copyNew(to, from string) {
	entries, _ := os.ReadDir(from)
	for _, e := range entries {
		target := filepath.Join(to, e.Name())
		if _, err := os.Stat(target); err == nil || !e.IsDir() || e.Name()[0] == '.' {
			continue
		}
		work, err := os.MkdirTemp(to, ".copying-")
		if err != nil {
			return
		}
		if os.CopyFS(filepath.Join(work, "entry"), os.DirFS(filepath.Join(from, e.Name()))) == nil {
			_ = os.Rename(filepath.Join(work, "entry"), target) // of two runs that finish at once one fails
		}
		os.RemoveAll(work)
	}
}

// removeUnused marks the entries that a run used and removes those long unused.
func removeUnused(store, used string, now time.Time) {
	entries, _ := os.ReadDir(store)
	for _, e := range entries {
		path := filepath.Join(store, e.Name())
		if _, err := os.Stat(filepath.Join(used, e.Name())); err == nil {
			_ = os.Chtimes(path, now, now)
		} else if info, err := e.Info(); err == nil && now.Sub(info.ModTime()) > keepFor {
			os.RemoveAll(path)
		}
	}
}
