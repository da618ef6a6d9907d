package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/foretime/foretime/deft/hook"
	"github.com/foretime/foretime/deft/internal/cc"
	"github.com/foretime/foretime/deft/internal/daemon"
)

// compiler builds what is embedded, into the user's cache, with $CC or cc, but
// for what lies in $DEFT_MADE, or was made with this program.
func compiler() (cc.Compiler, error) {
	c := cc.Compiler{Path: os.Getenv("CC"), Made: os.Getenv("DEFT_MADE")}
	dir, err := os.UserCacheDir()
	if err == nil {
		c.Cache = filepath.Join(dir, "foretime", "deft")
		return c, nil
	}
	// without HOME: beside the sessions, in a folder of this user alone
	at, err := daemon.At(sessions(""), "cache")
	if err != nil {
		return cc.Compiler{}, fmt.Errorf("cache folder: neither HOME nor XDG_CACHE_HOME is set: %w", err)
	}
	c.Cache = filepath.Join(filepath.Dir(at.Session()), "cache")
	return c, nil
}

// library is libdeft.so, with what compiled it.
func library(ctx context.Context) (cc.Compiler, string, error) {
	c, err := compiler()
	if err != nil {
		return c, "", err
	}
	lib, err := hook.Build(ctx, c)
	return c, lib, err
}
