package slurmtest

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strings"
)

// KeepAccounts starts a database and slurmdbd, and makes the cluster send its
// accounts there.
func KeepAccounts(c *Cluster) {
	me, err := user.Current()
	if err != nil {
		c.T.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(c.Dir, name) }
	ports := c.Ports(2)
	// A server removes the temporary tables of others from a directory that they share.
	if _, err := c.Run(Program(c.T, "mariadb-install-db"), "--no-defaults", "--user="+me.Username, "--datadir="+at("db"), "--tmpdir="+c.Dir,
		"--auth-root-authentication-method=normal", "--skip-test-db"); err != nil {
		c.T.Fatal(err)
	}
	c.Spawn("mariadbd", "--no-defaults", "--user="+me.Username, "--datadir="+at("db"), "--tmpdir="+c.Dir, "--socket="+at("db.socket"), "--pid-file="+at("db.pid"),
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
	// AccountingStoragePass is the munge socket for clients of slurmdbd
	// (slurm.conf(5)).
	c.Configure(fmt.Sprintf("AccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageHost=127.0.0.1\nAccountingStoragePort=%d\nAccountingStoragePass=%s\n", ports[1], at("munge.socket")))
	c.Await("a registered cluster", func() bool { _, err := c.Run("sacctmgr", "--immediate", "add", "cluster", "t"); return err == nil })
}
