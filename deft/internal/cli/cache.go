package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/foretime/foretime/deft/hook"
	"github.com/foretime/foretime/deft/internal/cc"
	"github.com/foretime/foretime/deft/internal/daemon"
)

// compiler returns the compiler of the embedded sources: $CC or cc, with products in the
// user's cache. Products in $DEFT_MADE or inside this program are not compiled.
func compiler() (cc.Compiler, error) {
	c := cc.Compiler{Path: os.Getenv("CC"), Prebuilt: os.Getenv("DEFT_MADE")}
	dir, err := os.UserCacheDir()
	var why string
	switch {
	case err != nil:
		why = "neither HOME nor XDG_CACHE_HOME is set"
	case strings.ContainsAny(dir, separators):
		why = fmt.Sprintf("the loader would split the path %q", dir)
	default:
		c.Cache = filepath.Join(dir, "foretime", "deft")
		err := os.MkdirAll(c.Cache, 0o700)
		if err == nil {
			return c, nil
		}
		why = err.Error() // as of users of services, whose home does not exist
	}
	// next to the sessions, in a directory that only this user can enter
	at, err := daemon.NewPlace(filepath.Join(sharedMemoryDir(), "deft-"+strconv.Itoa(os.Getuid())), "cache")
	if err != nil {
		return cc.Compiler{}, fmt.Errorf("cache directory: %s: %w", why, err)
	}
	c.Cache = filepath.Join(filepath.Dir(at.Session()), "cache")
	return c, nil
}

// separators lists the characters at which the loader splits LD_PRELOAD and
// LD_LIBRARY_PATH, and the one that it expands (ld.so(8)).
const separators = " :;$"

// library returns libdeft.so and the compiler that built it.
func library(ctx context.Context) (cc.Compiler, string, error) {
	c, err := compiler()
	if err != nil {
		return c, "", err
	}
	lib, err := hook.Build(ctx, c)
	return c, lib, err
}
