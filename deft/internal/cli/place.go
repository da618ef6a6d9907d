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
	"github.com/foretime/foretime/shared/cli"
)

// joined names a session of this user: the flags of exec, daemon and ctl.
type joined struct{ session, device, dir string }

func (j *joined) flags(c *cobra.Command) {
	c.Flags().StringVar(&j.session, "session", "", "name of the session (default: that of the device)")
	folderFlag(c, &j.dir)
	c.Flags().StringVar(&j.device, "device", "cuda", "cuda, or sim, the simulated device")
	cli.Values(c, "device", "cuda", "sim")
}

// place is where the session lies.
func (j *joined) place() (daemon.Place, error) {
	if j.device != "cuda" && j.device != "sim" {
		return daemon.Place{}, cli.Usagef("--device: %q, want cuda or sim", j.device)
	}
	if j.session == "" {
		j.session = j.device
	}
	at, err := daemon.At(sessions(j.dir), j.session)
	if errors.Is(err, daemon.ErrFolder) {
		return at, fmt.Errorf("%w; --session-dir or DEFT_SESSION_DIR names another folder%s", err, suggested())
	}
	return at, err
}

func folderFlag(c *cobra.Command, dir *string) {
	c.Flags().StringVar(dir, "session-dir", "", "folder of sessions, this user's alone (default: DEFT_SESSION_DIR of the environment, or "+filepath.Join(shm(), "deft-UID")+")")
}

// sessions returns the folder of this user's named sessions: the one that was named,
// on the command line or in the environment, or that of the machine's shared memory.
func sessions(named string) string {
	if named = cmp.Or(named, os.Getenv("DEFT_SESSION_DIR")); named != "" {
		if abs, err := filepath.Abs(named); err == nil { // programs change their directory
			return abs
		}
		return named
	}
	return filepath.Join(shm(), "deft-"+strconv.Itoa(os.Getuid()))
}

// suggested is the user's runtime folder (XDG Base Directory Specification), where
// nobody else can make one first.
func suggested() string {
	if dir := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		return ", such as " + filepath.Join(dir, "deft")
	}
	return ""
}

// namedSessions are the paths of the sessions in it.
func namedSessions(dir string) []string {
	paths, _ := filepath.Glob(filepath.Join(dir, "*.session")) // the pattern is good
	return paths
}

// tidy removes what owners that were killed have left in a folder of sessions, where
// nobody uses it.
func tidy(dir string) {
	for _, path := range namedSessions(dir) {
		if at, err := daemon.At(dir, strings.TrimSuffix(filepath.Base(path), ".session")); err == nil {
			_ = at.Clean() // what stays is another's, or the next owner's
		}
	}
}
