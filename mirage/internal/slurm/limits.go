package slurm

import (
	"context"
	"strconv"
	"strings"

	"github.com/foretime/foretime/mirage/internal/cluster"
	"github.com/foretime/foretime/mirage/internal/trace"
)

// limits are the limits on jobs that run at once, of qualities of service, accounts,
// users and arrays.
type limits struct {
	caps    []cluster.Cap
	numbers map[string]int32
	// qos, users and accounts are limits by name: of a quality of service, of each user
	// in it, of a user in an account, and of an account.
	qos, perUser, users, accounts map[string]cluster.Cap
	account                       map[string]string // default, by user
	quality                       map[string]string // default QOS, by user and account
}

func newLimits() *limits {
	return &limits{
		numbers: map[string]int32{}, qos: map[string]cluster.Cap{}, perUser: map[string]cluster.Cap{},
		users: map[string]cluster.Cap{}, accounts: map[string]cluster.Cap{}, account: map[string]string{}, quality: map[string]string{},
	}
}

// limits reads the limits of qualities of service and associations, and the default
// accounts.
func (c *Client) limits(ctx context.Context) (*limits, error) {
	l := newLimits()
	for _, table := range []struct {
		of, format string
		row        func(f []string)
	}{
		{"qos", "Name,GrpJobs,GrpTRES,MaxJobsPU,MaxTRESPU", func(f []string) {
			l.qos[f[0]], l.perUser[f[0]] = capOf(f[1], f[2]), capOf(f[3], f[4])
		}},
		{"assoc", "User,Account,GrpJobs,GrpTRES,MaxJobs,DefaultQOS", func(f []string) {
			if f[0] == "" {
				l.accounts[f[1]] = capOf(f[2], f[3])
				return
			}
			most := capOf(f[2], f[3])
			if n, err := strconv.ParseInt(f[4], 10, 64); err == nil && (most.Jobs == 0 || n < most.Jobs) {
				most.Jobs = n
			}
			l.users[f[0]+"/"+f[1]], l.quality[f[0]+"/"+f[1]] = most, f[5]
		}},
		{"user", "User,DefaultAccount", func(f []string) { l.account[f[0]] = f[1] }},
	} {
		b, err := c.Runner.Run(ctx, []string{"sacctmgr", "--noheader", "--parsable2", "show", table.of, "format=" + table.format}, nil)
		if err != nil {
			return newLimits(), err
		}
		for _, line := range lines(b) {
			if f := strings.Split(line, "|"); len(f) > strings.Count(table.format, ",") {
				table.row(f)
			}
		}
	}
	return l, nil
}

// capOf reads a number of jobs and a list of trackable resources; "" is no limit.
func capOf(jobs, tres string) (c cluster.Cap) {
	c.Jobs, _ = strconv.ParseInt(jobs, 10, 64)
	c.Nodes, c.CPUs, c.GPUs = int64(trace.Nodes.In(tres)), int64(trace.CPUs.In(tres)), int64(trace.GPUs.In(tres))
	if n := trace.NeedOf(tres); n != nil {
		c.MemoryMB = n.MemoryMB
	}
	return c
}

// complete adds the default account and quality of service of the user.
func (l *limits) complete(user string, accounts []string, qos string) ([]string, string) {
	if name := l.account[user]; len(accounts) == 0 && name != "" {
		accounts = []string{name}
	}
	if qos == "" && len(accounts) == 1 {
		qos = l.quality[user+"/"+accounts[0]]
	}
	return accounts, qos
}

// numbersFor returns the numbers of the limits that a job counts against. Tasks of an array
// that may run at once only so many share one.
func (l *limits) numbersFor(user, account, qos string, array int64, together int) (numbers []int32) {
	add := func(key string, c cluster.Cap) {
		if c == (cluster.Cap{}) {
			return
		}
		n, ok := l.numbers[key]
		if !ok {
			n = int32(len(l.caps))
			l.caps, l.numbers[key] = append(l.caps, c), n
		}
		numbers = append(numbers, n)
	}
	add("qos/"+qos, l.qos[qos])
	add("qos/"+qos+"/"+user, l.perUser[qos])
	add("account/"+account, l.accounts[account])
	add("user/"+user+"/"+account, l.users[user+"/"+account])
	if array != 0 {
		add("array/"+strconv.FormatInt(array, 10), cluster.Cap{Jobs: int64(together)})
	}
	return numbers
}
