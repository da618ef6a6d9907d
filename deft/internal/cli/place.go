package cli

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/deft/internal/daemon"
	"github.com/foretime/foretime/deft/internal/device"
	"github.com/foretime/foretime/shared/cli"
)

// sessionFlags holds the flags of exec, daemon and ctl, which name a session of this user.
type sessionFlags struct{ session, device, dir string }

func (j *sessionFlags) flags(c *cobra.Command) {
	c.Flags().StringVar(&j.session, "session", "", "name of the session (default: the device's)")
	c.Flags().StringVar(&j.dir, "session-dir", "", "directory of sessions, private to this user (default: $DEFT_SESSION_DIR, or "+filepath.Join(sharedMemoryDir(), "deft-UID")+")")
	c.Flags().StringVar(&j.device, "device", "cuda", "device: cuda or sim (simulated)")
	cli.Values(c, "device", "cuda", "sim")
}

// discipline returns how the device serves programs with this process's environment.
func (j *sessionFlags) discipline() device.Discipline {
	if j.device == "sim" {
		return device.OfSimulated(os.Getenv)
	}
	return device.OfGPU(os.Getenv)
}

// place returns the paths of the session.
func (j *sessionFlags) place() (daemon.Place, error) {
	if j.device != "cuda" && j.device != "sim" {
		return daemon.Place{}, cli.Usagef("--device: %q, want cuda or sim", j.device)
	}
	at, err := daemon.NewPlace(sessionDir(j.dir), cmp.Or(j.session, j.device))
	if errors.Is(err, daemon.ErrDirectory) {
		err = fmt.Errorf("%w; set another directory with --session-dir or DEFT_SESSION_DIR", err)
		if private := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(private) { // no other user can create files in it
			err = fmt.Errorf("%w, such as %s", err, filepath.Join(private, "deft"))
		}
	}
	return at, err
}

// sessionDir returns the directory of this user's named sessions: the one given on the
// command line or in the environment, or one in shared memory.
func sessionDir(named string) string {
	if named = cmp.Or(named, os.Getenv("DEFT_SESSION_DIR")); named != "" {
		if abs, err := filepath.Abs(named); err == nil { // programs may change their directory
			return abs
		}
		return named
	}
	return filepath.Join(sharedMemoryDir(), "deft-"+strconv.Itoa(os.Getuid()))
}

// removeLeftovers removes unused files that killed owners and their programs have left in a
// directory of sessions.
func removeLeftovers(dir string) {
	sessions, _ := filepath.Glob(filepath.Join(dir, "*.session")) // the pattern is valid
	devices, _ := filepath.Glob(filepath.Join(dir, "*.device"))
	for _, path := range append(sessions, devices...) {
		if at, err := daemon.NewPlace(dir, strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))); err == nil {
			_ = at.Clean() // the rest is in use or belongs to another user
		}
	}
}
