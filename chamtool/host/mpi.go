package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
)

// ErrMPI is returned where ranks cannot be started as asked: the launcher does not run,
// or it belongs to another MPI than the compiler.
var ErrMPI = errors.New("mpirun")

// launch returns the command line that starts a number of ranks on this machine, for any user
// and any number of cores. Open MPI refuses root and more ranks than cores unless an option
// allows them; Hydra, the launcher of MPICH and Intel MPI, refuses neither and ends at an
// unknown option.
func launch(ctx context.Context, ranks int) ([]string, error) {
	out, err := exec.CommandContext(ctx, "mpirun", "--version").CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%w --version: %w: %s", ErrMPI, err, tail(string(out)))
	}
	argv := []string{"mpirun"}
	if openMPI(string(out)) {
		argv = append(argv, "--allow-run-as-root", "--oversubscribe", "--bind-to", "none")
	}
	return append(argv, "-n", strconv.Itoa(ranks)), nil
}

// openMPI says whether a launcher's --version is Open MPI's: 4 names OpenRTE, 5 names
// Open MPI or PRRTE.
func openMPI(version string) bool {
	return slices.ContainsFunc([]string{"Open MPI", "OpenRTE", "PRRTE"}, func(name string) bool { return strings.Contains(version, name) })
}

// together returns an error where a rank counts itself as one of fewer than were started:
// a launcher starts the programs of another MPI as so many jobs of one rank.
func together(stdout string, ranks int) error {
	for dec := json.NewDecoder(strings.NewReader(stdout)); dec.More(); {
		var r Rank
		if err := dec.Decode(&r); err != nil {
			return fmt.Errorf("cannot read the program's output: %w", err)
		}
		if r.Ranks > 0 && r.Ranks != ranks {
			return fmt.Errorf("%w: started %d ranks, but a rank reports %d: mpirun and mpicc belong to different MPIs", ErrMPI, ranks, r.Ranks)
		}
	}
	return nil
}
