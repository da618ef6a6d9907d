package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/foretime/foretime/deft/internal/session"
	"github.com/foretime/foretime/deft/internal/supervisor"
	"github.com/foretime/foretime/shared/crash"
)

// Returned by questions to a daemon.
var (
	// ErrNoDaemon is returned where no daemon runs.
	ErrNoDaemon = errors.New("the session has no running owner")
	// ErrRefused is returned with the daemon's own words.
	ErrRefused = errors.New("the owner rejected the request")
)

// Request is one question to a daemon: a JSON object in a line.
type Request struct {
	// Command is list, policy, priority, weight, pause, resume, stop or attach.
	Command string  `json:"command"`
	Target  string  `json:"target,omitempty"` // process id or name of clients
	Policy  string  `json:"policy,omitempty"`
	Slack   float64 `json:"slack,omitempty"`  // of the policy; 0 as it is
	Number  int64   `json:"number,omitempty"` // priority or weight
}

// Answer is the daemon's: a JSON object in a line.
type Answer struct {
	Error   string  `json:"error,omitempty"`
	Session string  `json:"session"`
	Policy  string  `json:"policy"`
	Slack   float64 `json:"slack"`
	Age     float64 `json:"owner_seconds"` // since the owner started
	Clients []Entry `json:"clients"`
}

// Entry is one client.
type Entry struct {
	PID      int    `json:"pid"`
	Name     string `json:"name"`
	Priority int32  `json:"priority"`
	Weight   uint32 `json:"weight"`
	State    string `json:"state"`
	Paused   bool   `json:"paused"`
	Launches uint64 `json:"launches"`
	Jobs     uint64 `json:"jobs"`
	Memory   uint64 `json:"memory_bytes"`
}

// patience is how long a daemon and a client wait for each other's line.
const patience = 10 * time.Second

// Ask asks the daemon at a place. The error matches ErrNoDaemon or ErrRefused.
func Ask(at Place, r Request) (Answer, error) {
	c, a, err := ask(at, r)
	if err == nil {
		c.Close()
	}
	return a, err
}

// Attachment keeps a daemon from ending for want of clients.
type Attachment struct {
	conn  net.Conn
	state Answer
}

// State returns the session as it was when the attachment was made.
func (a *Attachment) State() Answer { return a.state }

// Close gives the attachment up.
func (a *Attachment) Close() error { return a.conn.Close() }

// Gone waits for the daemon's end and says that it came; false after Close.
func (a *Attachment) Gone() bool {
	_, err := a.conn.Read(make([]byte, 1))
	return !errors.Is(err, net.ErrClosed)
}

// Attach announces clients to come, until Close or the end of the process.
func Attach(at Place) (*Attachment, error) {
	c, state, err := ask(at, Request{Command: "attach"})
	if err != nil {
		return nil, err
	}
	return &Attachment{c, state}, nil
}

func ask(at Place, r Request) (net.Conn, Answer, error) {
	var a Answer
	c, err := net.DialTimeout("unix", at.socket(), patience)
	if err != nil {
		return nil, a, fmt.Errorf("daemon: %s: %w: %w", at.name, ErrNoDaemon, err)
	}
	_ = c.SetDeadline(time.Now().Add(patience))
	if err = json.NewEncoder(c).Encode(r); err == nil {
		err = json.NewDecoder(c).Decode(&a)
	}
	if err != nil {
		c.Close()
		return nil, a, fmt.Errorf("daemon: %s: %w: %w", at.name, ErrNoDaemon, err)
	}
	if a.Error != "" {
		c.Close()
		return nil, a, fmt.Errorf("daemon: %s: %w: %s", at.name, ErrRefused, a.Error)
	}
	_ = c.SetDeadline(time.Time{})
	return c, a, nil
}

// serve answers until the listener is closed.
func (d *Daemon) serve(ctx context.Context, work *crash.Group) error {
	for {
		c, err := d.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("daemon: %w", err)
		}
		work.Go(func() error {
			defer c.Close()
			defer context.AfterFunc(ctx, func() { c.Close() })()
			d.answer(c)
			return nil
		})
	}
}

// answer answers one question; one who attaches is waited for.
func (d *Daemon) answer(c net.Conn) {
	var r Request
	_ = c.SetDeadline(time.Now().Add(patience))
	if json.NewDecoder(c).Decode(&r) != nil {
		return // who says nothing wants nothing
	}
	attaches := r.Command == "attach"
	if attaches {
		defer d.leave()
	}
	err := d.obey(r)
	a := d.list()
	if err != nil {
		a = Answer{Error: err.Error(), Session: d.place.name}
	}
	if json.NewEncoder(c).Encode(a) != nil || err != nil {
		return
	}
	switch {
	case attaches:
		_ = c.SetDeadline(time.Time{})
		_, _ = c.Read(make([]byte, 1)) // until it closes or dies
	case r.Command == "stop":
		d.stop()
	}
}

func (d *Daemon) leave() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.attached--
}

// obey does what is asked; the supervisor looks at once.
func (d *Daemon) obey(r Request) error {
	defer d.session.Ring()
	switch r.Command {
	case "list", "stop":
		return nil
	case "attach":
		d.mu.Lock()
		defer d.mu.Unlock()
		d.attached++
		if d.ending {
			return errors.New("the owner is shutting down")
		}
		return nil
	case "policy":
		if err := d.board.use(r.Policy, r.Slack); err != nil {
			return err
		}
		d.session.Announce(r.Policy)
		return nil
	}
	return d.change(r)
}

// change changes clients.
func (d *Daemon) change(r Request) error {
	clients := targets(d.session, r.Target)
	if len(clients) == 0 {
		return fmt.Errorf("no program %q in this session", r.Target)
	}
	for _, c := range clients {
		switch r.Command {
		case "priority":
			d.session.Rank(c.Slot, int32(r.Number), c.Weight)
		case "weight":
			d.session.Rank(c.Slot, c.Priority, uint32(r.Number))
		case "pause":
			d.board.pause(supervisor.ID(c))
		case "resume":
			d.board.resume(supervisor.ID(c))
		default:
			return fmt.Errorf("unknown command %q", r.Command)
		}
	}
	return nil
}

// targets are the living clients with a process id or a name.
func targets(s *session.Session, target string) []session.Client {
	var found []session.Client
	for _, c := range s.Clients() {
		if c.State != session.Left && (strconv.Itoa(c.PID()) == target || c.Name == target) {
			found = append(found, c)
		}
	}
	return found
}

// list is the state of the session.
func (d *Daemon) list() Answer {
	a := Answer{Session: d.place.name, Clients: []Entry{}}
	var paused []int
	a.Policy, paused = d.board.state()
	a.Slack, a.Age = d.board.slack(), time.Since(d.started).Seconds()
	for _, c := range d.session.Clients() {
		if c.State == session.Left {
			continue
		}
		e := Entry{
			PID: c.PID(), Name: c.Name, Priority: c.Priority, Weight: c.Weight, State: c.State.String(),
			Launches: c.Launches, Jobs: c.JobsEnded, Memory: c.MemoryBytes,
		}
		for _, id := range paused {
			e.Paused = e.Paused || id == supervisor.ID(c)
		}
		a.Clients = append(a.Clients, e)
	}
	return a
}
