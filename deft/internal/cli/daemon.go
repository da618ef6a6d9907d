package cli

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/foretime/foretime/deft/internal/daemon"
	"github.com/foretime/foretime/deft/internal/policy"
	"github.com/foretime/foretime/shared/access"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/crash"
)

// newDaemonCommand returns daemon, which owns a session.
func newDaemonCommand(env *cli.Env) *cobra.Command {
	var j sessionFlags
	var s daemon.Settings
	var m metricsService
	c := &cobra.Command{
		Use:     "daemon",
		Short:   "Run the owner of a session, which applies a policy to its programs",
		Example: "  deft daemon --device sim --policy priority --linger 1h",
		Long: `Run the owner of the session that programs under deft exec join. It applies a
policy to them until it is stopped. If it is killed, the programs continue and the
next owner takes over the session with the same policy and the same paused
programs. deft exec starts an owner if none is running.

Prometheus metrics of the session and its programs are served at /metrics on the
session's socket, and with --metrics on a TCP address. They contain program names;
with --token-file or $DEFT_TOKEN the TCP address answers only clients that send the
bearer token.

Policies:
` + policy.Policies.Help(),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkSlack(s.Rules.Slack, cmd.Flags().Changed); err != nil {
				return err
			}
			s.Version = cmd.Root().Version
			return runOwner(cmd.Context(), env, &j, s, m)
		},
	}
	j.flags(c)
	c.Flags().StringVar(&s.Policy, "policy", "", "policy (default: that of the killed owner, or priority)")
	cli.Values(c, "policy", policy.Policies.Names()...)
	c.Flags().Float64Var(&s.Rules.Slack, "slack", 0, slackHelp)
	c.Flags().StringVar(&m.address, "metrics", "", "serve Prometheus metrics on this address too, such as 127.0.0.1:9440")
	c.Flags().StringVar(&m.tokenFile, "token-file", "", "file with the bearer token that clients of --metrics must send (default: $DEFT_TOKEN, or none)")
	c.Flags().DurationVar(&s.Linger, "linger", 0, "end this long after the last program (0: never)")
	env.LogFormat(c)
	cli.First(c, "policy", "session", "device", "metrics")
	return c
}

func runOwner(ctx context.Context, env *cli.Env, j *sessionFlags, s daemon.Settings, m metricsService) error {
	if s.Linger < 0 {
		return cli.Usagef("--linger %v: want 0 or more", s.Linger)
	}
	if err := checkPolicy("--policy", s.Policy); err != nil {
		return err
	}
	at, err := j.place()
	if err != nil {
		return err
	}
	s.Notice = func(err error) {
		reopenLog(at)
		env.Log.Warn(err)
	}
	s.Rules.Device.Discipline = j.discipline()
	if err := m.listen(env); err != nil {
		return err
	}
	if m.listener != nil {
		defer m.listener.Close()
	}
	d, err := daemon.Start(at, s)
	if err != nil {
		return err
	}
	// a caller that waits for this line may join
	if _, err := fmt.Fprintf(env.Stdout, "session %s: %s, policy %s\n", at.Name(), at.Session(), d.Policy()); err != nil {
		return err
	}
	env.LogTimes()
	m.serve(env, d.Metrics())
	return d.Run(ctx)
}

// metricsService serves the metrics on TCP, which everyone on the network may reach.
type metricsService struct {
	address, tokenFile string
	token              func() string
	listener           net.Listener // nil without an address
}

// listen opens the address.
func (m *metricsService) listen(env *cli.Env) (err error) {
	if m.token, err = cli.Token(env, m.tokenFile, "DEFT_TOKEN"); err != nil || m.address == "" {
		return err
	}
	if m.listener, err = net.Listen("tcp", m.address); err != nil {
		return fmt.Errorf("metrics: %w", err)
	}
	return nil
}

// serve answers scrapes with the token, and checks of health, until the listener is closed.
func (m *metricsService) serve(env *cli.Env, scrape http.Handler) {
	if m.listener == nil {
		return
	}
	refuse := func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "missing or wrong bearer token", http.StatusUnauthorized)
	}
	paths := http.NewServeMux()
	paths.Handle("GET /metrics", access.Bearer(m.token, refuse)(scrape))
	paths.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok\n")) })
	server := cli.BoundServer(env, paths)
	crash.Go(func() { _ = server.Serve(m.listener) }) // it ends with the listener
	env.Log.Infof("metrics on http://%s/metrics", m.listener.Addr())
}

// reopenLog has this process write to the session's log again if stderr is a file that was
// removed.
func reopenLog(at daemon.Place) {
	var st unix.Stat_t
	if err := unix.Fstat(2, &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFREG || st.Nlink > 0 {
		return
	}
	if log, err := at.OpenLog(); err == nil {
		_ = unix.Dup3(int(log.Fd()), 2, 0) // else the messages go where nobody reads them
		_ = log.Close()
	}
}

var slackHelp = fmt.Sprintf("time of urgent jobs, relative to alone, that others' use of their gaps may cost (default %v)", policy.DefaultSlack)

// checkSlack checks --slack.
func checkSlack(slack float64, given func(string) bool) error {
	if given("slack") && !(slack > 1 && slack <= policy.MaxSlack) {
		return cli.Usagef("--slack %v: want a number above 1, at most %v, such as 1.1", slack, policy.MaxSlack)
	}
	return nil
}

// longestDeadline is the longest time that a job may be given.
const longestDeadline = 240 * time.Hour

// checkDeadline returns an error for a deadline out of range; 0 is none.
func checkDeadline(deadline time.Duration) error {
	if deadline < 0 || deadline > longestDeadline {
		return cli.Usagef("--deadline %v: want 0 to %v", deadline, longestDeadline)
	}
	return nil
}

// checkPolicy returns an error for a name that is no policy of programs; "" is none.
func checkPolicy(how, name string) error {
	if name == "" {
		return nil
	}
	if _, err := policy.New(name, policy.Settings{}); err != nil {
		return cli.Usagef("%s: %w", how, err)
	}
	return nil
}
