package slurm

import (
	"encoding/json"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"testing"

	"github.com/foretime/foretime/shared/slurmtest"
)

// TestRealAccounting reads the accounting log of a real Slurm, as sacct prints
// it, and simulates it.
func TestRealAccounting(t *testing.T) {
	c := slurmtest.Start(t, keepAccounts)
	const jobs = 30
	l := newLoad(3)
	for range jobs {
		_, _, nodes := l.next()
		if _, err := c.Run("sbatch", "--parsable", "--time=1", "--output=/dev/null", fmt.Sprintf("--nodes=%d", nodes), "--wrap=sleep 1"); err != nil {
			t.Fatal(err)
		}
	}
	// One that never starts.
	if _, err := c.Run("sbatch", "--parsable", "--time=1", "--hold", "--wrap=true"); err != nil {
		t.Fatal(err)
	}
	columns := "JobID,JobName,User,Partition,QOS,Submit,Start,End,Priority,Timelimit,ExitCode,State,NNodes"
	var log string
	c.Await("the accounts of all jobs", func() bool {
		out, err := c.Run("env", "TZ=UTC", "sacct", "--allusers", "--parsable2", "--starttime=now-1hour", "--format="+columns)
		log = out
		return err == nil && strings.Count(out, "|COMPLETED|") == 2*jobs // each with its step
	})
	dir := t.TempDir()
	mirage, file := filepath.Join(dir, "mirage"), filepath.Join(dir, "sacct.log")
	run(t, nil, "go", "build", "-o", mirage, "../cmd/mirage")
	if err := os.WriteFile(file, []byte(log), 0o644); err != nil {
		t.Fatal(err)
	}
	var stats struct {
		Rows      int
		Bad       []any
		PeakNodes int `json:"peak_nodes"`
	}
	unmarshal(t, run(t, nil, mirage, "trace", "stats", file, "--zone", "UTC", "--json"), &stats)
	if stats.Rows != jobs || len(stats.Bad) > 0 || stats.PeakNodes < 1 || stats.PeakNodes > 4 {
		t.Errorf("%+v of\n%s", stats, log)
	}
	var simulated struct {
		Jobs, Rejected int
		Check          struct{ Violations int }
		Wait           float64 `json:"mean_wait_hours"`
		Actual         float64 `json:"actual_mean_wait_hours"`
		Spearman       float64
	}
	unmarshal(t, run(t, nil, mirage, "simulate", file, "--zone", "UTC", "--nodes", "4", "--bf-interval", "1", "--check", "--json"), &simulated)
	if simulated.Jobs != jobs || simulated.Rejected > 0 || simulated.Check.Violations > 0 {
		t.Errorf("%+v", simulated)
	}
	t.Logf("%+v, %+v", stats, simulated)
}

func unmarshal(t *testing.T, text string, v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), v); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
}

// keepAccounts starts a database and Slurm's daemon in front of it, and has the
// cluster send its accounts there.
func keepAccounts(c *slurmtest.Cluster) {
	me, err := user.Current()
	if err != nil {
		c.T.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(c.Dir, name) }
	ports := c.Ports(2)
	if _, err := c.Run(slurmtest.Program(c.T, "mariadb-install-db"), "--no-defaults", "--user="+me.Username, "--datadir="+at("db"),
		"--auth-root-authentication-method=normal", "--skip-test-db"); err != nil {
		c.T.Fatal(err)
	}
	c.Spawn("mariadbd", "--no-defaults", "--user="+me.Username, "--datadir="+at("db"), "--socket="+at("db.socket"), "--pid-file="+at("db.pid"),
		"--bind-address=127.0.0.1", fmt.Sprintf("--port=%d", ports[0]), "--skip-name-resolve", "--innodb-flush-log-at-trx-commit=0", "--innodb-lock-wait-timeout=900")
	c.Await("the database", func() bool { _, err := os.Stat(at("db.socket")); return err == nil })
	conf := strings.NewReplacer("DIR", c.Dir, "USER", me.Username, "STORE", fmt.Sprint(ports[0]), "PORT", fmt.Sprint(ports[1])).Replace(`AuthType=auth/munge
AuthInfo=socket=DIR/munge.socket
DbdHost=localhost
DbdAddr=127.0.0.1
DbdPort=PORT
SlurmUser=USER
LogFile=DIR/slurmdbd.log
PidFile=DIR/slurmdbd.pid
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort=STORE
StorageUser=root
StorageLoc=accounts
`)
	if err := os.WriteFile(at("slurmdbd.conf"), []byte(conf), 0o600); err != nil {
		c.T.Fatal(err)
	}
	c.Spawn("slurmdbd", "-D")
	// AccountingStoragePass is where munge listens, for those who write to
	// slurmdbd (slurm.conf(5)).
	c.Configure(fmt.Sprintf("AccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageHost=127.0.0.1\nAccountingStoragePort=%d\nAccountingStoragePass=%s\n", ports[1], at("munge.socket")))
	c.Await("a registered cluster", func() bool { _, err := c.Run("sacctmgr", "--immediate", "add", "cluster", "t"); return err == nil })
}
