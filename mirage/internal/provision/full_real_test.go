package provision

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os/user"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/foretime/foretime/shared/testkit/slurmtest"
)

var (
	fullHandovers = flag.Int("full-handovers", 4, "handovers of each chain under a full limit on a real Slurm; 32 make a table")
	fullGap       = flag.Float64("full-gap", 4, "mean seconds between the other jobs under that limit, which run for five")
	fullCost      = flag.Float64("full-cost", 1, "cost of an hour of overlap of those chains in hours of interruption")
	fullJobs      = flag.Int("full-jobs", 3, "jobs that run at once under that limit, one of them the service")
	fullSeconds   = flag.Int("full-seconds", 12, "run time of a service of those chains: longer than others wait")
)

// TestRealFullLimit keeps chains going whose QOS has room for two jobs besides the
// service, and more jobs than that come all the time.
func TestRealFullLimit(t *testing.T) {
	t.Parallel()
	slurmtest.Need(t)
	mirage := filepath.Join(t.TempDir(), "mirage")
	run(t, nil, "go", "build", "-o", mirage, "../../cmd/mirage")
	t.Run("chains", func(t *testing.T) {
		for _, limit := range []string{fmt.Sprintf("GrpJobs=%d", *fullJobs), fmt.Sprintf("GrpTRES=cpu=%d", *fullJobs)} {
			t.Run(limit, func(t *testing.T) {
				t.Parallel()
				sum := fullChain(t, mirage, limit)
				n := float64(sum.HandOvers)
				t.Logf("%d handovers, %d interrupted: each %.2f s without a service and %.2f s with two", sum.HandOvers, sum.Interrupted, sum.Interruption/n, sum.Overlap/n)
				if sum.HandOvers != *fullHandovers {
					t.Errorf("%+v", sum)
				}
			})
		}
	})
}

// fullChain keeps a chain going under a limit of its QOS, together with other jobs of that QOS.
func fullChain(t *testing.T, mirage, limit string) (sum Summary) {
	c := slurmtest.Start(t, slurmtest.KeepAccounts, func(c *slurmtest.Cluster) {
		c.Configure("AccountingStorageEnforce=associations,limits,qos\nMinJobAge=7200\n")
		me, err := user.Current()
		if err != nil {
			t.Fatal(err)
		}
		for _, words := range []string{
			"add qos lab " + limit, "add account lab", "add user " + me.Username + " Account=lab",
			"modify user " + me.Username + " set DefaultAccount=lab QOS=normal,lab",
		} {
			if _, err := c.Run(append([]string{"sacctmgr", "--immediate"}, strings.Fields(words)...)...); err != nil {
				t.Fatal(err)
			}
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	var others sync.WaitGroup
	defer others.Wait()
	defer cancel()
	busy := newLoad(*loadSeed)
	busy.gap = *fullGap
	others.Go(func() { compete(c, ctx, busy, "--qos=lab", "--nodes=1") })
	links, state := *fullHandovers+1, filepath.Join(c.Dir, "chain")
	argv := provision(mirage, state, "futures", *fullSeconds, links, service(t, c.Dir, *fullSeconds),
		"--slurm-option=--qos=lab", "--set", fmt.Sprintf("decide.overlap_cost=%v", *fullCost))
	out := run(t, c.Env(), argv...)
	if err := json.Unmarshal([]byte(out), &sum); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	once(c, state, links)
	return sum
}
