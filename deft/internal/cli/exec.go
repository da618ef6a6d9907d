package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/foretime/foretime/deft/hook"
	"github.com/foretime/foretime/deft/internal/daemon"
	"github.com/foretime/foretime/deft/internal/device"
	"github.com/foretime/foretime/deft/internal/diagnosis"
	"github.com/foretime/foretime/deft/internal/policy"
	"github.com/foretime/foretime/deft/internal/session"
	"github.com/foretime/foretime/deft/simcuda"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/crash"
)

// ownerLinger is the time for which an owner started by exec runs after its last program.
const ownerLinger = 10 * time.Second

// program holds the flags of exec and the command that it starts.
type program struct {
	sessionFlags
	name, policy string
	gang         string
	priority     int32
	deadline     time.Duration
	slack        float64
	change       bool
	quota        size
	args         []string
}

// newExecCommand returns exec, which runs a program in a session.
func newExecCommand(env *cli.Env) *cobra.Command {
	var p program
	c := &cobra.Command{
		Use:   "exec -- COMMAND...",
		Short: "Run your own program under a policy",
		Long: `Run your own program, unchanged, under libdeft.so in a session that it shares with
others. If no owner of the session is running, one is started in the background; it
ends 10 s after the last program. Signals are passed on to the program, and its exit
status is that of this command (128 plus the signal's number if a signal ended it,
127 if the command does not exist, 126 if it cannot be run). One line on stderr says
how the program reached the driver and how it is throttled, or that it launched
nothing. If deft exec is killed, the program continues. Under MPS a program without a
--priority above 0 gets CUDA_MPS_CLIENT_PRIORITY=1: MPS serves the others first.`,
		Example: `  deft exec --priority 1 -- python3 serve.py
  deft exec -- python3 train.py
  deft ctl policy fair
  deft exec --device sim -- deft-workload --kernels 400 --kernel-ns 100000 --dur-s 5`,
		Args: wantCommand,
		RunE: func(cmd *cobra.Command, args []string) error {
			p.args = args
			if err := errors.Join(checkDeadline(p.deadline), checkSlack(p.slack, cmd.Flags().Changed), p.check()); err != nil {
				return err
			}
			status, err := p.run(cmd.Context(), env)
			if err == nil && status != 0 {
				os.Exit(status) // the program's own status
			}
			return err
		},
	}
	c.Flags().SetInterspersed(false)
	p.flags(c)
	f := c.Flags()
	f.StringVar(&p.name, "name", "", "name of the program in the session (default: the command)")
	f.StringVar(&p.policy, "policy", "", "policy of the session (default: unchanged; priority for a new session)")
	f.Float64Var(&p.slack, "slack", 0, slackHelp+"; of the session")
	f.BoolVar(&p.change, "change", false, "change the policy or slack of a session in use, for all its programs")
	f.StringVar(&p.gang, "gang", "", "common name of ranks that wait for one another, as with NCCL")
	f.Int32Var(&p.priority, "priority", 0, "priority: a larger one is more urgent")
	f.DurationVar(&p.deadline, "deadline", 0, "time within which a job should end, such as 40ms, for policy edf (0: none)")
	f.Var(&p.quota, "memory-quota", "limit of memory on each device, such as 4GB or 512MiB (0: none)")
	cli.Values(c, "policy", policy.Policies.Names()...)
	cli.First(c, "policy", "priority", "session", "device", "name")
	return c
}

// wantCommand returns an error for a command line without the user's command.
func wantCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cli.Usagef("want a command: %s -- COMMAND...", c.CommandPath())
	}
	return nil
}

// check checks the flags and sets the default name.
func (p *program) check() error {
	if len(p.name) > session.MaxName {
		return cli.Usagef("--name %q: %d bytes, a session has room for %d", p.name, len(p.name), session.MaxName)
	}
	p.name = cmp.Or(p.name, filepath.Base(p.args[0]))
	return checkPolicy("--policy", p.policy)
}

// size is a number of bytes, read from a form such as 4GB.
type size uint64

func (s *size) Set(text string) error {
	n, err := humanize.ParseBytes(text)
	if err != nil { // which would not name the text
		return errors.New("want a size such as 4GB or 512MiB")
	}
	*s = size(n)
	return nil
}

func (s *size) String() string { return strconv.FormatUint(uint64(*s), 10) }
func (s *size) Type() string   { return "size" }

// run runs the program until it ends and returns its exit status.
func (p *program) run(ctx context.Context, env *cli.Env) (int, error) {
	at, err := p.place()
	if err != nil {
		return 0, err
	}
	if len(p.name) > session.MaxName {
		p.name = strings.ToValidUTF8(p.name[:session.MaxName], "")
		fmt.Fprintf(env.Stderr, "deft: the command's name is longer than %d bytes: it is %s in the session (--name sets another)\n", session.MaxName, session.EscapeName(p.name))
	}
	removeLeftovers(sessionDir(p.dir))
	environ, err := p.environ(ctx, at)
	if err != nil {
		return 0, err
	}
	owner, err := p.attachOwner(at, p.policy)
	if err == nil {
		err = p.applySettings(at, owner)
	}
	if err != nil {
		return 0, err
	}
	cmd := exec.Command(p.args[0], p.args[1:]...)
	cmd.Stdin = env.Stdin
	cmd.Stdout, cmd.Stderr = env.Stdout, env.Stderr
	cmd.Env = environ
	why := diagnosis.ReasonUnhooked(cmd.Path)
	if why != "" {
		fmt.Fprintf(env.Stderr, "deft: %s %s: it runs without the hook\n", p.args[0], why)
		cmd.Env = append(environ, "LD_PRELOAD="+os.Getenv("LD_PRELOAD"))
	}
	end, err := watchProgram(at.Session(), session.EscapeName(p.name), env.Stderr)
	if err != nil {
		return 0, errors.Join(err, owner.Close())
	}
	hooked := false
	defer func() { end(hooked) }()
	kept, err := session.Open(at.Session())
	if err != nil {
		return 0, errors.Join(err, owner.Close())
	}
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, forwardedSignals...)
	if err := cmd.Start(); err != nil {
		_ = owner.Close() // the owner may have gone
		return reportFailedStart(env.Stderr, p.args[0], err), nil
	}
	hooked = why == ""
	crash.Go(func() { forwardSignals(signals, cmd.Process) })
	crash.Go(func() { p.keepOwner(at, owner, kept) })
	err = cmd.Wait()
	_ = owner.Close() // the owner may have gone
	removeLeftovers(sessionDir(p.dir))
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return 0, err
	}
	return exitStatus(cmd.ProcessState), nil
}

// environ returns the program's environment.
func (p *program) environ(ctx context.Context, at daemon.Place) ([]string, error) {
	lib, cache, err := library(ctx)
	if err != nil {
		return nil, err
	}
	environ := os.Environ()
	if p.device == "sim" {
		if environ, err = simulatedEnviron(ctx, cache, simcuda.Device{File: at.Device()}); err != nil {
			return nil, err
		}
	}
	m := session.Membership{
		Session: at.Session(), Name: p.name, Gang: p.gang, Priority: int(p.priority), Deadline: p.deadline, MemoryQuota: uint64(p.quota),
	}
	environ = append(hook.Preload(environ, lib), m.Environ()...)
	if _, set := os.LookupEnv("CUDA_MPS_CLIENT_PRIORITY"); !set && p.priority <= 0 && p.discipline() == device.MPS {
		environ = append(environ, "CUDA_MPS_CLIENT_PRIORITY=1") // below normal: MPS serves those with a priority first
	}
	return environ, nil
}

// simulatedEnviron builds a simulated device, adds its workload program to this process's
// $PATH, and returns the environment of the programs that use it.
func simulatedEnviron(ctx context.Context, cache string, d simcuda.Device) ([]string, error) {
	built, err := simcuda.Build(ctx, cache)
	if err == nil {
		err = os.Setenv("PATH", strings.TrimPrefix(os.Getenv("PATH")+":"+filepath.Dir(built.Workload), ":"))
	}
	return d.Environ(built, os.Environ()), err
}

// -- the owner --

// attachOwner connects to the owner of the session, or starts one, under a policy if given.
func (p *program) attachOwner(at daemon.Place, policy string) (*daemon.Attachment, error) {
	var err error
	pause := 20 * time.Millisecond
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(pause) {
		var owner *daemon.Attachment
		if owner, err = at.Attach(); err != nil {
			if errors.Is(err, daemon.ErrFull) || errors.Is(err, daemon.ErrSilent) {
				return nil, err
			}
			if startErr := p.startOwner(at, policy); startErr != nil {
				err = startErr
				pause = min(2*pause, time.Second)
			}
			if errors.Is(err, daemon.ErrForeign) || errors.Is(err, unix.ENOSPC) || errors.Is(err, errNoOwner) && pause > ownerPatience {
				return nil, err // another attempt would fail too
			}
			continue
		}
		return owner, nil
	}
	return nil, err
}

// startWindow is the age of an owner below which programs that join it were started
// together, as by one script: the one that names a policy then decides for all.
const startWindow = 500 * time.Millisecond

// applySettings changes the policy and slack of the session if the flags name others. In a
// session that other programs use this needs --change.
func (p *program) applySettings(at daemon.Place, owner *daemon.Attachment) error {
	now := owner.Status()
	policy, slack := cmp.Or(p.policy, now.Policy), cmp.Or(p.slack, now.Slack)
	if policy == now.Policy && slack == now.Slack {
		return nil
	}
	if len(now.Clients) > 0 && !p.change && now.Age > startWindow.Seconds() {
		err := cli.Usagef("session %s runs under policy %s with slack %v and is in use (programs: %d): --change changes it for all to %s with slack %v",
			at.Name(), now.Policy, now.Slack, len(now.Clients), policy, slack)
		return errors.Join(err, owner.Close())
	}
	if _, err := at.SetPolicy(daemon.PolicyChange{Policy: policy, Slack: slack}); err != nil {
		return errors.Join(err, owner.Close())
	}
	return nil
}

// errNoOwner is returned if an owner cannot start; ownerPatience is the pause between two
// attempts from which on they end.
var errNoOwner = errors.New("the owner did not start")

const ownerPatience = 100 * time.Millisecond

// startOwner starts an owner in the background, in a terminal session of its own
// (setsid), and waits until it is ready or has ended.
func (p *program) startOwner(at daemon.Place, policy string) error {
	args := []string{os.Args[0], "daemon", "--session", at.Name(), "--session-dir", sessionDir(p.dir), "--device", p.device, "--linger", ownerLinger.String()}
	if policy != "" {
		args = append(args, "--policy", policy)
	}
	if p.slack != 0 {
		args = append(args, "--slack", strconv.FormatFloat(p.slack, 'g', -1, 64))
	}
	log, err := at.OpenLog()
	if err != nil {
		return err
	}
	defer log.Close()
	ready, started, err := os.Pipe()
	if err != nil {
		return err
	}
	defer ready.Close()
	self, err := os.Executable()
	if err != nil {
		return err
	}
	owner := &exec.Cmd{Path: self, Args: args, Dir: "/", Stdout: started, Stderr: log, SysProcAttr: &syscall.SysProcAttr{Setsid: true}}
	err = owner.Start()
	started.Close()
	if err != nil {
		return err
	}
	if !bufio.NewScanner(ready).Scan() {
		_ = owner.Wait()
		last := lastLogLine(at.Log())
		cause := errNoOwner
		if strings.Contains(last, daemon.ErrOwned.Error()) {
			cause = daemon.ErrOwned // which may be ending
		}
		return fmt.Errorf("session %s: %w%s: see %s", at.Name(), cause, last, at.Log())
	}
	crash.Go(func() { _ = owner.Wait() }) // no zombie while this process runs
	return nil
}

// lastLogLine returns the last line of a file, with a colon before it; "" if there is none.
func lastLogLine(path string) string {
	b, _ := os.ReadFile(path)
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	if len(lines) < 2 {
		return ""
	}
	return ": " + lines[len(lines)-1]
}

// keepOwner starts another owner whenever the present one is killed, for the same session:
// its file may have been removed (systemd-logind removes it after the last logout).
func (p *program) keepOwner(at daemon.Place, owner *daemon.Attachment, s *session.Session) {
	defer s.Close()
	for owner.Gone() && waitForDeath(s.OwnerDied) {
		err := at.RestoreSession(s)
		if err == nil {
			owner, err = p.attachOwner(at, "")
		}
		if err != nil {
			return
		}
	}
}

// waitForDeath waits for the end of an owner whose connection closed: the files of a killed
// process close before the process has ended.
func waitForDeath(died func() bool) bool {
	for range 500 {
		if died() {
			return true
		}
		time.Sleep(10 * time.Millisecond)
	}
	return false
}

// -- the process --

// forwardedSignals are the signals that are passed on to the program.
var forwardedSignals = []os.Signal{
	syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGWINCH, syscall.SIGCONT,
}

// forwardSignals passes signals on, except for those that the terminal has sent to both.
func forwardSignals(signals <-chan os.Signal, to *os.Process) {
	for s := range signals {
		if (s == syscall.SIGINT || s == syscall.SIGQUIT || s == syscall.SIGWINCH) && foreground() {
			continue
		}
		_ = to.Signal(s) // it may have ended
	}
}

// foreground reports whether the terminal's keys signal this process's group.
func foreground() bool {
	group, err := unix.IoctlGetInt(0, unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

// exitStatus returns an exit status as a shell does.
func exitStatus(s *os.ProcessState) int {
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return 128 + int(w.Signal())
	}
	return s.ExitCode()
}
