package cli

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/foretime/foretime/deft/cc"
)

// compiler builds what is embedded, into the user's cache: $CC or cc.
func compiler() (cc.Compiler, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return cc.Compiler{}, fmt.Errorf("cache folder: %w", err)
	}
	return cc.Compiler{Path: os.Getenv("CC"), Cache: filepath.Join(dir, "foretime", "deft")}, nil
}
