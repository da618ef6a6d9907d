package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/foretime/foretime/deft/hook"
	"github.com/foretime/foretime/deft/internal/daemon"
	"github.com/foretime/foretime/shared/cli"
)

// productCache returns the directory of compiled and unpacked products, in the user's cache.
func productCache() (string, error) {
	dir, err := os.UserCacheDir()
	var why string
	switch {
	case err != nil || cli.IsForeign(os.Getenv("HOME")):
		why = "neither HOME, of this user, nor XDG_CACHE_HOME is set"
	case strings.ContainsAny(dir, separators):
		why = fmt.Sprintf("the loader would split the path %q", dir)
	default:
		dir = filepath.Join(dir, "foretime", "deft")
		err := os.MkdirAll(dir, 0o700)
		if err == nil {
			return dir, nil
		}
		why = err.Error() // as of users of services, whose home does not exist
	}
	// next to the sessions, in a directory that only this user can enter
	at, err := daemon.NewPlace(filepath.Join(sharedMemoryDir(), "deft-"+strconv.Itoa(os.Getuid())), "cache")
	if err != nil {
		return "", fmt.Errorf("cache directory: %s: %w", why, err)
	}
	return filepath.Join(filepath.Dir(at.Session()), "cache"), nil
}

// separators lists the characters at which the loader splits LD_PRELOAD and
// LD_LIBRARY_PATH, and the one that it expands (ld.so(8)).
const separators = " :;$"

// library returns libdeft.so and the directory of products.
func library(ctx context.Context) (lib, cache string, err error) {
	if cache, err = productCache(); err != nil {
		return "", "", err
	}
	lib, err = hook.Build(ctx, cache)
	return lib, cache, err
}
