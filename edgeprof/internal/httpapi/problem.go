package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"github.com/foretime/foretime/edgeprof/internal/device"
	"github.com/foretime/foretime/edgeprof/internal/onnx"
	"github.com/foretime/foretime/edgeprof/internal/placement"
	"github.com/foretime/foretime/shared/access"
)

// Problem is a refusal (RFC 9457, application/problem+json).
type Problem struct {
	Type      string              `json:"type"`
	Title     string              `json:"title"`
	Status    int                 `json:"status"`
	Detail    string              `json:"detail,omitempty"`
	Instance  string              `json:"instance,omitempty"`
	RequestID string              `json:"request_id,omitempty"`
	Errors    []placement.Problem `json:"errors,omitempty"`

	cause error // for Observe
	wait  int   // seconds after which it is worth trying again; 0 for unknown
}

// Error describes the problem.
func (p *Problem) Error() string { return p.Detail }

// problem returns a refusal of a kind that clients recognise by its type.
func problem(status int, kind, detail string) *Problem {
	return &Problem{Type: "urn:foretime:edgeprof:" + kind, Title: http.StatusText(status), Status: status, Detail: detail}
}

// kinds of refusal by the error that causes them; the first that matches.
var kinds = []struct {
	err    error
	status int
	kind   string
	wait   int
}{
	{errTooLarge, http.StatusRequestEntityTooLarge, "too-large", 0},
	{errMedia, http.StatusUnsupportedMediaType, "media-type", 0},
	{errUnkept, http.StatusServiceUnavailable, "no-record", 0},
	{errBusy, http.StatusServiceUnavailable, "busy", 1},
	{errParameter, http.StatusUnprocessableEntity, "parameter", 0},
	{onnx.ErrDimension, http.StatusUnprocessableEntity, "parameter", 0},
	{onnx.ErrValue, http.StatusUnprocessableEntity, "parameter", 0},
	{onnx.ErrSize, http.StatusUnprocessableEntity, "parameter", 0},
	{errBroken, http.StatusBadRequest, "cut-short", 0},
	{placement.ErrSyntax, http.StatusBadRequest, "syntax", 0},
	{onnx.ErrSyntax, http.StatusBadRequest, "not-onnx", 0},
	{onnx.ErrLimit, http.StatusRequestEntityTooLarge, "graph-too-large", 0},
	{onnx.ErrGraph, http.StatusUnprocessableEntity, "broken-graph", 0},
	{placement.ErrNoDevice, http.StatusServiceUnavailable, "no-device", 5},
	{device.ErrUnreachable, http.StatusServiceUnavailable, "source-unreachable", 5},
	{device.ErrTimeout, http.StatusGatewayTimeout, "source-timeout", 5},
	{device.ErrAnswer, http.StatusBadGateway, "source-answer", 5},
	{context.DeadlineExceeded, http.StatusGatewayTimeout, "source-timeout", 5},
}

// refusal returns the problem that an error makes, or is.
func refusal(err error) *Problem {
	if p := (*Problem)(nil); errors.As(err, &p) {
		return p
	}
	p := problem(http.StatusInternalServerError, "internal", "internal error: see this request_id in the service's log")
	if source := (*sourceError)(nil); errors.As(err, &source) {
		p = problem(http.StatusServiceUnavailable, "source", err.Error())
		p.wait = 5
	}
	for _, k := range kinds {
		if errors.Is(err, k.err) {
			p = problem(k.status, k.kind, err.Error())
			p.wait = k.wait
			break
		}
	}
	p.cause = err
	return p
}

// answering returns a handler of a function whose error is a refusal, and whose answer,
// where it has not written one, is sent as JSON.
func answering(f func(w http.ResponseWriter, r *http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		answer, err := f(w, r)
		switch {
		case err != nil:
			refusal(err).write(w, r)
		case answer != nil:
			send(w, answer)
		}
	}
}

// sourceError is a failure to list devices.
type sourceError struct{ err error }

func (e *sourceError) Error() string { return "devices: " + e.err.Error() }
func (e *sourceError) Unwrap() error { return e.err }

// write sends the problem.
func (p *Problem) write(w http.ResponseWriter, r *http.Request) {
	p.Instance, p.RequestID = r.URL.Path, w.Header().Get(access.IDHeader)
	access.SetError(w, p.cause)
	h := w.Header()
	h.Set("Content-Type", "application/problem+json")
	h.Set("Cache-Control", "no-store")
	if p.wait > 0 {
		h.Set("Retry-After", strconv.Itoa(p.wait))
	}
	if p.Status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", `Bearer realm="edgeprof"`)
	}
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p) // a client that is gone
}
