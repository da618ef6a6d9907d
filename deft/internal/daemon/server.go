package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/foretime/foretime/deft/internal/policy"
	"github.com/foretime/foretime/deft/internal/session"
	"github.com/foretime/foretime/deft/internal/supervisor"
	"github.com/foretime/foretime/shared/crash"
)

// PolicyChange is the body of PUT /policy.
type PolicyChange struct {
	Policy string  `json:"policy"`
	Slack  float64 `json:"slack,omitempty"` // of the policy; 0: unchanged
}

// ClientChange is the body of PATCH /clients/CLIENT. A field that is nil changes nothing.
type ClientChange struct {
	Priority *int32  `json:"priority,omitempty"`
	Weight   *uint32 `json:"weight,omitempty"` // at least 1
	Paused   *bool   `json:"paused,omitempty"`
}

// headerTimeout bounds the wait for the header of a request or a response.
const headerTimeout = 10 * time.Second

// idleTimeout bounds the wait for the next request of a connection.
const idleTimeout = 5 * time.Minute

// fullStatus is the status of a response in place of [ErrFull].
const fullStatus = http.StatusInsufficientStorage

// errShutdown is returned to a program that would join while the owner shuts down.
var errShutdown = errors.New("the owner is shutting down")

// handler returns the service on the session's socket: its state, changes of policy and
// clients, and the connections of programs to come. The socket is in a private
// directory, so every caller is the user.
func (d *Daemon) handler(ctx context.Context) http.Handler {
	m := http.NewServeMux()
	m.HandleFunc("GET /session", func(w http.ResponseWriter, _ *http.Request) { d.answer(w, nil) })
	m.HandleFunc("PUT /policy", func(w http.ResponseWriter, r *http.Request) {
		d.answer(w, applyBody(r, d.setPolicy))
	})
	m.HandleFunc("PATCH /clients/{client...}", func(w http.ResponseWriter, r *http.Request) {
		d.answer(w, applyBody(r, func(c ClientChange) error { return d.setClients(r.PathValue("client"), c) }))
	})
	m.HandleFunc("POST /attachments", func(w http.ResponseWriter, r *http.Request) { d.attach(ctx, w, r) })
	m.HandleFunc("POST /stop", func(w http.ResponseWriter, _ *http.Request) {
		d.answer(w, nil)
		d.stop()
	})
	m.Handle("GET /metrics", d.Metrics())
	return m
}

// applyBody decodes the body of a request and applies it. An unknown field is an error, or a
// mistyped change would change nothing without a word.
func applyBody[T any](r *http.Request, apply func(T) error) error {
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	var change T
	switch err := d.Decode(&change); {
	case errors.Is(err, io.EOF):
		return errors.New("want a JSON object, the body is empty")
	case err != nil:
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("want one JSON object: more text follows it")
	}
	return apply(change)
}

// answer writes the state of the session, or why a request is refused.
func (d *Daemon) answer(w http.ResponseWriter, err error) {
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(d.status()) // the client may have gone
}

// attach keeps the owner from ending until the caller closes the connection or dies.
func (d *Daemon) attach(ctx context.Context, w http.ResponseWriter, r *http.Request) {
	if len(d.session.Clients()) >= session.Slots {
		http.Error(w, fmt.Sprintf("%d programs are in it, the most it holds; name another with --session, or end one (deft ctl list)", session.Slots), fullStatus)
		return
	}
	if !d.addAttachment() {
		http.Error(w, errShutdown.Error(), http.StatusServiceUnavailable)
		return
	}
	defer d.removeAttachment()
	d.answer(w, nil)
	if http.NewResponseController(w).Flush() != nil {
		return
	}
	select {
	case <-r.Context().Done():
	case <-ctx.Done():
	}
}

// addAttachment counts a program that will join; false if the owner is shutting down.
func (d *Daemon) addAttachment() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ending {
		return false
	}
	d.attachments++
	return true
}

func (d *Daemon) removeAttachment() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.attachments--
}

// setPolicy changes the policy; the supervisor applies it at once.
func (d *Daemon) setPolicy(c PolicyChange) error {
	if c.Slack != 0 && !(c.Slack > 1 && c.Slack <= policy.MaxSlack) {
		return fmt.Errorf("slack %v: want a number above 1, at most %v", c.Slack, policy.MaxSlack)
	}
	if err := d.control.setPolicy(c.Policy, c.Slack); err != nil {
		return err
	}
	name, slack, _ := d.control.state()
	d.session.Announce(name, slack)
	d.session.Ring()
	return nil
}

// setClients changes the living clients with a process id or a name.
func (d *Daemon) setClients(target string, change ClientChange) error {
	if change.Weight != nil && *change.Weight < 1 {
		return fmt.Errorf("weight %d: want 1 or more", *change.Weight)
	}
	found := false
	for _, c := range d.session.Clients() {
		if c.State == session.Left || strconv.Itoa(c.PID()) != target && c.Name != target {
			continue
		}
		found = true
		priority, weight := c.Priority, c.Weight
		if change.Priority != nil {
			priority = *change.Priority
		}
		if change.Weight != nil {
			weight = *change.Weight
		}
		d.session.SetTerms(c.Slot, priority, weight)
		if change.Paused != nil {
			d.control.pause(supervisor.ID(c), *change.Paused)
			d.session.Pause(c, *change.Paused)
		}
	}
	if !found {
		return fmt.Errorf("no program %q in this session", target)
	}
	d.session.Ring()
	return nil
}

// serveOn answers on a listener until ctx is done.
func serveOn(ctx context.Context, work *crash.Group, l net.Listener, server *http.Server) {
	server.ReadHeaderTimeout = headerTimeout
	server.IdleTimeout = idleTimeout
	work.Go(func() error {
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("daemon: %w", err)
		}
		return nil
	})
	work.Go(func() error {
		<-ctx.Done()
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		if server.Shutdown(late) != nil { // a request that hangs
			return server.Close()
		}
		return nil
	})
}
