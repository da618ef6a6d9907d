package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/foretime/foretime/deft/internal/policy"
	"github.com/foretime/foretime/deft/internal/session"
	"github.com/foretime/foretime/deft/internal/supervisor"
	"github.com/foretime/foretime/shared/crash"
)

// DefaultPolicy is the policy of a new session without a named policy.
const DefaultPolicy = "priority"

// Settings configures a daemon. The zero value works.
type Settings struct {
	Policy string        // empty: that of the owner before, else DefaultPolicy
	Linger time.Duration // ends so long after its last client; 0 never
	Rules  policy.Settings
	// Experiment holds the terms of an experiment's clients; its policy decides from
	// the supervisor's Begin on. nil: the owner decides at once and keeps nothing of
	// clients that have left, as it may run for months.
	Experiment *supervisor.Settings
	Version    string // of the program, for the metrics
	// Notice receives faults that the daemon has mended; nil drops them.
	Notice func(error)
}

// Daemon is the owner of a session.
type Daemon struct {
	place      Place
	settings   Settings
	lock       *os.File
	started    time.Time
	session    *session.Session
	control    *control
	supervisor *supervisor.Supervisor
	listener   net.Listener

	mu          sync.Mutex
	attachments int // those who said that they will need it
	ending      bool
	stop        context.CancelFunc
}

// Start makes this process the owner of the session at a place: of the existing session if
// its owner was killed, or else of a new one. The error matches ErrOwned if another process
// is the owner, and policy.ErrUnknown.
func Start(at Place, s Settings) (*Daemon, error) {
	lock, err := at.lock()
	if err != nil {
		return nil, err
	}
	d := &Daemon{place: at, settings: s, lock: lock, started: time.Now()}
	if err := d.acquire(); err != nil {
		if _, missing := os.Lstat(at.Session()); errors.Is(missing, fs.ErrNotExist) {
			at.removeFiles()
		}
		lock.Close()
		return nil, err
	}
	return d, nil
}

// acquire opens the session, calls the policy for the first time and opens the socket.
func (d *Daemon) acquire() error {
	var err error
	if d.session, err = d.openSession(); err != nil {
		return fmt.Errorf("daemon: %w", err)
	}
	name, rules := cmp.Or(d.settings.Policy, d.session.Policy(), DefaultPolicy), d.settings.Rules
	if slack := d.session.Slack(); rules.Slack == 0 && slack > 1 && slack <= policy.MaxSlack {
		rules.Slack = slack
	}
	if d.control, err = newControl(name, rules); err != nil {
		return d.abandon(err)
	}
	for _, c := range d.session.Clients() {
		if c.Paused { // by the request to an owner that was killed
			d.control.pause(supervisor.ID(c), true)
		}
	}
	_ = os.Remove(d.place.socket()) // of an owner that was killed
	if d.listener, err = net.Listen("unix", d.place.socket()); err != nil {
		return d.abandon(fmt.Errorf("daemon: %w", err))
	}
	d.session.Announce(name, rules.Slack)
	if d.settings.Experiment != nil {
		d.supervisor = supervisor.New(d.session, d.control, *d.settings.Experiment)
		return nil
	}
	d.supervisor = supervisor.New(d.session, d.control, supervisor.Settings{Forget: true})
	d.supervisor.Begin()
	return nil
}

// abandon closes the session and removes its files, unless it has clients.
func (d *Daemon) abandon(err error) error {
	used := hasClients(d.session)
	err = errors.Join(err, d.session.Close())
	if !used {
		d.place.removeFiles()
	}
	return err
}

// openSession opens the session that is there, or makes one. A session of another version
// is replaced: programs of that version keep theirs. A file that is no session stays,
// and is an error.
func (d *Daemon) openSession() (*session.Session, error) {
	path := d.place.Session()
	s, err := session.Open(path)
	switch {
	case err == nil:
		if err := s.Own(); err != nil {
			return nil, errors.Join(err, s.Close())
		}
		return s, nil
	case errors.Is(err, fs.ErrNotExist):
		_ = os.Remove(path) // a link to a session that ended with its owner
		return session.Create(path, session.Options{})
	case errors.Is(err, session.ErrNotSession) && !isUnwritten(path):
		return nil, fmt.Errorf("daemon: %s: %w", path, ErrForeign)
	case errors.Is(err, session.ErrNotSession), errors.Is(err, session.ErrVersion):
		if err := os.Remove(path); err != nil {
			return nil, err
		}
	default:
		return nil, err
	}
	return session.Create(path, session.Options{})
}

// Run applies the policy and serves requests until ctx is done, a client sends a stop
// request, or no client has used the session for Settings.Linger. Then it opens all gates,
// and removes the files if no client is left.
func (d *Daemon) Run(ctx context.Context) error {
	ctx, d.stop = context.WithCancel(ctx)
	defer d.stop()
	var work crash.Group
	work.Go(func() error { d.supervisor.Run(ctx); return nil })
	serveOn(ctx, &work, d.listener, &http.Server{Handler: d.handler(ctx)})
	work.Go(func() error { d.endWhenUnused(ctx); return nil })
	work.Go(func() error { d.keepFiles(ctx, &work); return nil })
	<-ctx.Done()
	d.mu.Lock()
	d.ending = true
	d.mu.Unlock()
	err := d.abandon(work.Wait())
	return errors.Join(err, d.lock.Close())
}

// Supervisor returns the supervisor of the clients. The owner of an experiment calls its
// Begin.
func (d *Daemon) Supervisor() *supervisor.Supervisor { return d.supervisor }

// Metrics returns the service of Prometheus metrics.
func (d *Daemon) Metrics() http.Handler { return metricsHandler(d.status, d.settings.Version) }

// Policy returns the name of the policy in force.
func (d *Daemon) Policy() string {
	name, _, _ := d.control.state()
	return name
}

// keepFiles makes the files of the session again when they are removed, as systemd-logind
// removes a user's shared memory after the last logout (logind.conf(5), RemoveIPC). Its
// programs have the session mapped and are not affected.
func (d *Daemon) keepFiles(ctx context.Context, work *crash.Group) {
	tick := time.NewTicker(filesPeriod)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		_, err := os.Lstat(d.place.socket())
		if err == nil && d.session.IsAt(d.place.Session()) {
			continue
		}
		err = d.restoreFiles(ctx, work)
		if err == nil {
			err = ErrRemoved
		}
		if d.settings.Notice != nil {
			d.settings.Notice(fmt.Errorf("daemon: %s: %w", d.place.Session(), err))
		}
		if !errors.Is(err, ErrRemoved) {
			return
		}
	}
}

// filesPeriod is the time between two looks for the files: shorter than another owner
// needs to start.
const filesPeriod = 20 * time.Millisecond

// restoreFiles makes the directory, the lock, the session's link and the socket again.
func (d *Daemon) restoreFiles(ctx context.Context, work *crash.Group) error {
	if _, err := NewPlace(d.place.dir, d.place.name); err != nil {
		return err
	}
	if !d.holdsLock() {
		lock, err := d.place.lock()
		if err != nil {
			return fmt.Errorf("%w, and the files of this one were removed: its programs and those of the other do not heed each other", err)
		}
		_ = d.lock.Close() // of a file that is gone
		d.lock = lock
	}
	if err := d.place.RestoreSession(d.session); err != nil {
		return err
	}
	_ = os.Remove(d.place.socket())
	listener, err := net.Listen("unix", d.place.socket())
	if err == nil {
		serveOn(ctx, work, listener, &http.Server{Handler: d.handler(ctx)})
	}
	return err
}

// holdsLock reports whether the session's lock is the file that this owner has locked.
func (d *Daemon) holdsLock() bool {
	own, err := d.lock.Stat()
	at, missing := os.Lstat(d.place.path("lock"))
	return err == nil && missing == nil && os.SameFile(own, at)
}

// endWhenUnused ends the daemon once no client has used it for Settings.Linger.
func (d *Daemon) endWhenUnused(ctx context.Context) {
	if d.settings.Linger <= 0 {
		return
	}
	tick := time.NewTicker(d.settings.Linger / 50)
	defer tick.Stop()
	for quiet := time.Now(); ; {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			if d.inUse() {
				quiet = now
			}
			if now.Sub(quiet) >= d.settings.Linger && d.endUnused() {
				return
			}
		}
	}
}

// inUse reports whether a program is in the session or has said that it will join.
func (d *Daemon) inUse() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.attachments > 0 || hasClients(d.session)
}

// endUnused stops the daemon unless a client has attached meanwhile.
func (d *Daemon) endUnused() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.attachments > 0 {
		return false
	}
	d.ending = true
	d.stop()
	return true
}
