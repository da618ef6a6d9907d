package httpapi

import (
	"cmp"
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
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
	middleware.WrapResponseWriter
	cause error
}

// observe names the request, counts it, and turns a panic into a problem.
func (s *Service) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := s.Now()
		id := s.name(r)
		w.Header().Set(requestID, id)
		o := &observed{WrapResponseWriter: middleware.NewWrapResponseWriter(w, r.ProtoMajor)}
		s.metrics.inFlight.Inc()
		defer func() {
			s.metrics.inFlight.Dec()
			p := recover()
			if p != nil && p != http.ErrAbortHandler {
				err := fmt.Errorf("panic: %v\n%s", p, debug.Stack())
				if o.Status() == 0 {
					refusal(err).write(o, r)
				}
				o.cause = err
			}
			route := ""
			if c := chi.RouteContext(r.Context()); c != nil {
				route = c.RoutePattern()
			}
			took := s.Now().Sub(start)
			s.metrics.requests.WithLabelValues(route, strconv.Itoa(o.Status())).Inc()
			s.metrics.seconds.WithLabelValues(route).Observe(took.Seconds())
			if s.Observe != nil {
				s.Observe(Access{id, r.Method, route, r.URL.Path, r.RemoteAddr, o.Status(), int64(o.BytesWritten()), took, o.cause})
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
	if s.Token == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		token := s.Token()
		if token != "" && (!strings.EqualFold(scheme, "Bearer") || subtle.ConstantTimeCompare([]byte(given), []byte(token)) != 1) {
			problem(http.StatusUnauthorized, "token", "this service needs a bearer token").write(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// parameters of each route's query, as the description of the API lists them.
var parameters = sync.OnceValue(func() map[string][]string {
	var api struct {
		Paths map[string]map[string]struct {
			Parameters []struct{ Name string }
		}
	}
	if err := json.Unmarshal(openAPI, &api); err != nil {
		panic(err) // it is embedded
	}
	all := map[string][]string{}
	for path, methods := range api.Paths {
		for _, m := range methods {
			for _, p := range m.Parameters {
				all[path] = append(all[path], p.Name)
			}
		}
	}
	return all
})

// understood refuses an encoding of the body that is not read, and a parameter that
// the route does not have: it would be ignored.
func understood(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if of := r.Header.Get("Content-Encoding"); of != "" && !strings.EqualFold(of, "identity") {
			problem(http.StatusUnsupportedMediaType, "media-type", fmt.Sprintf("Content-Encoding: %s: want an unencoded body", of)).write(w, r)
			return
		}
		if r.URL.RawQuery != "" {
			have := parameters()[r.URL.Path]
			for _, name := range slices.Sorted(maps.Keys(r.URL.Query())) {
				if !slices.Contains(have, name) {
					problem(http.StatusBadRequest, "parameter", fmt.Sprintf("?%s=: this route accepts %s", name, cmp.Or(strings.Join(have, ", "), "no parameters"))).write(w, r)
					return
				}
			}
		}
		next.ServeHTTP(w, r)
	})
}
