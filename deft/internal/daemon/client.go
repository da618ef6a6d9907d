package daemon

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/foretime/foretime/deft/internal/session"
)

// Returned by requests to a daemon.
var (
	// ErrNoDaemon is returned when no daemon runs.
	ErrNoDaemon = errors.New("the session has no running owner")
	// ErrSilent is returned when a daemon does not answer in time.
	ErrSilent = errors.New("the session's owner does not answer")
	// ErrRefused is returned with the daemon's own words.
	ErrRefused = errors.New("the owner rejected the request")
	// ErrFull is returned to a program for which the session has no room.
	ErrFull = errors.New("the session is full")
)

// Status returns the state of the session. The error of this and the other requests
// matches ErrNoDaemon, ErrSilent or ErrRefused.
func (p Place) Status() (Status, error) { return p.request(http.MethodGet, "/session", nil) }

// SetPolicy changes the policy of the session.
func (p Place) SetPolicy(c PolicyChange) (Status, error) {
	return p.request(http.MethodPut, "/policy", c)
}

// SetClients changes the clients with a process id or a name, which may be empty or "..".
func (p Place) SetClients(target string, c ClientChange) (Status, error) {
	return p.request(http.MethodPatch, "/clients/"+strings.ReplaceAll(url.PathEscape(target), ".", "%2E"), c)
}

// Stop ends the owner.
func (p Place) Stop() error {
	_, err := p.request(http.MethodPost, "/stop", nil)
	return err
}

// request sends a request and returns the state of the session after it.
func (p Place) request(method, path string, body any) (Status, error) {
	ctx, cancel := context.WithTimeout(context.Background(), headerTimeout)
	defer cancel()
	response, s, err := p.send(ctx, method, path, body)
	if err == nil {
		err = response.Close()
	}
	return s, err
}

// send sends a request and reads the state at the beginning of the response.
func (p Place) send(ctx context.Context, method, path string, body any) (io.ReadCloser, Status, error) {
	var s Status
	var text bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&text).Encode(body); err != nil {
			return nil, s, fmt.Errorf("daemon: %w", err)
		}
	}
	r, err := http.NewRequestWithContext(ctx, method, "http://session"+path, &text)
	if err != nil {
		return nil, s, fmt.Errorf("daemon: %w", err)
	}
	response, err := p.client().Do(r)
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err // the URL says nothing to a user
	}
	if err != nil && ctx.Err() != nil {
		return nil, s, fmt.Errorf("daemon: %s: %w for %v%s", p.name, ErrSilent, headerTimeout, p.endOwnerHint())
	}
	if err != nil {
		return nil, s, fmt.Errorf("daemon: %s: %w: %w", p.name, ErrNoDaemon, err)
	}
	if response.StatusCode != http.StatusOK {
		cause := ErrRefused
		if response.StatusCode == fullStatus {
			cause = ErrFull
		}
		why, _ := io.ReadAll(io.LimitReader(response.Body, 4096)) // what arrived is shown
		return nil, s, errors.Join(fmt.Errorf("daemon: %s: %w: %s", p.name, cause, strings.TrimSpace(string(why))), response.Body.Close())
	}
	if err := json.NewDecoder(response.Body).Decode(&s); err != nil {
		return nil, s, errors.Join(fmt.Errorf("daemon: %s: %w: %w", p.name, ErrNoDaemon, err), response.Body.Close())
	}
	return response.Body, s, nil
}

// endOwnerHint returns the command that ends an owner that hangs; "" if the session cannot be read.
func (p Place) endOwnerHint() string {
	s, err := session.Open(p.Session())
	if err != nil {
		return ""
	}
	defer s.Close()
	return fmt.Sprintf(": it is stopped or hangs; kill -KILL %d ends it, and the next program starts another", s.OwnerPID())
}

// client returns an HTTP client whose every connection is to the session's socket.
func (p Place) client() *http.Client {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", p.socket())
	}
	return &http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}
}

// Attachment keeps a daemon from ending for want of clients.
type Attachment struct {
	response io.ReadCloser
	cancel   context.CancelFunc
	status   Status
	closed   atomic.Bool
}

// Attach announces clients to come, until Close or the end of the process.
func (p Place) Attach() (*Attachment, error) {
	ctx, cancel := context.WithCancel(context.Background())
	late := time.AfterFunc(headerTimeout, cancel)
	response, s, err := p.send(ctx, http.MethodPost, "/attachments", nil)
	if err == nil && !late.Stop() {
		err = errors.Join(fmt.Errorf("daemon: %s: %w", p.name, ErrSilent), response.Close())
	}
	if err != nil {
		cancel()
		return nil, err
	}
	return &Attachment{response: response, cancel: cancel, status: s}, nil
}

// Status returns the state of the session when the attachment was made.
func (a *Attachment) Status() Status { return a.status }

// Close ends the attachment.
func (a *Attachment) Close() error {
	a.closed.Store(true)
	a.cancel()
	return a.response.Close()
}

// Gone waits for the end of the daemon and returns true, or false after Close.
func (a *Attachment) Gone() bool {
	_, _ = io.Copy(io.Discard, a.response) // ends with the connection
	return !a.closed.Load()
}
