package httpapi

import (
	"crypto/subtle"
	"fmt"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
)

// requestID is the header that carries a request's name.
const requestID = "X-Request-Id"

// Access is a request that is over.
type Access struct {
	ID     string
	Method string
	Route  string // the pattern that matched, "" for none
	Path   string
	Remote string
	Status int
	Bytes  int64
	Took   time.Duration
	Err    error // why it was refused or failed; nil for what is only the client's fault
}

// observed is a response with what became of it.
type observed struct {
	http.ResponseWriter
	status int
	bytes  int64
	cause  error
}

// WriteHeader notes the status.
func (o *observed) WriteHeader(status int) {
	if o.status == 0 {
		o.status = status
	}
	o.ResponseWriter.WriteHeader(status)
}

// Write counts bytes.
func (o *observed) Write(b []byte) (int, error) {
	if o.status == 0 {
		o.status = http.StatusOK
	}
	n, err := o.ResponseWriter.Write(b)
	o.bytes += int64(n)
	return n, err
}

// Unwrap lets [http.ResponseController] reach the server's own.
func (o *observed) Unwrap() http.ResponseWriter { return o.ResponseWriter }

// observe names the request, counts it, and turns a panic into a problem.
func (s *Service) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := s.Now()
		id := s.name(r)
		w.Header().Set(requestID, id)
		o := &observed{ResponseWriter: w}
		s.metrics.inFlight.Inc()
		defer func() {
			s.metrics.inFlight.Dec()
			p := recover()
			if p != nil && p != http.ErrAbortHandler {
				err := fmt.Errorf("panic: %v\n%s", p, debug.Stack())
				if o.status == 0 {
					refusal(err).write(o, r)
				}
				o.cause = err
			}
			route := ""
			if c := chi.RouteContext(r.Context()); c != nil {
				route = c.RoutePattern()
			}
			took := s.Now().Sub(start)
			s.metrics.requests.WithLabelValues(route, strconv.Itoa(o.status)).Inc()
			s.metrics.seconds.WithLabelValues(route).Observe(took.Seconds())
			if s.Observe != nil {
				s.Observe(Access{id, r.Method, route, r.URL.Path, r.RemoteAddr, o.status, o.bytes, took, o.cause})
			}
			if p == http.ErrAbortHandler {
				panic(p)
			}
		}()
		next.ServeHTTP(o, r)
	})
}

// name is the client's name for a request, if it is a plain one, or a new one.
func (s *Service) name(r *http.Request) string {
	given := r.Header.Get(requestID)
	plain := func(c rune) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.'
	}
	if given != "" && len(given) <= 64 && strings.IndexFunc(given, func(c rune) bool { return !plain(c) }) < 0 {
		return given
	}
	return s.start + "-" + strconv.FormatUint(s.number.Add(1), 10)
}

// authorize asks for the token.
func (s *Service) authorize(next http.Handler) http.Handler {
	if s.Token == "" {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		if !strings.EqualFold(scheme, "Bearer") || subtle.ConstantTimeCompare([]byte(token), []byte(s.Token)) != 1 {
			problem(http.StatusUnauthorized, "token", "this service wants a bearer token").write(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}
