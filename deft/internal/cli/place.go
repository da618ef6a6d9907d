package cli

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/deft/daemon"
	"github.com/foretime/foretime/shared/cli"
)

// joined names a session of this user: the flags of exec, daemon and ctl.
type joined struct{ session, device string }

func (j *joined) flags(c *cobra.Command) {
	c.Flags().StringVar(&j.session, "session", "", "name of the session (default: that of the device)")
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
	return daemon.At(sessions(), j.session)
}

// sessions is the folder of this user's named sessions.
func sessions() string {
	return filepath.Join(shm(), "deft-"+strconv.Itoa(os.Getuid()))
}

// namedSessions are the paths of the sessions in it.
func namedSessions(dir string) []string {
	paths, _ := filepath.Glob(filepath.Join(dir, "*.session")) // the pattern is good
	return paths
}

// tidy removes what owners that were killed have left, where nobody uses it.
func tidy() {
	for _, path := range namedSessions(sessions()) {
		if at, err := daemon.At(sessions(), strings.TrimSuffix(filepath.Base(path), ".session")); err == nil {
			_ = at.Clean() // what stays is another's, or the next owner's
		}
	}
}
